"""What mails about accounts bring to the server: the features that make and deactivate accounts ask for them."""

from tertulia.events.feature import Feature
from tertulia.kernel.db import Transaction
from tertulia.kernel.mail import mails_leave, queue_mail
from tertulia.kernel.services import Service
from tertulia.kernel.settings import Settings
from tertulia.notifications.account_mails.letters import farewell_mail, welcome_mail
from tertulia.notifications.missed_mail.model import Recipient
from tertulia.notifications.missed_mail.queries import recipients
from tertulia.people.users.account_mails import AccountMails


def account_mails(settings: Settings) -> AccountMails:
    """Mails that are written by the transaction that changes the account. Where none leave, none are written."""

    async def recipient_of(tx: Transaction, user_id: int) -> Recipient | None:
        return (await recipients(tx, [user_id], settings)).get(user_id) if mails_leave(settings) else None

    async def welcome(tx: Transaction, user_id: int) -> None:
        recipient = await recipient_of(tx, user_id)
        if recipient is not None and recipient.realm.settings.send_welcome_emails:
            await queue_mail(tx, recipient.email, *welcome_mail(recipient))

    async def farewell(tx: Transaction, user_id: int, comment: str) -> None:
        recipient = await recipient_of(tx, user_id)
        if recipient is not None:
            await queue_mail(tx, recipient.email, *farewell_mail(recipient, comment))

    return AccountMails(welcome=welcome, farewell=farewell)


FEATURE = Feature(
    name="account_mails",
    services=(Service(AccountMails, lambda services: account_mails(services[Settings])),),
)
