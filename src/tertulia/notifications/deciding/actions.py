"""Writing down which messages may concern somebody, in the transaction that sends them."""

from collections.abc import Sequence

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.mail import mails_leave
from tertulia.kernel.settings import Settings
from tertulia.messaging.editing.model import FormerMentions
from tertulia.messaging.sending.model import Outgoing
from tertulia.notifications.deciding import queries
from tertulia.organization.realms.settings import notes_of


class DueRecorder:
    """A side effect of sending: the worker finds these messages and decides whom they concern.

    Where no mail is sent, a realm in which nobody ever subscribed a browser costs its senders nothing.
    """

    def __init__(self, settings: Settings) -> None:
        self._mails_leave = mails_leave(settings)

    async def __call__(self, tx: Transaction, sent: Sequence[tuple[int, Outgoing]]) -> None:
        """Write these messages down."""
        due = [message_id for message_id, message in sent if self._may_tell(message)]
        if due:
            await queries.insert_due(tx, due)

    def _may_tell(self, message: Outgoing) -> bool:
        return not message.is_notice and _may_tell(message.sender, mails=self._mails_leave)


class EditRecorder:
    """A side effect of editing: the worker decides about those whom the text mentions besides."""

    def __init__(self, settings: Settings) -> None:
        self._mails_leave = mails_leave(settings)

    async def __call__(self, tx: Transaction, caller: Caller, former: FormerMentions) -> None:
        """Write this edit down."""
        if _may_tell(caller, mails=self._mails_leave):
            await queries.insert_edited(tx, former)


def _may_tell(person: Caller, *, mails: bool) -> bool:
    """Whether anybody in their realm can be told of anything."""
    return mails or notes_of(person).has_pushes
