"""What digests say."""

from tertulia.kernel import languages
from tertulia.kernel.languages import Counted, reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    title: str
    messages: Counted
    people: Counted
    hidden: Counted
    why: str
    unsubscribe: str


words_of = reader_of(__name__, Words)
