"""Pure decisions about people: which of the things a provider sends become the account's name and address.

An account has one name and one address; providers have several of both. What was derived follows what it was derived from: if
the address was the user name, and the provider changes the user name alone, the address becomes the new one. So a provider
that keeps two different things in two attributes finds both as it wrote them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from tertulia.integrations.scim.answers import ScimRefusal
from tertulia.integrations.scim.users.queries import Naming, UserRow
from tertulia.kernel.text import bad_character
from tertulia.people.users.rules import is_email

if TYPE_CHECKING:
    from tertulia.integrations.scim.schemas import WrittenEmail, WrittenUser

MAX_LENGTH = 255
WORK = "work"


class Wanted(msgspec.Struct, frozen=True):
    """What an account is to be."""

    email: str
    full_name: str
    is_active: bool
    naming: Naming


def wanted_of_new(sent: "WrittenUser") -> Wanted:
    """The account that a provider wants for somebody new."""
    user_name = _user_name(sent)
    email = chosen_address(sent.emails) or user_name
    if not is_email(email):
        raise ScimRefusal("An account needs an email address: in emails, or as userName.", "invalidValue")
    name = _best_name(sent) or user_name.partition("@")[0]
    return Wanted(email, name, sent.active is not False, _naming(user_name, sent))


def wanted_by_put(now: UserRow, sent: "WrittenUser") -> Wanted:
    """The account that a provider wants instead of one that is there. An account never loses its name and address."""
    user_name = _user_name(sent)
    email = chosen_address(sent.emails) or _following_address(now, user_name)
    name = _best_name(sent) or now.full_name
    active = now.is_active if sent.active is None else sent.active
    return Wanted(email, name, active, _naming(user_name, sent))


def wanted_by_patch(now: UserRow, before: "WrittenUser", after: "WrittenUser") -> Wanted:
    """The account that a provider wants after its changes of what it saw."""
    user_name = _user_name(after)
    address = chosen_address(after.emails)
    if address is None or address == chosen_address(before.emails):
        address = _following_address(now, user_name)
    active = now.is_active if after.active is None else after.active
    return Wanted(address, _following_name(now, before, after), active, _naming(user_name, after))


def chosen_address(emails: "Sequence[WrittenEmail] | None") -> str | None:
    """The address that counts: the primary one, or else the first of work, or else the first."""
    listed = [email for email in emails or () if email.value]
    listed.sort(key=lambda email: (not email.primary, (email.type or "").lower() != WORK))
    return listed[0].value if listed else None


def _following_address(now: UserRow, user_name: str) -> str:
    follows = now.email.lower() == now.user_name.lower() and user_name != now.user_name
    return user_name if follows and is_email(user_name) else now.email


def _following_name(now: UserRow, before: "WrittenUser", after: "WrittenUser") -> str:
    if after.display_name and after.display_name != before.display_name:
        return after.display_name
    for read in (_formatted, _joined):
        old, new = read(before), read(after)
        if new and new != old and (after.display_name is None or now.full_name == old):
            return new
    return now.full_name


def _best_name(sent: "WrittenUser") -> str | None:
    return sent.display_name or _formatted(sent) or _joined(sent)


def _formatted(sent: "WrittenUser") -> str | None:
    return sent.name.formatted if sent.name else None


def _joined(sent: "WrittenUser") -> str | None:
    parts = (sent.name.given_name, sent.name.family_name) if sent.name else ()
    return " ".join(part for part in parts if part) or None


def _naming(user_name: str, sent: "WrittenUser") -> Naming:
    name = sent.name
    parts = (name.given_name, name.family_name, name.formatted) if name else (None, None, None)
    naming = Naming(user_name, *parts, sent.external_id)
    for text in msgspec.structs.astuple(naming):
        if text is not None and (len(text) > MAX_LENGTH or bad_character(text) is not None):
            raise ScimRefusal(
                f"A text is too long (limit: {MAX_LENGTH}), or has characters that cannot be seen.", "invalidValue"
            )
    return naming


def _user_name(sent: "WrittenUser") -> str:
    user_name = (sent.user_name or "").strip()
    if not user_name:
        raise ScimRefusal("userName is missing.", "invalidValue")
    return user_name
