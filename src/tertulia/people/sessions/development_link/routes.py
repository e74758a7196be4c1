"""The link that `tertulia dev` prints: it logs a browser in once, without a password. Nowhere but in development."""

from tertulia.kernel.call import Call
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import Reply, get
from tertulia.kernel.errors import not_found
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.page import show_text
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.routes import get_realm_of
from tertulia.people.factors.actions import CodeNeeded, clear
from tertulia.people.logins.login import somebody
from tertulia.people.logins.queries import get_account
from tertulia.people.sessions import queries
from tertulia.people.sessions.actions import begin_session


@get("/accounts/login/link/{ticket}", prefix="", listed=False)
async def log_in_by_link(call: Call, tx: Transaction, settings: Settings, *, ticket: str) -> Reply:
    """Log in with a ticket, which is gone afterwards."""
    if not settings.development:
        raise not_found()
    user_id = await queries.take_ticket(tx, digest_of_key(ticket))
    if user_id is None:
        text = "This link was used before, or it is too old. Log in with the password that `tertulia dev` shows."
        return show_text("The link is no longer valid", text, 404)
    account = await get_account(tx, user_id)
    try:
        cleared = await clear(tx, await get_realm_of(call, tx), somebody(account))
    except CodeNeeded as needed:
        return show_text("The link is not enough", needed.msg, needed.status)
    await begin_session(tx, call, settings, account, cleared, by_password=False)
    return Reply(b"", 302, {"Location": "/", "Referrer-Policy": "no-referrer"}, "text/plain")
