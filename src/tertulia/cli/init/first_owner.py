"""The organization at the host itself, and the link by which its owner begins."""

from typing import TYPE_CHECKING

from tertulia.cli.accounts import Newcomer, RoleName, begin_realm, begin_user, link_to_begin, transact
from tertulia.cli.errors import CommandFailed
from tertulia.cli.init.saying import say

if TYPE_CHECKING:
    from tertulia.kernel.db import Transaction
    from tertulia.kernel.settings import Settings

CHANNEL = "general"


def wait_for_owner(settings: "Settings", name: str) -> str | None:
    """The link by which whoever opens it begins the organization; None if somebody is there already."""
    from tertulia.organization.realms.actions import create_realm
    from tertulia.organization.realms.queries import find_realm, has_people

    async def work(tx: "Transaction") -> str | None:
        realm = await find_realm(tx, "")
        if realm is None:
            realm_id = await create_realm(tx, "", name)
            say(f"made the organization {name}, which waits for its owner")
        elif await has_people(tx, realm.id):
            return None
        else:
            realm_id = realm.id
        return await link_to_begin(tx, settings, realm_id, "")

    return transact(settings, work)


def find_or_make_owner(settings: "Settings", email: str, name: str) -> str | None:
    """The link; None if the owner has a password already, which a link would end."""
    from tertulia.organization.realms.queries import find_realm
    from tertulia.people.logins.queries import find_account
    from tertulia.people.logins.reset import link_by_hand
    from tertulia.people.users.addresses import email_key_of
    from tertulia.people.users.passwords import MUST_RESET

    async def work(tx: "Transaction") -> str | None:
        realm = await find_realm(tx, "")
        if realm is None:
            realm_id = await begin_realm(tx, "", name, CHANNEL)
            await begin_user(tx, realm_id, Newcomer(email, email.partition("@")[0], RoleName.OWNER), None)
            say(f"made the organization {name}, with a channel {CHANNEL} and its owner {email}")
        else:
            realm_id = realm.id
        account = await find_account(tx, realm_id, email_key_of(email))
        if account is None:
            raise CommandFailed(
                f"There is an organization already, and nobody in it has the address {email}."
                f" `tertulia user create {email} --name NAME --role owner` makes one more owner."
            )
        if account.password_hash not in (None, MUST_RESET):
            return None
        return await link_by_hand(tx, realm_id, email, f"{settings.url_of('')}/accounts/password/reset", keep_keys=True)

    return transact(settings, work)
