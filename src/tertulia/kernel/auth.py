"""Callers: who makes a request, as the type of an endpoint's parameter.

An endpoint that asks for a `Person` is not reached by anybody else; the endpoint layer refuses first. The kernel
parses the credentials; whose they are is answered by the users feature.
"""

import base64
import binascii
from enum import IntEnum

import msgspec

from tertulia.kernel.errors import Refusal, unauthorized


class Role(IntEnum):
    """What a user is in the organization; smaller means more."""

    OWNER = 100
    ADMINISTRATOR = 200
    MODERATOR = 300
    MEMBER = 400
    GUEST = 600


INCOMING_WEBHOOK_BOT = 2


class Caller(msgspec.Struct, frozen=True):
    """An authenticated user or bot."""

    user_id: int
    realm_id: int
    key_id: int
    email: str
    full_name: str
    role: int
    bot_type: int | None
    avatar_version: int
    subdomain: str
    realm_settings: bytes

    @property
    def is_guest(self) -> bool:
        """Guests see only what they were invited to."""
        return self.role == Role.GUEST

    @property
    def is_bot(self) -> bool:
        """Bots are programs."""
        return self.bot_type is not None


class Sender(Caller, frozen=True):
    """Whoever may send messages: everybody, incoming-webhook bots included."""


class Person(Caller, frozen=True):
    """A user or bot, except incoming-webhook bots, which may only send."""


Anyone = Person | None
"""A person, or nobody: the endpoint decides what the anonymous may see."""


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
