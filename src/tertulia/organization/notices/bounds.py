"""How much one person's acts have the notification bot say."""

from tertulia.kernel.bounds import Bound

TOLD = Bound(
    name="notices",
    what="notices to others of what somebody and their bots do that wait, about",
    of="person",
    limit=1000,
    tables=("notice",),
    refusal="",
    instead="those whom it concerns are not told of it one by one; it is done all the same",
)
"""Each is a message. Whoever puts a hundred people into groups and takes them out again has tens of thousands said."""
