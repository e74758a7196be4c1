"""Pure decisions about users: names, and who may do what to whom."""

import re
import unicodedata
from collections.abc import Collection

from tertulia.kernel.auth import Caller, DirectoryClient, Role
from tertulia.kernel.errors import Refusal, Taken
from tertulia.kernel.mail_addresses import is_address
from tertulia.kernel.text import bad_character, look_of, normalized
from tertulia.organization.notices.model import BOT_NAME
from tertulia.organization.realms.limits import MAX_FULL_NAME_LENGTH
from tertulia.people.users.model import Account

_FORBIDDEN = frozenset('*`\\>"@')
_UNPRINTABLE = ("Cn", "Zl", "Zp")
_OUR_LOOKS = frozenset({look_of(BOT_NAME)})
_MENTION_ENDING = re.compile(r"\|[0-9]+$")


def clean_full_name(name: str) -> str:
    """A name as it is stored; refuses what would break a mention of it, or deceive its readers."""
    name = name.strip()
    if not name:
        raise Refusal("A name can't be empty.")
    if len(name) > MAX_FULL_NAME_LENGTH:
        raise Refusal(f"A name is too long (limit: {MAX_FULL_NAME_LENGTH} characters).")
    is_unprintable = bad_character(name) is not None
    if is_unprintable or any(char in _FORBIDDEN or unicodedata.category(char) in _UNPRINTABLE for char in name):
        raise Refusal('Invalid characters in the name: * ` \\ > " @ and unprintable ones are not allowed.')
    if _MENTION_ENDING.search(name):
        raise Refusal("A name can't end in | and digits.")
    if look_of(name) in _OUR_LOOKS:
        raise Refusal(f"Nobody but the bot of this server is called {BOT_NAME}, or looks so.")
    return name


def name_key_of(name: str) -> str:
    """What makes two names the same, where names are unique."""
    return normalized("NFKC", name).lower()


def is_email(text: str) -> bool:
    """Whether somebody may have this address."""
    return is_address(text)


def counted_role(given: int, owner_role: int | None) -> int:
    """What a bot counts as: the lower of the role it was given and its owner's; a member at most if it has no owner.

    The same rule as the database's own (`bot_counts_as`), which keeps `account.role`.
    """
    return max(given, Role.MEMBER if owner_role is None else owner_role)


def check_may_edit(actor: Account, target: Account, owner: Account | None = None) -> None:
    """Refuse changes of others' accounts: administrators may, and the owners of bots. `owner`: of the target, if a bot.

    Administrators keep their hands off a bot whose own role, or whose owner's, is above theirs.
    """
    if target.is_bot and target.bot_owner_id == actor.id:
        return  # a bot counts as its owner at most: there is nothing in it that they do not have
    if actor.role > Role.ADMINISTRATOR or (target.is_bot and actor.role > _highest_role(target, owner)):
        raise Refusal("Insufficient permission")


def _highest_role(bot: Account, owner: Account | None) -> int:
    return bot.given_role if owner is None else min(bot.given_role, owner.role)


def check_role_change(
    actor: Account, target: Account, role: int, held: Collection[Account], owner: Account | None = None
) -> None:
    """Refuse a change of role that the actor may not make, or that leaves the organization without an owner.

    `held`: the owners of the organization, among others. `owner`: of the target, if it is a bot.
    """
    if Role.OWNER in (role, target.given_role):
        check_is_owner(actor)
    elif actor.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    if target.is_bot and role != counted_role(role, owner.role if owner else None):
        raise Refusal("A bot's role can't be above its owner's; without an owner it is a member at most.")
    if is_last_owner(target, held):
        raise Refusal("The owner role can't be taken from the only organization owner.")


def check_may_change_address(caller: Caller, actor: Account, target: Account) -> None:
    """Whoever controls the address controls the account, so only owners may change that of somebody else.

    A directory may, of those below an administrator: nobody gets more by its token than it has.
    """
    if isinstance(caller, DirectoryClient):
        if target.role <= Role.ADMINISTRATOR:
            msg = "The addresses of administrators and owners are not changed by a directory, but by an owner."
            raise Refusal(msg, code="UNAUTHORIZED_PRINCIPAL")
        return
    check_is_owner(actor)
    if target.id in (actor.id, actor.bot_owner_id) and not target.is_bot:
        raise Refusal("Your own address is changed by PATCH /settings, with your password.")


def check_is_owner(actor: Account) -> None:
    """Refuse whoever is not an owner at this moment."""
    if actor.role != Role.OWNER:
        raise Refusal("Must be an organization owner", code="UNAUTHORIZED_PRINCIPAL")


def is_last_owner(target: Account, owners: Collection[Account]) -> bool:
    """Whether the account is the only active person who owns the organization."""
    return is_acting_owner(target) and not any(is_acting_owner(one) and one.id != target.id for one in owners)


def is_acting_owner(account: Account) -> bool:
    """An active person with the role of an owner."""
    return account.role == Role.OWNER and account.is_active and not account.is_bot


def last_user(*, is_owner: bool) -> Refusal:
    """Somebody must stay."""
    entity = "organization owner" if is_owner else "user"
    return Refusal(
        f"Cannot deactivate the only {entity}.",
        code="CANNOT_DEACTIVATE_LAST_USER",
        is_last_owner=is_owner,
        entity=entity,
    )


def address_taken() -> Refusal:
    """Somebody has that address."""
    return Taken("Email is already in use.")


def no_such_user() -> Refusal:
    """Nobody the caller could mean."""
    return Refusal("No such user")
