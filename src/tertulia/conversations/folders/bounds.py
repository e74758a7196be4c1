"""How many folders an organization may have."""

from tertulia.kernel.bounds import Bound

FOLDERS = Bound(
    name="channel_folders",
    what="channel folders, archived ones among them",
    of="organization",
    limit=500,
    tables=("channel_folder",),
    refusal="The organization has {limit} channel folders already.",
    counted="channel_folder where realm_id = $1",
)

ALL = (FOLDERS,)
