"""What the notification bot says of topics that were moved or resolved."""

from tertulia.kernel import languages
from tertulia.kernel.languages import Counted, reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    resolved: str
    unresolved: str
    topic_from_here: str
    topic_to_here: str
    from_here: Counted
    to_here: Counted
    private_channel: str


words_of = reader_of(__name__, Words)
