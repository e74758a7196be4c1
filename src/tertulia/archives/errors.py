"""What an operator is told in one sentence."""


class ArchiveFailed(Exception):
    """The text says what is wrong and what to do."""


class ServerBusy(ArchiveFailed):
    """Nothing is wrong: something else has to end first."""
