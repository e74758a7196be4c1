"""What the mobile app requires, over real answers and long random histories."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvloop
from hypothesis import given, seed, settings

from tertulia.kernel.db import Database
from tests.harness.schemas import acheck_reply
from tests.harness.server import Server
from tests.system.acts import History
from tests.system.histories import Realm, World
from tests.system.mobile_app import Rejected
from tests.system.mobile_events import EVENTS, check_event
from tests.system.own_acts import OWN_ACTS
from tests.system.people_acts import PEOPLE_ACTS
from tests.system.phone import Phone
from tests.system.random_histories import AS_THEY_COME, histories
from tests.system.town import Town

pytestmark = [pytest.mark.system, pytest.mark.slow, pytest.mark.finding]

# A longer run: TERTULIA_HISTORIES=2100 bin/test tests/system/test_mobile_app.py --timeout 36000
HISTORIES = max(5, int(os.environ.get("TERTULIA_HISTORIES", "56")) // 42)
SEED = int(os.environ.get("TERTULIA_SEED", random.randrange(10**9)))
HEARD: Counter[str] = Counter()
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@asynccontextmanager
async def engines(server: Server) -> AsyncIterator[tuple[Database, httpx.AsyncClient]]:
    async with (
        await Database.connect(server.postgres_url, shards=4, size=4) as database,
        httpx.AsyncClient(timeout=30, trust_env=False, event_hooks={"response": [acheck_reply]}) as http,
    ):
        yield database, http


async def use(phones: list[Phone], play: Callable[[], Any]) -> None:
    """Phones that are on while something happens, and look at everything afterwards."""
    for phone in phones:
        await phone.start()
    await play()
    for phone in phones:
        await phone.drain()
        await phone.start()
        await phone.read()
        HEARD.update(phone.heard)


def run(work: Callable[[], Any]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())


def test_the_app_takes_the_state_of_everybody(server: Server) -> None:
    async def work() -> None:
        async with engines(server) as (_, http):
            host = server.url.removeprefix("http://")
            people = [server.owner, server.administrator, server.moderator, server.members[0], server.guest]
            for user in people:
                phone = Phone(http, server.url, host, httpx.BasicAuth(user.email, user.api_key))
                await phone.start()
                await phone.read()
                assert phone.heard["snapshot"] == 1

    run(work)


@pytest.mark.timeout(300)
def test_the_app_takes_whatever_happens_to_messages_and_channels(server: Server) -> None:
    async def play(history: History) -> None:
        async with engines(server) as (database, http):
            realm = await Realm.make(World(database, http, [server.url]), len(history.programs))
            host = f"{realm.subdomain}.localhost"
            phones = [Phone(http, server.url, host, person.auth) for person in realm.people]

            async def live() -> None:
                await realm.live(history)
                realm.let_go()

            await use(phones, live)

    @seed(SEED)
    @given(histories)
    @settings(AS_THEY_COME, max_examples=2 * HISTORIES)
    def every_history(history: History) -> None:
        run(lambda: play(history))

    every_history()
    assert {"message", "subscription peer_add", "snapshot"} <= HEARD.keys(), HEARD


@pytest.mark.timeout(300)
def test_the_app_takes_whatever_happens_to_people_and_what_is_their_own(server: Server) -> None:
    async def work() -> None:
        async with engines(server) as (database, http):
            for seed in range(SEED, SEED + HISTORIES):
                town = Town(seed, http, [server.url], database)
                await town.make()
                host = f"{town.subdomain}.localhost"
                keys = zip(town.emails, town.people, strict=True)
                phones = [Phone(http, server.url, host, httpx.BasicAuth(email, person.key)) for email, person in keys]

                async def live(town: Town = town) -> None:
                    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
                        for who in range(len(town.people)):
                            group.create_task(town.run(who, [*PEOPLE_ACTS, *OWN_ACTS]))

                try:
                    await use(phones, live)
                except BaseException as problem:
                    problem.add_note("\n".join([f"TERTULIA_SEED={seed}, what happened:", *town.story]))
                    raise

    run(work)
    assert {"realm_user update", "snapshot"} <= HEARD.keys(), HEARD
    print(dict(HEARD))


def test_the_app_takes_every_event_it_reads(server: Server) -> None:
    async def work() -> None:
        async with engines(server) as (database, http):
            realm = await Realm.make(World(database, http, [server.url]), 4)
            host = f"{realm.subdomain}.localhost"
            phones = [Phone(http, server.url, host, person.auth) for person in realm.people]
            ids = [person.user_id for person in realm.people]
            await use(phones, lambda: everything(phones, ids, realm.channels))
            heard = phones[0].heard + phones[1].heard
            # Where guests see everybody nobody goes out of sight, and the app knows deactivated groups; polls that wait,
            # and returns, are tested elsewhere.
            seldom = {"realm_user remove", "user_group remove", "heartbeat", "presence"}
            assert EVENTS.keys() - heard.keys() <= seldom

    run(work)


async def everything(phones: list[Phone], ids: list[int], channels: dict[str, int]) -> None:
    """Something of everything that the app is told of."""
    owner, member, *_ = phones
    channel, topic = channels["all"], {"type": "channel", "to": channels["all"], "topic": "tea"}
    first = (await owner.do("POST", "messages", **topic, content="/poll Tea?\nyes"))["id"]
    sent = (await owner.do("POST", "messages", **topic, content="@**all** *hello*"))["id"]
    answer = (await member.do("POST", "messages", type="direct", to=ids[:1], content="/me waves"))["id"]
    await owner.do(
        "POST", "submessage", message_id=first, msg_type="widget", content='{"type":"vote","key":"canned,0","vote":1}'
    )
    for method in ("POST", "DELETE"):
        await member.do(method, f"messages/{sent}/reactions", emoji_name="tertulia", reaction_type="zulip_extra_emoji")
    await owner.do("PATCH", f"messages/{sent}", content="/me is here")
    await owner.do("PATCH", f"messages/{sent}", topic="coffee")
    await owner.do("PATCH", f"messages/{sent}", stream_id=channels["some"], propagate_mode="change_all")
    for op, flag, number in (("add", "read", answer), ("remove", "read", answer), ("add", "starred", answer)):
        await owner.do("POST", "messages/flags", messages=[number], op=op, flag=flag)
    for op in ("start", "stop"):
        await owner.do("POST", "typing", type="stream", op=op, stream_id=channel, topic="tea")
    await owner.do("DELETE", f"messages/{first}")
    await owner.do("POST", "user_topics", stream_id=channel, topic="tea", visibility_policy=1)
    await owner.do("POST", f"users/me/muted_users/{ids[1]}")
    await owner.do("POST", "users/me/alert_words", alert_words=["tea"])
    await owner.do("PATCH", "settings", twenty_four_hour_time=True, full_name="Another Name")
    await owner.do("POST", "users/me/status", status_text="busy", emoji_name="tertulia")
    await owner.do("POST", "users", email="new@example.com", password="nobody guesses this", full_name="New Comer")
    await owner.do("POST", "realm/profile_fields", name="Pronouns", field_type=8)
    snippet = (await owner.do("POST", "saved_snippets", title="tea", content="time"))["saved_snippet_id"]
    await owner.do("PATCH", f"saved_snippets/{snippet}", title="coffee")
    await owner.do("DELETE", f"saved_snippets/{snippet}")
    await owner.upload("realm/emoji/teapot", PIXEL)
    await places(owner, member, ids, channel)


async def places(owner: Phone, member: Phone, ids: list[int], channel: int) -> None:
    folder = (await owner.do("POST", "channel_folders/create", name="Kitchen", description=""))["channel_folder_id"]
    await owner.do("PATCH", f"channel_folders/{folder}", name="Bar")
    other = (await owner.do("POST", "channel_folders/create", name="Hall", description=""))["channel_folder_id"]
    await owner.do("PATCH", "channel_folders", order=[other, folder])
    await owner.do("PATCH", f"streams/{channel}", description="Of **tea**.", folder_id=folder)
    subscription = [{"stream_id": channel, "property": "pin_to_top", "value": True}]
    await owner.do("POST", "users/me/subscriptions/properties", subscription_data=subscription)
    await owner.do("POST", "users/me/subscriptions", subscriptions=[{"name": "new"}], principals=ids[:2])
    await member.do("DELETE", "users/me/subscriptions", subscriptions=["new"])
    new = (await owner.do("GET", "get_stream_id", stream="new"))["stream_id"]
    await owner.do("PATCH", f"streams/{new}", is_private=True)
    groups = [
        (await owner.do("POST", "user_groups/create", name=name, description="", members=ids[:1]))["group_id"]
        for name in ("tea", "coffee")
    ]
    await owner.do("POST", f"user_groups/{groups[0]}/members", add=ids[1:2], delete=ids[:1])
    for change in ("add", "delete"):
        await owner.do("POST", f"user_groups/{groups[0]}/subgroups", **{change: groups[1:]})
    await owner.do("PATCH", f"user_groups/{groups[0]}", name="drinks")
    await owner.do("POST", f"user_groups/{groups[0]}/deactivate")


def test_the_app_rejects_what_it_cannot_read() -> None:
    event = {"id": 1, "type": "reaction", "op": "add", "user_id": 2, "emoji_name": "tea", "emoji_code": "1f375"}
    event |= {"reaction_type": "unicode_emoji", "message_id": 3, "user": {"user_id": 2, "email": "a@b"}}
    assert check_event(event) in EVENTS
    for wrong in ({"reaction_type": "service_extra_emoji"}, {"message_id": "3"}, {"user": None}, {"id": None}):
        with pytest.raises(Rejected):
            check_event(event | wrong)
