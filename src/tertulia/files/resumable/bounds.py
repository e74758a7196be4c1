"""How many uploads somebody may have begun."""

from tertulia.kernel.bounds import Bound

UNFINISHED = Bound(
    name="unfinished_uploads",
    what="uploads that are not finished",
    of="person",
    limit=50,
    tables=("resumable_upload",),
    refusal="You have too many unfinished uploads: finish or end some of them.",
    counted="resumable_upload where owner_id = $1",
)

ALL = (UNFINISHED,)
