"""What goes wrong with backups in an expected way."""


class BackupFailed(Exception):
    """The text says what is wrong and what to do."""


class Damaged(BackupFailed):
    """Something in the archive is not what was written."""
