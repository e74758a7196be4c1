"""Files and the messages that link them: what owners are told, what narrows find, what is swept."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tertulia.content.storage import Store
from tertulia.files.uploads.queries import files_of, within_reach
from tertulia.files.uploads.sweeping.actions import forget_unused, sweep_objects
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.postgres import Limits
from tertulia.kernel.settings import Settings
from tests.harness.channels import make
from tests.harness.files import fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_success, eventually


def _heard(queue: Queue) -> list[Json]:
    return [event for event in queue.so_far() if event["type"] == "attachment"]


def _applied(state: list[Json], events: list[Json]) -> list[Json]:
    """What a client makes of events."""
    found = {one["id"]: one for one in state}
    for event in events:
        if event["op"] == "remove":
            del found[event["attachment"]["id"]]
        else:
            assert (event["op"] == "add") == (event["attachment"]["id"] not in found)
            found[event["attachment"]["id"]] = event["attachment"]
    return [found[key] for key in sorted(found)]


def test_events_keep_the_list_of_one_s_files_exact(realm: Realm) -> None:
    member, other = realm.member, realm.owner
    channel = make(realm, member, other)
    first = upload(member, "first.txt")
    state = member.get("attachments")["attachments"]
    with (
        Queue(member, event_types=["attachment", "message"], fetch_event_types=[]) as queue,
        Queue(other, event_types=["attachment", "message"], fetch_event_types=[]) as stranger,
    ):
        second = upload(member, "second.txt")
        one = member.send(channel.stream_id, "topic", f"[a]({first}) [b]({second})")
        two = other.send([member.id], content=f"[passed on]({first})")
        check_success(member.request("PATCH", f"messages/{one}", content=f"[only]({second})"))
        check_success(member.request("PATCH", f"messages/{one}", content=f"[only]({second}) and more"))
        check_success(realm.owner.request("DELETE", f"messages/{two}"))
        third = upload(member, "third.txt")
        member.delete(f"attachments/{member.get('attachments')['attachments'][0]['id']}")
        events = _heard(queue)
        now = member.get("attachments")
        assert _applied(state, events) == now["attachments"]
        assert [event["op"] for event in events] == ["add", *["update"] * 5, "add", "remove"]
        assert events[-1]["upload_space_used"] == now["upload_space_used"]
        assert [one["message_ids"] for one in now["attachments"]] == [[one], []]
        assert third.endswith("third.txt")
        assert _heard(stranger) == []


def test_many_who_link_a_file_at_once_are_all_told_of(realm: Realm) -> None:
    people = [realm.member, *(realm.speaker() for _ in range(5))]
    channels = [make(realm, *people) for _ in people]
    url = upload(realm.member)
    realm.member.send(channels[0].stream_id, "topic", f"[for all]({url})")
    state = realm.member.get("attachments")["attachments"]
    start = threading.Barrier(len(people))

    def link(index: int) -> int:
        start.wait()
        return people[index].send(channels[index].stream_id, "topic", f"[file]({url})")

    with Queue(realm.member, event_types=["attachment", "message"], fetch_event_types=[]) as queue:
        with ThreadPoolExecutor(len(people)) as pool:
            sent = set(pool.map(link, range(len(people))))
        assert _applied(state, _heard(queue)) == realm.member.get("attachments")["attachments"]
    assert sent < set(realm.member.get("attachments")["attachments"][0]["message_ids"])


def test_narrows_find_files(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = upload(realm.member, "räv.txt")
    linked = realm.member.send(channel.stream_id, "topic", f"[räv.txt]({url})")
    realm.owner.send(channel.stream_id, "topic", f"[no file](/user_uploads/{realm.id}/ab/none/x.txt)")
    absolute = realm.member.send(channel.stream_id, "topic", f"http://{realm.host}{url}")
    assert _found(realm.owner, "attachment") == [linked]
    assert linked in _found(realm.owner, "link")
    assert absolute not in _found(realm.owner, "attachment")  # another port than the realm's own
    check_success(realm.member.request("PATCH", f"messages/{linked}", content="gone"))
    assert _found(realm.owner, "attachment") == []


@pytest.mark.timed
def test_a_scheduled_message_links_its_file_when_it_is_sent(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = upload(realm.member)
    with Queue(realm.member, event_types=["attachment"], fetch_event_types=[]) as queue:
        soon = int(time.time()) + 2
        realm.member.post(
            "scheduled_messages",
            type="channel",
            to=channel.stream_id,
            topic="topic",
            content=f"[later]({url})",
            scheduled_delivery_timestamp=soon,
        )
        assert fetch(realm.owner, url).status_code == 404
        [event] = queue.until(lambda event: event["type"] == "attachment")
    [message] = event["attachment"]["message_ids"]
    assert realm.owner.message(message)["content"].startswith("<p><a")
    assert fetch(realm.owner, url).status_code == 200


def test_files_that_nothing_links_are_swept_after_a_time(realm: Realm) -> None:
    member = realm.member
    urls = {name: upload(member, f"{name}.txt") for name in ("old", "linked", "planned", "drafted", "left", "new")}
    channel = make(realm, member)
    member.send(channel.stream_id, "topic", f"[linked]({urls['linked']})")
    left = member.send(channel.stream_id, "topic", f"[left]({urls['left']})")
    far = int(time.time()) + 90 * 86_400
    text = {"to": channel.stream_id, "topic": "t", "content": f"[p]({urls['planned']})"}
    member.post("scheduled_messages", type="channel", scheduled_delivery_timestamp=far, **text)
    draft = {"type": "stream", "to": [channel.stream_id], "topic": "t", "content": f"[d]({urls['drafted']})"}
    member.post("drafts", drafts=[draft])
    realm.stage.sql(
        "update attachment set created_at = now() - interval '31 days' where owner_id = %s and name <> 'new.txt'",
        member.id,
    )
    check_success(member.request("DELETE", f"messages/{left}"))
    with Queue(member, event_types=["attachment"], fetch_event_types=[]) as queue:
        sweep_unused(realm.stage)
        removed = queue.until(lambda event: event["op"] == "remove")
    kept = {one["name"] for one in member.get("attachments")["attachments"]}
    assert kept == {"linked.txt", "planned.txt", "drafted.txt", "left.txt", "new.txt"}
    assert len(removed) == 1
    realm.stage.sql(
        "update attachment set unlinked_at = now() - interval '31 days' where name = 'left.txt' and owner_id = %s",
        member.id,
    )
    sweep_unused(realm.stage)
    assert "left.txt" not in {one["name"] for one in member.get("attachments")["attachments"]}


def test_files_and_drafts_of_one_person_by_the_hundred_stop_the_sweeping_of_nobody(realm: Realm) -> None:
    member = realm.member
    upload(realm.owner, "old.txt")
    realm.stage.sql(
        """
        insert into attachment (realm_id, owner_id, path_id, key, name, size, content_type)
        select realm_id, id, format('%%s/ab/%%s/a.txt', realm_id, secret), secret, 'a.txt', 1, 'text/plain'
        from account, generate_series(1, 500) as number, md5(format('%%s %%s', email, number)) as secret where id = %s
        """,
        member.id,
    )
    realm.stage.sql(
        """
        with named as (select string_agg(path_id, ' ') as paths from attachment where owner_id = %s)
        insert into draft (user_id, topic, content, edited_at)
        select %s, '', concat(repeat(md5(number::text), 300), case when number = 300 then paths end),
            now() + make_interval(secs => number)
        from named, generate_series(1, 300) as number
        """,
        *(member.id, member.id),
    )
    realm.stage.sql("update attachment set created_at = now() - interval '31 days' where realm_id = %s", realm.id)
    _run(realm.stage, lambda database: forget_unused(database, Settings()), Limits(statement=0.5))
    assert realm.owner.get("attachments")["attachments"] == []
    assert len(member.get("attachments")["attachments"]) == 500


def test_objects_of_nobody_are_deleted(realm: Realm) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files can be seen only where the server runs")
    url = upload(realm.member)
    [(key,)] = realm.stage.sql("select key from attachment where owner_id = %s", realm.member.id)
    assert (server.files / key).read_bytes() == b"content"
    _run(realm.stage, lambda database: sweep_objects(database, Store(Settings(storage_folder=str(server.files)))))
    assert (server.files / key).exists()
    [one] = realm.member.get("attachments")["attachments"]
    realm.member.delete(f"attachments/{one['id']}")
    assert fetch(realm.member, url).status_code == 404
    eventually(lambda: not (server.files / key).exists())


def test_of_the_messages_that_link_a_file_the_newest_are_told(realm: Realm) -> None:
    channel = make(realm, realm.member)
    url = upload(realm.member)
    first = realm.member.send(channel.stream_id, "topic", f"[file]({url})")
    sql = """
    with numbered as (update conversation set last_seq = last_seq + 120 where id = %s returning id, last_seq), sent as (
        insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
        select message.realm_id, message.conversation_id, numbered.last_seq - 120 + n, topic_id, sender_id, client, 'x', 'x'
        from numbered join message on message.conversation_id = numbered.id, generate_series(1, 120) as n
        where message.id = %s returning id
    )
    insert into attachment_link (message_id, attachment_id)
    select sent.id, attachment_id from sent, attachment_link where message_id = %s
    """
    realm.stage.sql(sql, channel.stream_id, first, first)
    with Queue(realm.member, event_types=["attachment"], fetch_event_types=[]) as queue:
        last = realm.member.send(channel.stream_id, "topic", f"[file]({url})")
        [event] = queue.until(lambda event: event["type"] == "attachment")
    told = event["attachment"]["message_ids"]
    assert (len(told), told[0], told) == (100, last, sorted(told, reverse=True))
    assert realm.member.get("attachments")["attachments"] == [event["attachment"]]


@pytest.mark.timed
def test_files_that_very_many_messages_link_elsewhere_keep_nobody_from_sending(realm: Realm) -> None:
    private, public = make(realm, realm.member, kind="shared"), make(realm, realm.member, realm.owner)
    paths = realm.stage.sql(
        """
        insert into attachment (realm_id, owner_id, path_id, key, name, size, content_type)
        select realm_id, id, format('%%s/ab/%%s/a.txt', realm_id, secret), secret, 'a.txt', 1, 'text/plain'
        from account, generate_series(1, 60) as number, substring(md5(format('%%s %%s', email, number)), 9) as secret
        where id = %s returning path_id
        """,
        realm.member.id,
    )
    realm.member.send(private.stream_id, "topic", "first")
    sql = """
    with sent as (
        insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
        select realm_id, conversation_id, seq + n, topic_id, sender_id, client, 'x', 'x'
        from message, generate_series(1, 1500) as n where conversation_id = %s returning id
    )
    insert into attachment_link (message_id, attachment_id) select sent.id, attachment.id from sent, attachment
    where owner_id = %s returning 1
    """
    realm.stage.sql(sql, private.stream_id, realm.member.id)
    text = " ".join(f"[a](/user_uploads/{path})" for [path] in paths)
    shown = realm.member.send(public.stream_id, "topic", text)
    found = realm.stage.sql(
        "select %s::bigint, attachment_id, message_id from attachment_link where message_id = %s", realm.owner.id, shown
    )
    assert len(found) == 60

    async def seconds_of(tx: Transaction) -> float:
        began = time.monotonic()
        assert None not in await within_reach(tx, found)
        return time.monotonic() - began

    assert realm.stage.write(seconds_of) < 0.2, "so long nobody sends"
    passed_on = realm.owner.send(public.stream_id, "topic", text)
    [(links,)] = realm.stage.sql("select count(*) from attachment_link where message_id = %s", passed_on)
    assert links == 60


def test_who_may_link_a_file_is_judged_by_what_shows_it_now(realm: Realm) -> None:
    channel, other = make(realm, realm.member, realm.owner, kind="shared"), make(realm, realm.member, realm.owner)
    text = f"[a]({upload(realm.member)})"
    shown = realm.member.send(channel.stream_id, "topic", text)
    besides = realm.member.send(other.stream_id, "topic", "nothing")
    unreadable = realm.member.send(make(realm, realm.member, kind="shared").stream_id, "topic", text)
    [(file, owner)] = realm.stage.sql("select id, owner_id from attachment where realm_id = %s", realm.id)
    reader = realm.owner.id

    def may(user_id: int, shown_by: int | None) -> bool:
        async def found(tx: Transaction) -> list[int | None]:
            return await within_reach(tx, [(user_id, file, shown_by)])

        return realm.stage.write(found) == [file]

    assert may(owner, None)
    assert may(reader, shown)
    for nothing in (None, besides, unreadable, 0):
        assert not may(reader, nothing), nothing
    check_success(realm.owner.request("DELETE", "users/me/subscriptions", subscriptions=[channel.name]))
    assert not may(reader, shown)


def test_who_sends_a_file_waits_for_nobody_who_uploads(realm: Realm) -> None:
    channel = make(realm, realm.member)
    url = upload(realm.member)
    with ThreadPoolExecutor(1) as pool, realm.stage.session() as execute:
        execute("select used from upload_space where realm_id = %s for update", realm.id)
        sent = pool.submit(realm.member.send, channel.stream_id, "topic", f"[file]({url})")
        sent.result(timeout=10)
    [one] = realm.member.get("attachments")["attachments"]
    assert one["message_ids"] == [sent.result()]


def test_an_object_that_cannot_be_deleted_holds_up_no_other(realm: Realm) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files can be seen only where the server runs")
    stuck, plain = f"uploads/{realm.id}/stuck", f"uploads/{realm.id}/plain"
    (server.files / stuck / "inside").mkdir(parents=True)
    (server.files / plain).write_bytes(b"x")
    sql = "insert into orphan_object (key, due) values (%s, now() - interval '1 day'), (%s, now())"
    realm.stage.sql(sql, stuck, plain)
    left = "select key, due > now() from orphan_object where key in (%s, %s)"
    eventually(lambda: realm.stage.sql(left, stuck, plain) == [(stuck, True)])
    assert not (server.files / plain).exists()
    realm.stage.sql("delete from orphan_object where key = %s", stuck)


def sweep_unused(stage: Stage) -> None:
    """Files that nothing has linked for a month."""
    _run(stage, lambda database: forget_unused(database, Settings()))


def _run(stage: Stage, work: Callable[[Database], Awaitable[int]], limits: Limits | None = None) -> None:
    """As the worker does now and then."""

    async def run() -> None:
        url = stage.server.postgres_url
        async with await Database.connect(url, shards=Settings().shards, size=1, limits=limits or Limits()) as database:
            while await work(database):
                pass

    asyncio.run(run())


def _found(speaker: Speaker, what: str) -> list[int]:
    narrow = [{"operator": "has", "operand": what}]
    return [message["id"] for message in speaker.window(before=100, narrow=narrow)["messages"]]


def test_a_list_of_very_many_files_keeps_nobody_waiting(realm: Realm) -> None:
    sql = """
    insert into attachment (realm_id, owner_id, path_id, key, name, size, content_type)
    select realm_id, id, 'very many ' || id || '/' || number, 'very many ' || id || '/' || number, 'a "b".txt', 1, 'x'
    from account, generate_series(1, 100000) as number where id = %s
    """
    realm.stage.sql(sql, realm.member.id)

    async def seconds_of(tx: Transaction) -> float:
        began = time.thread_time()
        await files_of(tx, realm.id, realm.member.id)
        return time.thread_time() - began

    assert realm.stage.write(seconds_of) < 0.3, "so long the event loop is nobody else's"
    listed = realm.member.get("attachments")["attachments"]
    assert (len(listed), listed[0]["name"], listed[0]["message_ids"]) == (100_000, 'a "b".txt', [])
    realm.stage.sql("delete from attachment where owner_id = %s", realm.member.id)
