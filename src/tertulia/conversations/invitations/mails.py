"""The mails of invitations and of signing up: plain text, one link each."""

from tertulia.kernel.db import Transaction
from tertulia.kernel.mail import one_line, queue_mail
from tertulia.organization.realms.queries import Realm

_INVITED = """Hello,

{inviter} invites you to {realm}.
Make your account here:

    {url}

If you do not know what this is about, ignore this mail.
"""
_CONFIRM = """Hello,

somebody, hopefully you, wants to join {realm} with this address.
Make your account here, within a day:

    {url}

If it was not you, ignore this mail: nothing has happened.
"""
_KNOWN = """Hello,

somebody, hopefully you, wants to join {realm} with this address.
But this address has an account there already. Log in here:

    {url}

Whoever has forgotten the password gets another one there. If it was not you, ignore this mail.
"""


def join_url(base: str, key: str) -> str:
    """Where an invitation is accepted."""
    return f"{base}/join/{key}"


async def send_invitation(tx: Transaction, realm: Realm, inviter: str, email: str, url: str) -> None:
    """Invite somebody."""
    body = _INVITED.format(inviter=one_line(inviter), realm=one_line(realm.name), url=url)
    await queue_mail(tx, email, f"{one_line(inviter)} invites you to {one_line(realm.name)}", body)


async def send_key(tx: Transaction, realm: Realm, email: str, url: str) -> None:
    """Let somebody show that an address is theirs."""
    body = _CONFIRM.format(realm=one_line(realm.name), url=url)
    await queue_mail(tx, email, f"Join {one_line(realm.name)}", body)


async def send_known(tx: Transaction, realm: Realm, email: str, url: str) -> None:
    """Whoever asked learns nothing; the owner of the address learns that they have an account."""
    body = _KNOWN.format(realm=one_line(realm.name), url=url)
    await queue_mail(tx, email, f"Your account at {one_line(realm.name)}", body)
