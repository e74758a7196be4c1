"""What mails about missed messages say, and the pages that end them."""

from tertulia.kernel import languages
from tertulia.kernel.languages import Counted, reader_of
from tertulia.notifications.concerns.model import Trigger
from tertulia.notifications.missed_mail.links import Kind


class Words(languages.Words, frozen=True):
    """In one language."""

    sender: str
    new_messages: str
    """The subject and title of a mail that shows nothing."""
    resolved: str
    direct: str
    group: str
    and_others: Counted
    before: str
    more: Counted
    more_conversations: Counted
    open_message: str
    open_home: str
    hidden_by_organization: str
    hidden_by_you: str
    reasons: dict[Trigger, str]
    no_replies: str
    replies: str
    answer_above: str
    """In the line above which an answer is written."""
    settings: str
    unsubscribe: str
    stop_title: dict[Kind, str]
    stop_question: dict[Kind, str]
    stop_button: str
    stopped_title: str
    stopped: dict[Kind, str]


words_of = reader_of(__name__, Words)
