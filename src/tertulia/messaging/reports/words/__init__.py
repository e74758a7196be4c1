"""What moderators read of a report."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of
from tertulia.messaging.reports.rules import Kind


class Words(languages.Words, frozen=True):
    """In one language."""

    topic: str
    reported: str
    reported_direct: str
    reason: str
    kinds: dict[Kind, str]
    message: str
    cut: str


words_of = reader_of(__name__, Words)
