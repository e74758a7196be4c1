"""What somebody hears whom another person put into a group, or took out of it."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    added: str
    removed: str


words_of = reader_of(__name__, Words)
