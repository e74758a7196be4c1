"""Endpoints of event queues that exist. POST /register, which makes them, is above the features: server/registration."""

import msgspec

from tertulia.events.queues.gateway import Gateway
from tertulia.events.queues.polls import Polls
from tertulia.kernel.auth import Person
from tertulia.kernel.endpoint import delete, get
from tertulia.kernel.later import Later


@get("/events", waits=True, returns=msgspec.Raw)
async def get_events(
    caller: Person,
    gateway: Gateway,
    polls: Polls,
    *,
    queue_id: str,
    last_event_id: int,
    dont_block: bool = False,
) -> msgspec.Raw | Later:
    """Wait for events after `last_event_id`, which acknowledges everything up to it.

    Answers at once when there are events or with `dont_block`; else with a heartbeat after about a minute.
    """
    queue = await gateway.find(caller, queue_id, last_event_id)
    return polls.answer(caller, queue, last_event_id, dont_block=dont_block)


@delete("/events", while_frozen=True)
async def delete_queue(caller: Person, gateway: Gateway, *, queue_id: str) -> None:
    """End an event queue."""
    await gateway.delete(caller, queue_id)
