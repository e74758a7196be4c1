"""What somebody hears of an export that they asked for."""

from typing import Literal

from tertulia.kernel import languages
from tertulia.kernel.languages import Counted, reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    ready: dict[Literal["mine", "organization"], str]
    failed: dict[Literal["mine", "organization"], str]
    messages: Counted


words_of = reader_of(__name__, Words)
