"""Web Push: who is told at their browser, of what, and who is not."""

import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.harness.bot_server import BotServer, Posted, bot_server
from tests.harness.push_service import Browser, check_signature
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, later
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually


@pytest.fixture
def service() -> Iterator[BotServer]:
    with bot_server() as server:
        server.answer = lambda _posted: (201, "text/plain", b"")
        yield server


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.member, realm.owner, realm.moderator, realm_id=realm.id)


def pushed(realm: Realm, browser: Browser, until: int) -> dict[int, str]:
    """Everything that was pushed up to a direct message that is: its id and why."""
    found: dict[int, str] = {}
    deadline = time.monotonic() + 20
    while until not in found or waiting(realm):
        assert time.monotonic() < deadline, f"only {found}"
        if not browser.service.posted.empty() or until not in found:
            payload = browser.next().payload
            found[payload["message_id"]] = payload["trigger"]
        else:
            time.sleep(0.05)
    while not browser.service.posted.empty():
        payload = browser.next().payload
        found[payload["message_id"]] = payload["trigger"]
    return {message_id: trigger for message_id, trigger in found.items() if message_id != until}


def waiting(realm: Realm) -> int:
    sql = """
    select count(*) from message left join push_due on push_due.message_id = message.id
    left join push_call on push_call.message_id = message.id
    where realm_id = %s and (push_due.message_id is not null or push_call.message_id is not null)
    """
    [(count,)] = realm.stage.sql(sql, realm.id)
    assert isinstance(count, int)
    return count


def settle(realm: Realm) -> None:
    """Wait until everything so far is decided and sent."""
    eventually(lambda: not waiting(realm))


def test_a_direct_message_is_pushed_and_only_the_browser_reads_it(realm: Realm, service: BotServer) -> None:
    browser = Browser(service, "/push/one?x=1").subscribe(realm.member)
    sent = realm.owner.send([realm.member.id], content="Tea is *ready*")
    found = browser.next()
    [(name,)] = realm.stage.sql("select full_name from account where id = %s", realm.owner.id)
    payload = found.payload
    assert abs(payload.pop("timestamp") - time.time()) < 60
    address = payload.pop("realm_url")
    assert urlsplit(address).hostname == realm.host
    assert payload.pop("words")["reply"] == "Reply"
    place = f"#narrow/dm/{realm.owner.id}"
    # What a browser shows that knows declarative pushes, even without our service worker.
    assert (payload.pop("web_push"), payload.pop("mutable")) == (8030, True)
    assert payload.pop("notification") == {
        "title": name,
        "navigate": f"{address}/{place}/near/{sent}",
        "body": "Tea is ready",
        "tag": place,
        "lang": "en",
        "data": {"url": f"{place}/near/{sent}", "userId": realm.member.id, "messageId": sent},
    }
    assert payload == {
        "type": "message",
        "message_id": sent,
        "trigger": "direct_message",
        "user_id": realm.member.id,
        "sender_id": realm.owner.id,
        "sender_full_name": name,
        "icon": f"/avatar/{realm.owner.id}",
        "url": f"#narrow/dm/{realm.owner.id}/near/{sent}",
        "tag": f"#narrow/dm/{realm.owner.id}",
        "channel_id": None,
        "channel": None,
        "topic": None,
        "content": "Tea is ready",
    }
    key = realm.member.get("users/me/push_subscriptions/key")["public_key"]
    claims = check_signature(found.headers["authorization"], key)
    assert (claims["aud"], claims["sub"][:7]) == (service.url, "mailto:")
    assert 0 < claims["exp"] - time.time() < 86_400
    assert (found.headers["ttl"], found.headers["urgency"]) == ("86400", "high")


def test_a_mention_is_pushed_with_its_place(realm: Realm, channel: Channel, service: BotServer) -> None:
    browser = Browser(service).subscribe(realm.member)
    sent = realm.owner.send(channel.stream_id, "tea & cake", f"@**|{realm.member.id}** " + "é" * 5000)
    payload = browser.next().payload
    assert (payload["message_id"], payload["trigger"]) == (sent, "mentioned")
    assert (payload["channel"], payload["topic"]) == (channel.name, "tea & cake")
    slug = f"{channel.stream_id}-{channel.name.replace(' ', '-')}"
    assert payload["url"] == f"#narrow/channel/{slug}/topic/tea.20.26.20cake/near/{sent}"
    assert len(payload["content"]) == 300


