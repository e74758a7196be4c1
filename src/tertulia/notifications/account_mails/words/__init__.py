"""What mails about accounts say: a welcome and a farewell."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    welcome: str
    welcome_text: tuple[str, ...]
    open_home: str
    why_welcome: str
    settings: str
    farewell: str
    farewell_text: str
    said: str
    why_farewell: str


words_of = reader_of(__name__, Words)
