"""Endpoints of the event system."""

from typing import Annotated, Any, Literal

import msgspec

from tertulia.events.gateway import Gateway
from tertulia.events.options import Capabilities, QueueDefaults, QueueOptions
from tertulia.events.polls import Polls
from tertulia.events.register import InitialState, Spectators, Wanted
from tertulia.kernel.auth import Anyone, Person
from tertulia.kernel.endpoint import Call, Wire, decode_json, delete, get, post
from tertulia.kernel.errors import Refusal

MAX_IDLE_SECONDS = 7 * 86400
MOBILE_IDLE_SECONDS = 43_200


def idle_seconds(value: Any) -> int | None:
    """A number of seconds, or the word `mobile`, which existing clients send with quotes around it; null: not said."""
    if isinstance(value, str):
        value = "mobile" if value == "mobile" else decode_json(value)
    if value is None:
        return None
    if value == "mobile":
        return MOBILE_IDLE_SECONDS
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("is not an integer")
    if value < 1:
        raise ValueError("is too small")
    return min(value, MAX_IDLE_SECONDS)


IdleSeconds = Annotated[int, Wire(idle_seconds, {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "mobile"}]})]
Days = Annotated[int, msgspec.Meta(ge=0, le=3650)]
Pair = Annotated[list[str], msgspec.Meta(min_length=2, max_length=2)]


@post("/register")
async def register(
    caller: Anyone,
    call: Call,
    gateway: Gateway,
    initial: InitialState,
    defaults: QueueDefaults,
    spectators: Spectators,
    *,
    event_types: list[str] | None = None,
    fetch_event_types: list[str] | None = None,
    apply_markdown: bool = False,
    client_gravatar: bool | None = None,
    include_subscribers: Literal["true", "false", "partial"] = "false",
    slim_presence: bool = False,
    presence_history_limit_days: Days = 14,
    all_public_streams: bool | None = None,
    narrow: list[Pair] | None = None,
    client_capabilities: Capabilities | None = None,
    idle_queue_timeout: IdleSeconds | None = None,
) -> dict[str, Any]:
    """Register an event queue: the state now, and a queue that delivers each later change exactly once.

    In organizations with public access anybody gets the state of what is open to the web, and no queue.
    """
    fetch = event_types if fetch_event_types is None else fetch_event_types
    capabilities = client_capabilities or Capabilities(notification_settings_null=False)
    wanted = Wanted(
        fetch=None if fetch is None else frozenset(fetch),
        options=QueueOptions(
            apply_markdown=apply_markdown,
            capabilities=capabilities,
            client=call.client,
            slim_presence=slim_presence,
            old_names=gateway.settings.compat_aliases,
        ),
        include_subscribers=include_subscribers,
        presence_days=presence_history_limit_days,
    )
    if caller is None:
        for name, value in (("client_gravatar", client_gravatar), ("include_subscribers", include_subscribers)):
            if value not in (False, None, "false"):
                raise Refusal(f"Invalid '{name}' parameter for anonymous request")
        state = await gateway.show(
            lambda reader: spectators.at(call, reader), lambda reader, nobody: initial.load(reader, nobody, wanted)
        )
        return {"queue_id": None, **state}
    if caller.is_bot and (all_public_streams is None or narrow is None):
        known = await defaults.of(caller.user_id)
        all_public_streams = (
            known.all_public and not caller.is_guest if all_public_streams is None else all_public_streams
        )
        narrow = [["channel", known.channel]] if narrow is None and known.channel else narrow
    pairs = tuple((operator, operand) for operator, operand in narrow or ())
    for each in gateway.filters.values():
        each.check(pairs)
    if all_public_streams and caller.is_guest:
        raise Refusal("Guests can't listen to all public channels.")
    options = msgspec.structs.replace(
        wanted.options,
        event_types=None if event_types is None else frozenset(event_types),
        client_gravatar=client_gravatar is not False,
        all_public_channels=bool(all_public_streams),
        narrow=pairs,
    )
    idle = idle_queue_timeout or gateway.settings.default_idle_queue_seconds
    record, state = await gateway.register(caller, options, idle, lambda reader, now: initial.load(reader, now, wanted))
    return {
        "queue_id": record.id,
        "last_event_id": record.start,
        "idle_queue_timeout_secs": record.idle_seconds,
        **state,
    }


@get("/events")
async def get_events(
    caller: Person,
    call: Call,
    gateway: Gateway,
    polls: Polls,
    *,
    queue_id: str,
    last_event_id: int,
    dont_block: bool = False,
) -> msgspec.Raw:
    """Wait for events after `last_event_id`, which acknowledges everything up to it.

    Answers at once when there are events or with `dont_block`; else with a heartbeat after about a minute.
    """
    queue = await gateway.find(caller, queue_id, last_event_id)
    return await polls.answer(call, queue, last_event_id, dont_block=dont_block)


@delete("/events")
async def delete_queue(caller: Person, gateway: Gateway, *, queue_id: str) -> None:
    """End an event queue."""
    await gateway.delete(caller, queue_id)
