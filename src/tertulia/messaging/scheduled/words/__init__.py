"""What somebody hears of a scheduled message that was not sent."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    failed: str
    find_it: str
    late: str


words_of = reader_of(__name__, Words)