def test_a_push_whose_names_are_long_says_nothing_twice(realm: Realm, stage: Stage, service: BotServer) -> None:
    topic = "\N{HOURGLASS WITH FLOWING SAND}" * 60
    channel = stage.channel(realm.member, realm.owner, realm_id=realm.id)
    browser = Browser(service).subscribe(realm.member)
    realm.owner.send(channel.stream_id, topic, f"@**|{realm.member.id}** " + "é" * 5000)
    payload = browser.next().payload
    assert (payload["topic"], "notification" in payload) == (topic, False)
    assert len(payload["content"]) == 300


def test_somebody_tries_out_their_own_browser_and_no_other(realm: Realm, service: BotServer) -> None:
    browser = Browser(service).subscribe(realm.member)
    check_success(realm.member.request("PATCH", "settings", default_language="es"))
    path = "users/me/push_subscriptions/test"
    realm.member.post(path, endpoint=browser.endpoint)
    payload = browser.next().payload
    assert (payload["type"], payload["notification"]["title"]) == ("test", "Funciona")
    assert "no such push subscription" in check_error(realm.owner.request("POST", path, endpoint=browser.endpoint))
    service.answer = lambda _posted: (403, "text/plain", b"")
    check_error(realm.member.request("POST", path, endpoint=browser.endpoint), "PUSH_NOT_TAKEN")
    service.answer = lambda _posted: (410, "text/plain", b"")
    realm.member.request("POST", path, endpoint=browser.endpoint)
    assert realm.member.get("users/me/push_subscriptions")["subscriptions"] == []


def test_an_app_with_a_unifiedpush_distributor_is_pushed_to_like_a_browser(realm: Realm, service: BotServer) -> None:
    """What its specification asks of a sender: addresses of 1,000 bytes, RFC 8291 in 4,096 bytes, VAPID, an urgency."""
    path = "/up" + "x" * (1000 - len(service.url) - len("/up?up=1")) + "?up=1"
    app = Browser(service, path).subscribe(realm.member)  # by an API key, as apps do
    assert len(app.endpoint) == 1000
    sent = realm.owner.send([realm.member.id], content="\N{HOURGLASS WITH FLOWING SAND}" * 5000)
    posted = service.next()
    assert posted.path == path
    assert 0 < len(posted.body) <= 4096
    found = app.read(posted)
    assert (found.payload["message_id"], found.payload["type"]) == (sent, "message")
    check_signature(found.headers["authorization"], realm.member.get("users/me/push_subscriptions/key")["public_key"])
    assert (found.headers["urgency"], found.headers["ttl"].isdecimal()) == ("high", True)


def test_a_push_reads_as_the_message_does_and_tells_no_spoilers(realm: Realm, service: BotServer) -> None:
    browser = Browser(service).subscribe(realm.member)
    content = (
        "Look, **you**: :tada: $$x^2$$\n\n* <one>\n* two\n\n```spoiler The *end*\nthe cat did $$it$$\n```\nas I said"
    )
    realm.owner.send([realm.member.id], content=content)
    assert browser.next().payload["content"] == "Look, you: 🎉 x^2 <one> two The end (…) as I said"


@pytest.mark.slow
def test_settings_say_what_is_pushed(realm: Realm, channel: Channel, service: BotServer) -> None:
    me, other, place = realm.member, realm.owner, channel.stream_id
    browser = Browser(service).subscribe(me)
    expected: dict[int, str] = {}

    def say(text: str, reason: str | None, topic: str = "tea") -> None:
        sent = other.send(place, topic, text)
        if reason:
            expected[sent] = reason

    def subscribe(**properties: object) -> None:
        settle(realm)
        changes = [{"stream_id": place, "property": name, "value": value} for name, value in properties.items()]
        me.post("users/me/subscriptions/properties", subscription_data=changes)

    def policy(topic: str, number: int) -> None:
        settle(realm)
        me.post("user_topics", stream_id=place, topic=topic, visibility_policy=number)

    def settings(**changes: bool) -> None:
        settle(realm)
        check_success(me.request("PATCH", "settings", **changes))

    mention = f"@**|{me.id}**"
    say("nothing", None)
    say("@**all**", "stream_wildcard_mentioned")
    say("@**topic**", None)  # the member takes no part in it
    subscribe(push_notifications=True)
    say("all of it", "stream_push")
    policy("tea", 1)
    say("a muted topic", None)
    say("@**all** in a muted topic", None)
    say(f"{mention} nevertheless", "mentioned")
    policy("tea", 0)
    subscribe(is_muted=True, push_notifications=False)
    say("a muted channel", None)
    policy("cake", 3)
    say("a followed topic", "followed_topic", "cake")
    settings(enable_followed_topic_push_notifications=False)
    say("a followed topic, quietly", None, "cake")
    say("@**all** in a followed topic", "stream_wildcard_mentioned", "cake")
    settings(enable_offline_push_notifications=False)
    say(f"{mention} unwanted", None)
    other.send([me.id], content="unwanted")
    settings(enable_offline_push_notifications=True)
    mark = other.send([me.id], content="mark")
    assert pushed(realm, browser, mark) == expected


