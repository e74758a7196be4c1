"""How much is kept of pictures from elsewhere is said in bytes."""

from tertulia.kernel.bounds import Otherwise

PICTURES = Otherwise(
    tables=("remote_picture", "remote_picture_link", "remote_picture_space"),
    because="24 of a message, 1,000 that wait in an organization, about 100 of them of one person with their bots, and the "
    "setting `remote_pictures_mib`; what no message shows is deleted after a day",
)

ALL = (PICTURES,)
