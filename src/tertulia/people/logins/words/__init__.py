"""What is said about passwords and addresses: mails, and the pages behind their links."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    reset_subject: str
    reset: str
    new_address_subject: str
    new_address: str
    old_address: str
    address_changed_subject: str
    address_changed: str
    choose_password: str
    your_address: str
    new_password: str
    set_password: str
    password_set: str
    password_set_text: str
    link_spent: str
    link_spent_text: str
    by_mail: str
    by_operator: str
    confirm_address: str
    agree: str
    address_set: str
    address_set_text: str
    other_address: str
    other_address_text: str
    address_kept: str
    log_in: str


words_of = reader_of(__name__, Words)
