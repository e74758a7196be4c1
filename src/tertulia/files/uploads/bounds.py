"""How much may be uploaded is said in bytes."""

from tertulia.kernel.bounds import Otherwise

FILES = Otherwise(
    tables=("attachment", "attachment_link", "held_share", "upload_space"),
    because="the settings `upload_quota_mib` and `upload_share_percent`; files that no message links are deleted after a while",
)

ALL = (FILES,)