def test_a_mention_of_ones_group_and_of_ones_topic_is_pushed(
    realm: Realm, channel: Channel, service: BotServer
) -> None:
    me, other = realm.member, realm.owner
    browser = Browser(service).subscribe(me)
    group = other.post("user_groups/create", name="crew", description="", members=[me.id])
    assert group["group_id"]
    policy = {"stream_id": channel.stream_id, "topic": "tea", "visibility_policy": 0}
    me.send(channel.stream_id, "tea", "I take part")
    me.post("user_topics", **policy)
    expected = {
        other.send(channel.stream_id, "cake", "@*crew*"): "mentioned",
        other.send(channel.stream_id, "tea", "@**topic**"): "topic_wildcard_mentioned",
    }
    other.send(channel.stream_id, "cake", "@**topic**")
    mark = other.send([me.id], content="mark")
    assert pushed(realm, browser, mark) == expected


def test_the_text_of_direct_messages_can_be_kept_from_the_screen(realm: Realm, service: BotServer) -> None:
    browser = Browser(service).subscribe(realm.member)
    check_success(realm.member.request("PATCH", "settings", pm_content_in_desktop_notifications=False))
    realm.owner.send([realm.member.id], content="secret")
    assert browser.next().payload["content"] is None


@pytest.mark.slow
def test_nobody_is_told_who_is_active_has_read_it_or_muted_the_sender(realm: Realm, service: BotServer) -> None:
    me, other = realm.member, realm.owner
    browser = Browser(service).subscribe(me)
    me.send([me.id], content="to oneself")
    me.post("users/me/presence", status="active", new_user_input=True, ping_only=True)
    other.send([me.id], content="I see you")
    settle(realm)
    realm.stage.sql("update presence set active_at = now() - interval '4 minutes' where user_id = %s", me.id)
    me.post(f"users/me/muted_users/{realm.moderator.id}")
    realm.moderator.send([me.id], content="muted")
    mark = other.send([me.id], content="mark")
    assert pushed(realm, browser, mark) == {}
    # Read at another place before a push that had failed is tried again.
    service.answer = lambda _posted: (503, "text/plain", b"")
    read = other.send([me.id], content="read elsewhere")
    service.next()
    me.post("messages/flags", messages=[read], op="add", flag="read")
    service.answer = lambda _posted: (201, "text/plain", b"")
    later = other.send([me.id], content="mark")
    assert pushed(realm, browser, later) == {}


def fail_once(service: BotServer) -> None:
    """The next push is tried again after two seconds."""

    def answer(_posted: Posted) -> tuple[int, str, bytes]:
        service.answer = lambda _posted: (201, "text/plain", b"")
        return (503, "text/plain", b"")

    service.answer = answer


def test_whoever_was_removed_meanwhile_is_told_nothing(realm: Realm, stage: Stage, service: BotServer) -> None:
    me, other = realm.member, realm.owner
    channel = stage.channel(me, other, realm_id=realm.id, invite_only=True)
    browser = Browser(service).subscribe(me)
    fail_once(service)
    sent = other.send(channel.stream_id, "tea", f"@**|{me.id}** come")
    assert browser.next().payload["message_id"] == sent
    other.delete("users/me/subscriptions", subscriptions=[channel.name], principals=[me.id])
    check_success(other.request("PATCH", f"messages/{sent}", content="They are gone"))
    settle(realm)
    assert service.posted.empty()


