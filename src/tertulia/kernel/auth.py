"""Callers: who makes a request, as the type of an endpoint's parameter.

An endpoint that asks for a `Person` is not reached by anybody else; the endpoint layer refuses first. The kernel
parses the credentials; whose they are is answered by the users feature.
"""

import base64
import binascii
from enum import IntEnum
from typing import Literal

import msgspec

from tertulia.kernel.errors import Refusal, unauthorized


class Role(IntEnum):
    """What a user is in the organization; smaller means more."""

    OWNER = 100
    ADMINISTRATOR = 200
    MODERATOR = 300
    MEMBER = 400
    GUEST = 600


RoleNumber = Literal[100, 200, 300, 400, 600]
"""A role as a parameter: the values of `Role`."""


class BotType(IntEnum):
    """What a bot is for."""

    GENERIC = 1
    INCOMING_WEBHOOK = 2
    OUTGOING_WEBHOOK = 3
    EMBEDDED = 4


NOBODY = 0
"""The user id of a reader without an account: nobody has it."""
EVERYONE = 1
"""The email visibility of an account that hides nothing."""


class Caller(msgspec.Struct, frozen=True):
    """An authenticated user or bot."""

    user_id: int
    realm_id: int
    key_id: int
    email: str
    full_name: str
    role: int
    """What the caller counts as: of a bot, the lower of its own role and its owner's."""
    bot_type: int | None
    avatar_url: str
    subdomain: str
    realm: object
    """What `organization/realms` knows of the caller's organization: its `settings_of` reads it, the kernel carries it."""
    email_visibility: int = EVERYONE
    """Who sees the account's address; see people/users/addresses.py."""
    fake_domain: str = ""
    """Where the addresses of this realm that nobody sees seem to be."""
    session_id: int = 0
    """The browser session that the request was made by; 0: none."""
    owner_id: int | None = None
    """Whose bot it is; of people, and of bots without an owner, none."""
    signed_only: bool = False
    """A bot whose services sign what they post: its key, which stands in an address, is not enough to send."""

    @property
    def credential(self) -> int:
        """What the request was made with, as one number: that of a key, or of a session, below zero. 0: neither."""
        return self.key_id or -self.session_id

    @property
    def person_id(self) -> int:
        """Whom it counts for what the caller does, where many bots are not to be many shares: a bot's owner."""
        return self.owner_id or self.user_id

    @property
    def is_nobody(self) -> bool:
        """A reader without an account, in an organization with public access."""
        return self.user_id == NOBODY

    @property
    def is_guest(self) -> bool:
        """Guests see only what they were invited to."""
        return self.role == Role.GUEST

    @property
    def is_bot(self) -> bool:
        """Bots are programs."""
        return self.bot_type is not None

    @property
    def api_email(self) -> str:
        """The address the API shows, to everybody alike."""
        is_shown = self.email_visibility == EVERYONE or self.is_bot
        return self.email if is_shown else fake_email(self.user_id, self.fake_domain)


class Sender(Caller, frozen=True):
    """Whoever may send messages: everybody, incoming-webhook bots included."""


class Hook(Caller, frozen=True):
    """A bot whose key is in the address: other services post for it. Never a person: addresses end up in logs."""


class Person(Caller, frozen=True):
    """A user or bot, except incoming-webhook bots, which may only send."""


class Human(Person, frozen=True):
    """Anybody but bots."""


class Member(Person, frozen=True):
    """Anybody but guests."""


class HumanMember(Human, Member, frozen=True):
    """Neither a bot nor a guest."""


class Administrator(Person, frozen=True):
    """An administrator or owner; bots can be that too."""


class HumanAdministrator(Human, Administrator, frozen=True):
    """An administrator or owner who is a person."""


class Owner(Administrator, frozen=True):
    """An owner of the organization."""


class HumanOwner(Human, Owner, frozen=True):
    """An owner who is a person."""


class DirectoryClient(Caller, frozen=True):
    """A service that keeps an organization's people and groups for it, by a token of the organization's own.

    It has no account: `user_id` is that of the organization's own bot, so that whatever it does has somebody who did it. It
    counts as an administrator, and reaches nothing but the endpoints that ask for it.
    """

    token_id: int = 0


Anyone = Person | None
"""A person, or nobody: the endpoint decides what the anonymous may see."""


def check_kind(caller: Caller, kind: type[Caller]) -> None:
    """Refuse a caller who is not of the kind."""
    if issubclass(kind, Human) and caller.is_bot:
        raise Refusal("This endpoint does not accept bot requests.")
    if issubclass(kind, Member) and caller.is_guest:
        raise Refusal("Not allowed for guest users")
    if issubclass(kind, Owner):
        check_owner(caller)
    if issubclass(kind, Administrator):
        check_administrator(caller)


def check_administrator(caller: Caller) -> None:
    """Refuse whoever is neither administrator nor owner."""
    if caller.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")


def check_owner(caller: Caller) -> None:
    """Refuse whoever is not an owner."""
    if caller.role != Role.OWNER:
        raise Refusal("Must be an organization owner", code="UNAUTHORIZED_PRINCIPAL")


def fake_email(user_id: int, domain: str) -> str:
    """What stands for an address that is hidden. It can be used wherever the API takes an address."""
    return f"user{user_id}@{domain}"


class Credentials(msgspec.Struct, frozen=True):
    """What a Basic authorization header carries."""

    email: str
    key: str


def credentials_of(header: str | None, realm_name: str) -> Credentials | None:
    """Parse an Authorization header; None when there is none."""
    if header is None:
        return None
    scheme, _, rest = header.strip().partition(" ")
    if scheme.lower() != "basic":
        raise Refusal("This API takes HTTP Basic authentication: your email address and an API key.")
    try:
        email, key = base64.b64decode(rest.strip(), validate=True).decode().split(":")
    except (binascii.Error, ValueError) as error:
        raise unauthorized("The authorization header is not valid for Basic authentication.", realm_name) from error
    return Credentials(email.strip(), key.strip())
