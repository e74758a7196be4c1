"""How much is kept of pages is said by what is asked for them."""

from tertulia.kernel.bounds import Otherwise

PREVIEWS = Otherwise(
    tables=("link_preview", "link_preview_wait", "link_preview_removed"),
    because="3 of a message, 1,000 that wait in an organization, 100 of them of one person; what was found out is forgotten "
    "after a day; what an author removed was shown below that text, and a message has so many edits",
)

ALL = (PREVIEWS,)
