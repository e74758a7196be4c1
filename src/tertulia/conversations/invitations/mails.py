"""The mails of invitations and of signing up: plain text, one link each. Whoever gets them is a stranger so far: they are
in the language of the organization.
"""

from tertulia.conversations.invitations.words import words_of
from tertulia.kernel.db import Transaction
from tertulia.kernel.mail import Letter, one_line, queue_mail
from tertulia.organization.realms.queries import Realm


def join_url(base: str, key: str) -> str:
    """Where an invitation is accepted."""
    return f"{base}/join/{key}"


async def send_invitation(tx: Transaction, realm: Realm, inviter: str, email: str, url: str) -> None:
    """Invite somebody. Hundreds may be invited at once: whoever waits for a new password comes before them all."""
    words = words_of(realm.settings.default_language)
    names = {"inviter": one_line(inviter), "realm": one_line(realm.name)}
    await queue_mail(tx, email, words.invited_subject.format(**names), words.invited.format(url=url, **names), Letter())


async def send_key(tx: Transaction, realm: Realm, email: str, url: str) -> None:
    """Let somebody show that an address is theirs."""
    words, name = words_of(realm.settings.default_language), one_line(realm.name)
    await queue_mail(tx, email, words.confirm_subject.format(realm=name), words.confirm.format(realm=name, url=url))


async def send_known(tx: Transaction, realm: Realm, email: str, url: str) -> None:
    """Whoever asked learns nothing; the owner of the address learns that they have an account."""
    words, name = words_of(realm.settings.default_language), one_line(realm.name)
    await queue_mail(tx, email, words.known_subject.format(realm=name), words.known.format(realm=name, url=url))
