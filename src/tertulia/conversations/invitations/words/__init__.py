"""What is said of joining: mails, the pages behind their links, and what the inviter hears."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    invited_subject: str
    invited: str
    confirm_subject: str
    confirm: str
    known_subject: str
    known: str
    join: str
    invited_by: str
    welcome: str
    email: str
    your_name: str
    password: str
    create_account: str
    tell_address: str
    send_link: str
    join_with: str
    elsewhere: str
    cannot_join: str
    no_mail_sent: str
    look_into_mail: str
    look_into_mail_text: str
    no_account: str
    try_again: str
    accepted: str


words_of = reader_of(__name__, Words)
