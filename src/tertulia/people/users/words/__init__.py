"""What the owner of a bot hears: that somebody may act and read as the bot who did not before."""

from typing import Literal

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of

By = Literal["owner", "itself", "operator"]


class Words(languages.Words, frozen=True):
    """In one language."""

    new_key: dict[By, str]
    given_away: str
    given: str
    sends_to: str
    sends_nowhere: str


words_of = reader_of(__name__, Words)
