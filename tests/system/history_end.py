"""The end of a random history (histories.py): everything has been done; is everybody told?

A marker message tells every client that it has heard everything; then
- what each client holds must be what a fresh registration says;
- each client must have heard exactly the messages that were its own after its registration;
- the fresh queues must hold nothing but what comes after them.
"""

import asyncio
import time
from typing import TYPE_CHECKING

from tests.system.acts import Register
from tests.system.channel_acts import encode
from tests.system.model_client import Json, Mismatch

if TYPE_CHECKING:
    from tests.system.histories import Client, Realm


async def check(realm: "Realm") -> None:
    await _wait_for_notices(realm)
    marker = await _mark_end(realm)
    await asyncio.gather(*(_hear(realm, client, marker, turn) for turn, client in enumerate(realm.clients)))
    fresh = []
    for number, person in enumerate(realm.people):
        for knows in ((False, False), (True, False), (True, True)):
            await realm.register(person, Register(number, False, *knows))
            fresh.append(realm.clients.pop())
    likes = {(client.person.user_id, client.choice.knows): client.state for client in fresh}
    for number, client in enumerate(realm.clients):
        problems = client.state.differences(likes[client.person.user_id, client.choice.knows])
        if problems:
            raise Mismatch("\n".join([f"client {number}, then a fresh registration:", *problems]))
    await _check_messages(realm, marker)
    _check_same_events(realm)
    after = await _mark_end(realm)
    for client in fresh:
        await _hear(realm, client, after, client.person.user_id)
        if client.heard != {after} or len(client.events) != 1:
            raise Mismatch(f"only message {after} came after the registration, but: {client.events}")


async def _wait_for_notices(realm: "Realm") -> None:
    """Until the bot has said everything. What a request could not send itself, on a busy machine, the worker sends later."""
    async with asyncio.timeout(60):
        while True:
            async with realm.world.database.reader() as reader:
                if not await reader.fetchval("select exists (select from notice where realm_id = $1)", realm.id):
                    return
            await asyncio.sleep(0.05)


async def _mark_end(realm: "Realm") -> int:
    """A message to all, which comes after everything else."""
    everybody = [person.user_id for person in realm.people]
    data = {"type": "direct", "to": encode(everybody), "content": "the end"}
    body = await realm.call(realm.people[0], 0, "POST", "messages", data)
    number: int = body["id"]
    realm.note_sent(number, asked=time.monotonic())
    return number


async def _hear(realm: "Realm", client: "Client", marker: int, turn: int) -> None:
    if client.holding is not None:
        await client.holding
    while marker not in client.heard:
        turn += 1
        await realm.poll(client, turn, block=True)


async def _check_messages(realm: "Realm", marker: int) -> None:
    """Each client heard exactly what was its own: all that was sent after its registration, none from before."""
    async with realm.world.database.reader() as reader:
        rows = await reader.fetch(
            """
            select message.id, array_agg(read_state.user_id) as user_ids,
                   coalesce(not channel.invite_only, false) as is_public, channel.id as channel_id,
                   sender.system_bot is not null as is_notice, bool_or(arrived) as arrived
            from message join account as sender on sender.id = message.sender_id
            left join channel on channel.id = message.conversation_id
            left join read_state on read_state.conversation_id = message.conversation_id and seq <@ history
            where message.realm_id = $1 group by message.id, channel.id, sender.id
            """,
            realm.id,
        )
    said = {row["id"] for row in rows if not row["is_notice"]}
    if said != {sent.id for sent in realm.sent} - realm.erased or len(realm.sent) - len(realm.erased) != len(said):
        raise Mismatch(f"replies: {realm.sent}; stored: {rows}")
    # Of messages that moved to another channel or are gone, the database cannot tell any more whose they were at first.
    changed = realm.erased | {row["id"] for row in rows if row["arrived"]}
    owners = {row["id"]: set(row["user_ids"]) for row in rows}
    # Whether a channel was public when somebody spoke is known of those that always were what they are. Of the others
    # the clients themselves know: they do not take messages of private channels (model_client.py).
    public = {row["id"] for row in rows if row["is_public"] and row["channel_id"] not in realm.opened_or_closed}
    unsure = {row["id"] for row in rows if row["channel_id"] in realm.opened_or_closed}
    for number, client in enumerate(realm.clients):
        own = {message for message, users in owners.items() if client.person.user_id in users}
        may = set(own)
        if client.choice.all_public and client.person is not realm.people[-1]:
            own |= public
            may |= public | unsure
        before = {sent.id for sent in realm.sent if sent.answered < client.asked}
        later = {sent.id for sent in realm.sent if sent.asked > client.answered}
        heard, own, may = client.heard - changed, own - changed, may - changed
        for what, wrong in (
            ("heard what was not theirs", heard - may),
            ("heard what their state held", heard & before),
            ("did not hear", (own & later) - heard),
        ):
            if wrong:
                raise Mismatch(f"client {number} {what}: {sorted(wrong)}; the end was {marker}")


def _check_same_events(realm: "Realm") -> None:
    """Clients of one person with the same choices are told the same, from where each began."""
    seen: dict[tuple[int, bool, bool, bool], dict[int, Json]] = {}
    for client in realm.clients:
        key = (client.person.user_id, client.choice.all_public, *client.choice.knows)
        known = seen.setdefault(key, {})
        for number, event in client.events.items():
            if known.setdefault(number, event) != event:
                raise Mismatch(f"event {number} was {known[number]} and {event}")
