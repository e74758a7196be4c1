"""What the owner of a bot hears whose service did not answer."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    failed: str
    failed_in: str


words_of = reader_of(__name__, Words)
