"""What mails about second factors and passkeys say."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    subject: str
    turned_on: str
    turned_off: str
    turned_off_but_passkey: str
    all_removed: str
    passkey_added: str
    first_passkey_added: str
    passkey_removed: str
    last_passkey_removed: str


words_of = reader_of(__name__, Words)
