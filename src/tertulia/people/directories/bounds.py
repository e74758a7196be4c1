"""What comparing with a directory leaves behind."""

from tertulia.kernel.bounds import Otherwise

SYNCS = Otherwise(
    tables=("directory_sync",),
    because="one for an organization whose people are in a directory",
)

ALL = (SYNCS,)
