"""What is said of logins: the mail about a browser that is new, and the pages on the way to a provider and back."""

from tertulia.kernel import languages
from tertulia.kernel.languages import reader_of


class Words(languages.Words, frozen=True):
    """In one language."""

    subject: str
    body: str
    unknown: str
    led_here: str
    led_here_text: str
    log_in_with: str
    one_more_step: str
    code_text: str
    code: str
    go_on: str
    not_logged_in: str
    try_again: str
    begin_again: str
    provider_failed: str
    provider_away: str
    not_asked: str


words_of = reader_of(__name__, Words)
