"""What can go wrong with an engine. The text of each tells the operator what to do next."""


class EngineMissing(Exception):
    """No usable program was found."""


class EngineFailed(Exception):
    """The program is there but did not start, or cannot work with its folder."""
