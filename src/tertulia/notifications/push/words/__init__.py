"""What pushes say besides the messages themselves."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    reply: str
    mark_read: str
    failed: str
    """Of a reply that could not be sent: the text is shown below it."""
    test_title: str
    test_body: str


words_of = reader_of(__name__, Words)