def test_a_guest_is_not_told_who_somebody_out_of_sight_is(realm: Realm, stage: Stage, service: BotServer) -> None:
    [(members,)] = stage.sql("select id from user_group where realm_id = %s and name = 'role:members'", realm.id)
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group={"new": members}))
    channel = stage.channel(realm.guest, realm.member, realm_id=realm.id)
    browser = Browser(service).subscribe(realm.guest)

    def told(sender: Speaker, to: int | list[int]) -> tuple[str, str]:
        sender.send(to, "tea" if isinstance(to, int) else None, f"@**|{realm.guest.id}**")
        payload = browser.next().payload
        assert payload["sender_id"] == sender.id
        return payload["sender_full_name"], payload["icon"]

    def known(sender: Speaker) -> tuple[str, str]:
        [(name,)] = stage.sql("select full_name from account where id = %s", sender.id)
        return name, f"/avatar/{sender.id}"

    assert told(realm.owner, channel.stream_id) == ("Unknown user", "/avatar/0?v=1")
    assert told(realm.member, channel.stream_id) == known(realm.member)
    bot = realm.bot(realm.member)
    assert told(bot, channel.stream_id) == known(bot)
    assert told(realm.owner, [realm.guest.id]) == known(realm.owner)
    assert told(realm.owner, channel.stream_id) == known(realm.owner)


@pytest.mark.timed
def test_deciding_takes_nothing_of_a_message_that_is_being_deleted(realm: Realm, service: BotServer) -> None:
    Browser(service).subscribe(realm.member)
    sent = realm.owner.send([realm.member.id], content="soon gone")
    service.next()
    settle(realm)
    holds = threading.Event()

    def hold() -> None:
        with realm.stage.session() as execute:
            execute("select from message where id = %s for update", sent)
            holds.set()
            time.sleep(1)  # the worker looks four times a second
            with realm.stage.session() as other:
                assert other("select 1 from push_due where message_id = %s for update nowait", sent) == [(1,)]

    with realm.stage.session() as execute:
        execute("insert into push_due values (%s)", sent)  # holds the message until the commit
        deleting = later(hold)
        time.sleep(0.3)
    assert holds.wait(10)
    deleting.result(20)
    settle(realm)


@pytest.mark.slow
def test_a_push_service_that_fails_is_tried_again_and_one_that_knows_nobody_is_forgotten(
    realm: Realm, service: BotServer
) -> None:
    me, other = realm.member, realm.owner
    browser = Browser(service).subscribe(me)
    service.answer = lambda _posted: (503, "text/plain", b"")
    sent = other.send([me.id], content="once more")
    service.next()
    service.answer = lambda _posted: (201, "text/plain", b"")
    assert browser.next().payload["message_id"] == sent
    service.answer = lambda _posted: (410, "text/plain", b"")
    other.send([me.id], content="gone")
    service.next()
    eventually(lambda: not me.get("users/me/push_subscriptions")["subscriptions"])


def test_a_push_service_that_never_takes_anything_is_forgotten_after_days(realm: Realm, service: BotServer) -> None:
    me, other = realm.member, realm.owner
    Browser(service).subscribe(me)

    def say(status: int) -> list[tuple[object, ...]]:
        """What is known of the browser after a push that was answered like this."""
        service.answer = lambda _posted: (status, "text/plain", b"")
        other.send([me.id], content="do you hear?")
        service.next()
        settle(realm)
        return realm.stage.sql("select failures from push_subscription where user_id = %s", me.id)

    def age(failures: int, days: int) -> None:
        sql = "update push_subscription set failures = %s, failing_since = now() - make_interval(days => %s)"
        realm.stage.sql(f"{sql} where user_id = %s", failures, days, me.id)

    assert say(403) == [(1,)]
    age(50, 1)
    assert say(403) == [(51,)]  # an outage of a day
    age(3, 30)
    assert say(400) == [(4,)]  # hardly anything was said
    assert say(201) == [(0,)]
    age(9, 3)
    assert say(403) == []
    assert me.get("users/me/push_subscriptions")["subscriptions"] == []


def test_failures_of_one_browser_at_once_wait_in_the_order_in_which_it_is_forgotten(
    realm: Realm, service: BotServer
) -> None:
    me, stage = realm.member, realm.stage
    Browser(service).subscribe(me)
    service.answer = lambda _posted: (403, "text/plain", b"")
    almost = "update push_subscription set failures = 9, failing_since = now() - interval '3 days' where user_id = %s"
    stage.sql(almost, me.id)
    waiters = """
    select count(*) from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%%update push_subscription set failures = failures + 1%%'
    """
    with stage.session() as execute:
        execute("select from push_subscription where user_id = %s for no key update", me.id)
        sent = [realm.owner.send([me.id], content="do you hear?") for _ in range(2)]
        eventually(lambda: stage.sql(waiters) == [(2,)])
        # Nobody who waits for the browser holds a push, which whoever forgets the browser is about to delete.
        calls = execute("select message_id from push_call where message_id = any(%s) for update nowait", sent)
        assert sorted(calls) == [(message_id,) for message_id in sent]
    settle(realm)
    assert me.get("users/me/push_subscriptions")["subscriptions"] == []


