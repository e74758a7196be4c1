"""The endpoint of registration, and its steps."""

from typing import Any, Literal, NamedTuple

import msgspec

from tertulia.events.queues.gateway import Gateway
from tertulia.events.queues.initial_state import InitialState, StateRequest
from tertulia.events.queues.options import QueueOptions
from tertulia.kernel.auth import Anyone, Caller
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Call, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.gate import Gate
from tertulia.kernel.settings import Settings
from tertulia.people.bots.defaults import listening_defaults
from tertulia.people.users.spectators import spectator_at
from tertulia.server.registration.request import Capabilities, Days, IdleSeconds, Pair, Pairs, Types

PATIENCE = 1.0
"""Seconds that a client waits for its turn."""
MAX_KEPT_BYTES = 32 * 1024
"""Of what a client asks for and its queue keeps, in memory and in NATS, for a week if it likes. Most ask for a tenth of it."""


class RegistrationGate(Gate):
    """So many register at once. Not as few as there are connections: that was slower (docs/decisions/0122-herds.md)."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("registration", inside=3 * settings.pool_size, patience=PATIENCE)


@post("/register", feature="events", while_frozen=True)
async def register(
    caller: Anyone,
    call: Call,
    gateway: Gateway,
    initial: InitialState,
    database: Database,
    settings: Settings,
    gate: RegistrationGate,
    *,
    event_types: Types | None = None,
    fetch_event_types: Types | None = None,
    apply_markdown: bool = False,
    client_gravatar: bool | None = None,
    include_subscribers: Literal["true", "false", "partial"] = "false",
    slim_presence: bool = False,
    presence_history_limit_days: Days = 14,
    all_public_streams: bool | None = None,
    narrow: Pairs | None = None,
    client_capabilities: Capabilities | None = None,
    idle_queue_timeout: IdleSeconds | None = None,
) -> dict[str, Any]:
    """Register an event queue: the state now, and a queue that delivers each later change exactly once.

    In organizations with public access anybody gets the state of what is open to the web, and no queue.
    """
    options = QueueOptions(
        event_types=None if event_types is None else frozenset(event_types),
        apply_markdown=apply_markdown,
        capabilities=understood(client_capabilities, slim_presence=slim_presence),
        client=call.client,
        old_names=settings.compat_aliases,
    )
    fetch = event_types if fetch_event_types is None else fetch_event_types
    wanted = StateRequest(
        fetch=None if fetch is None else frozenset(fetch),
        options=options,
        parameters={
            "include_subscribers": include_subscribers,
            "presence_history_limit_days": presence_history_limit_days,
        },
    )
    if caller is None:
        check_anonymous(client_gravatar=client_gravatar, include_subscribers=include_subscribers)
        async with gate.enter(), database.snapshot() as reader:
            spectator = await spectator_at(call, reader, settings)
            return {"queue_id": None, **await initial.load(reader, spectator, wanted)}
    listening = await choose_listening(database, caller, Listening(all_public_streams, narrow))
    check_listening(gateway, caller, listening)
    options = with_listening(options, listening)
    check_kept(options)
    async with gate.enter():
        record, state = await gateway.register(
            caller,
            options,
            idle_queue_timeout or settings.default_idle_queue_seconds,
            lambda reader, now: initial.load(reader, now, wanted),
        )
    return {
        "queue_id": record.id,
        "last_event_id": record.start,
        "idle_queue_timeout_secs": record.idle_seconds,
        **state,
    }


class Listening(NamedTuple):
    """Which messages a client wants to hear of; None: it did not say."""

    all_public: bool | None
    narrow: list[Pair] | None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The narrow as operators and operands."""
        return tuple((operator, operand) for operator, operand in self.narrow or ())


def understood(capabilities: Capabilities | None, *, slim_presence: bool) -> dict[str, bool]:
    """What the client understands, by name. A client that says nothing understands nothing."""
    said = capabilities or Capabilities(notification_settings_null=False)
    return msgspec.structs.asdict(said) | {"slim_presence": slim_presence}


def check_anonymous(**said: object) -> None:
    """Refuse what only somebody with an account may ask for."""
    for name, value in said.items():
        if value not in (False, None, "false"):
            raise Refusal(f"Invalid '{name}' parameter for anonymous request")


async def choose_listening(database: Database, caller: Caller, said: Listening) -> Listening:
    """What a bot does not say is what its owner chose for it."""
    if not caller.is_bot or None not in said:
        return said
    default = await listening_defaults(database, caller.user_id)
    all_public, narrow = said
    if all_public is None:
        all_public = default.all_public and not caller.is_guest
    if narrow is None and default.channel:
        narrow = [["channel", default.channel]]
    return Listening(all_public, narrow)


def check_listening(gateway: Gateway, caller: Caller, listening: Listening) -> None:
    """Refuse a narrow that queues cannot have, and to guests what is public to others."""
    gateway.check_narrow(listening.pairs)
    if listening.all_public and caller.is_guest:
        raise Refusal("Guests can't listen to all public channels.")


def with_listening(options: QueueOptions, listening: Listening) -> QueueOptions:
    """The options of the queue."""
    return msgspec.structs.replace(options, all_public_channels=bool(listening.all_public), narrow=listening.pairs)


def check_kept(options: QueueOptions) -> None:
    """Refuse what is too much to keep: somebody has hundreds of queues."""
    if len(msgspec.json.encode(options)) > MAX_KEPT_BYTES:
        raise Refusal(f"event_types and narrow are too long: together they have at most {MAX_KEPT_BYTES} bytes.")
