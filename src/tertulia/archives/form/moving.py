"""What only an operator's moving archive holds, beside the kinds of every archive (pure): all that opens an account.

It leaves a server encrypted, for the key of the one that takes it in, and no other command reads or writes these kinds. What was
sealed with the key of a server lies open in here, so that the next one seals it with its own.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from tertulia.archives.form.kinds import END, KINDS, Id, Number, Record, Sum, Time
from tertulia.archives.form.manifest import Scope

Hex = Annotated[str, Meta(pattern="^([0-9a-f]{2})+" + END, max_length=4096)]
Text = Annotated[str, Meta(max_length=2000)]


class Key(Record, frozen=True, kw_only=True):
    """An API key, which nobody but its owner knows: its SHA-256."""

    digest: Sum
    label: Text = ""
    created: Time
    last_used: Time | None = None
    made_by: Literal["password", "session", "provider", "owner", "operator", "unknown"] = "unknown"
    address: Text = ""
    issuer: Text | None = None
    provider_session: Text | None = None


class Factor(Record, frozen=True, kw_only=True):
    """A second factor, or that one is due."""

    secret: Hex | None = None
    is_confirmed: bool = False
    begun: Time
    last_step: Number = 0
    due: Time | None = None
    handle: Sum | None = None


class Passkey(Record, frozen=True, kw_only=True):
    """The public half. It is good at the host name where it was made, and nowhere else."""

    credential: Hex
    public_key: Hex
    sign_count: Annotated[int, Meta(ge=0, le=2**32 - 1)]
    label: Annotated[str, Meta(min_length=1, max_length=60)]
    transports: list[Text]
    is_verifying: bool
    is_synced: bool
    created: Time
    last_used: Time | None = None


class Identity(Record, frozen=True, kw_only=True):
    """Who somebody is at a provider."""

    provider: Text
    subject: Text
    username: Text | None = None


class HookSecret(Record, frozen=True, kw_only=True):
    """What a service signs with that posts for a bot."""

    integration: Annotated[str, Meta(max_length=40)]
    secret: Text


class Credentials(Record, frozen=True, kw_only=True):
    """All that opens an account, and what it shows to others."""

    user_id: Id
    password_hash: Annotated[str, Meta(pattern=r"^(!|\$argon2id\$[!-~]{1,500})" + END)] | None = None
    """`!`: they have to choose a password. None: there is none."""
    keys: list[Key] = field(default_factory=list)
    factor: Factor | None = None
    recovery_codes: list[Sum] = field(default_factory=list)
    passkeys: list[Passkey] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    token: Text | None = None
    """Of an outgoing webhook."""
    hook_secrets: list[HookSecret] = field(default_factory=list)


class SentRequest(Record, frozen=True, kw_only=True):
    """The idempotency key of a message: whoever did not hear the answer asks again, there."""

    user_id: Id
    key: Annotated[str, Meta(min_length=1, max_length=200)]
    message_id: Id
    sent: Time
    policy: Annotated[int, Meta(ge=0, le=10)] | None = None


class Stored(Record, frozen=True, kw_only=True):
    """What a bot keeps here for itself."""

    user_id: Id
    key: str
    value: str


MOVING_KINDS: dict[str, type[Record]] = {
    "credentials": Credentials,
    "sent_requests": SentRequest,
    "bot_storage": Stored,
}
"""After all others."""
ALL_KINDS = KINDS | MOVING_KINDS


def kinds_in(scope: Scope) -> dict[str, type[Record]]:
    """The kinds that an archive of this scope has."""
    return ALL_KINDS if scope == "moving" else KINDS
