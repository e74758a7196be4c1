"""What is said to people while a server is set up: on standard error, so that the link is alone on standard output."""

import sys


def say(text: str) -> None:
    """One line."""
    print(text, file=sys.stderr, flush=True)
