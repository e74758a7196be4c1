"""What the notification bot says to remind somebody of a message."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    asked: str
    asked_in: str
    gone: str
    note: str
    message: str


words_of = reader_of(__name__, Words)
