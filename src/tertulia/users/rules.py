"""Pure decisions about users: names, and who may do what to whom."""

import re
import unicodedata
from collections.abc import Collection

from tertulia.kernel.auth import Role
from tertulia.kernel.errors import Refusal
from tertulia.realms.limits import MAX_FULL_NAME_LENGTH
from tertulia.users.model import Account

_FORBIDDEN = frozenset('*`\\>"@')
_UNPRINTABLE = ("Cc", "Cs", "Cn", "Zl", "Zp")
_MENTION_ENDING = re.compile(r"\|[0-9]+$")
_EMAIL = re.compile(r"[^\s@:]{1,64}@[^\s@:]{1,189}")


def clean_full_name(name: str) -> str:
    """A name as it is stored; refuses what would break a mention of it."""
    name = name.strip()
    if not name:
        raise Refusal("A name can't be empty.")
    if len(name) > MAX_FULL_NAME_LENGTH:
        raise Refusal(f"A name is too long (limit: {MAX_FULL_NAME_LENGTH} characters).")
    if any(char in _FORBIDDEN or unicodedata.category(char) in _UNPRINTABLE for char in name):
        raise Refusal('Invalid characters in the name: * ` \\ > " @ and unprintable ones are not allowed.')
    if _MENTION_ENDING.search(name):
        raise Refusal("A name can't end in | and digits.")
    return name


def name_key_of(name: str) -> str:
    """What makes two names the same, where names are unique."""
    return unicodedata.normalize("NFKC", name).lower()


def is_email(text: str) -> bool:
    """Whether the text looks like an address. A colon would break Basic authentication."""
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def check_may_edit(actor: Account, target: Account) -> None:
    """Refuse changes of others' accounts: administrators may, and the owners of bots."""
    if actor.role > Role.ADMINISTRATOR and not (target.is_bot and target.bot_owner_id == actor.id):
        raise Refusal("Insufficient permission")


def check_role_change(actor: Account, target: Account, role: int, owners: Collection[Account]) -> None:
    """Refuse a change of role that the actor may not make, or that leaves the organization without an owner."""
    if Role.OWNER in (role, target.role):
        check_is_owner(actor)
    elif actor.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    if is_last_owner(target, owners):
        raise Refusal("The owner role can't be taken from the only organization owner.")


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


def no_such_user() -> Refusal:
    """Nobody the caller could mean."""
    return Refusal("No such user")
