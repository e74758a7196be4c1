"""What owners hear of SCIM tokens."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    made: str
    revoked: str
    operator: str


words_of = reader_of(__name__, Words)