@pytest.mark.slow
@pytest.mark.timed
def test_somebody_with_a_slow_push_service_does_not_hold_up_the_others(realm: Realm, service: BotServer) -> None:
    over = threading.Event()

    def answer(_posted: Posted) -> tuple[int, str, bytes]:
        over.wait(9)
        return (201, "text/plain", b"")

    with bot_server() as slow:
        slow.answer = answer
        for number in range(20):
            Browser(slow, f"/push/{number}").subscribe(realm.member)
        browser = Browser(service).subscribe(realm.moderator)
        for _ in range(4):
            realm.owner.send([realm.member.id], content="much to tell")
        time.sleep(2)
        try:
            sent = realm.owner.send([realm.moderator.id], content="and you?")
            began = time.monotonic()
            assert browser.next().payload["message_id"] == sent
            assert time.monotonic() - began < 4
        finally:
            over.set()
        settle(realm)


def test_a_subscription_is_the_last_ones_and_ends_with_the_login(realm: Realm, service: BotServer) -> None:
    browser = Browser(service).subscribe(realm.member)
    [own] = realm.member.get("users/me/push_subscriptions")["subscriptions"]
    assert (own["service"], own["is_current"]) == (urlsplit(service.url).netloc, True)
    browser.subscribe(realm.moderator)
    assert realm.member.get("users/me/push_subscriptions")["subscriptions"] == []
    check_error(realm.member.request("DELETE", "users/me/push_subscriptions", endpoint=browser.endpoint))
    realm.moderator.delete("users/me/push_subscriptions", endpoint=browser.endpoint)
    browser.subscribe(realm.moderator)
    realm.moderator.post("users/me/api_key/regenerate")
    assert realm.stage.sql("select id from push_subscription where user_id = %s", realm.moderator.id) == []


def test_only_the_newest_subscriptions_count(realm: Realm, service: BotServer) -> None:
    for number in range(22):
        Browser(service, f"/push/{number}").subscribe(realm.member)
    assert len(realm.member.get("users/me/push_subscriptions")["subscriptions"]) == 20


def test_what_is_no_subscription_is_refused(realm: Realm, service: BotServer) -> None:
    good = Browser(service).fields
    wrong: list[Json] = [
        {"endpoint": "ftp://push.example.com/"},
        {"endpoint": "https://"},
        {"endpoint": "https://u:p@push.example.com/"},
        {"endpoint": "https://push.example.com/" + "x" * 2000},
        {"endpoint": "https://push.example.com/a b"},
        {"p256dh": "!"},
        {"p256dh": good["auth"]},
        {"p256dh": "B" + "A" * 86},
        {"auth": "AAAA"},
    ]
    for bad in wrong:
        check_error(realm.member.request("POST", "users/me/push_subscriptions", **(good | bad)))


def test_a_realm_without_subscriptions_writes_nothing_down(realm: Realm, channel: Channel, service: BotServer) -> None:
    def noted() -> bool:
        [(found,)] = realm.stage.sql("select settings ? '_pushes' from realm where id = %s", realm.id)
        return bool(found)

    assert not noted()
    Browser(service).subscribe(realm.member)
    assert noted()


def test_an_edit_pushes_to_whom_it_mentions_besides_and_takes_a_mention_back(
    realm: Realm, channel: Channel, service: BotServer
) -> None:
    me = realm.member
    check_success(me.request("PATCH", "settings", automatically_follow_topics_where_mentioned=False))
    browser = Browser(service).subscribe(me)
    sent = realm.owner.send(channel.stream_id, "tea", "tea")
    settle(realm)
    edit = {"content": f"tea, @**|{me.id}**"}
    check_success(realm.owner.request("PATCH", f"messages/{sent}", **edit))
    payload = browser.next().payload
    assert (payload["message_id"], payload["trigger"]) == (sent, "mentioned")
    service.answer = lambda _posted: (503, "text/plain", b"")
    unsaid = realm.owner.send(channel.stream_id, "tea", f"@**|{me.id}** cake")
    assert browser.next().payload["message_id"] == unsaid
    check_success(realm.owner.request("PATCH", f"messages/{unsaid}", content="cake"))
    settle(realm)
    assert service.posted.empty()  # it was not tried again
