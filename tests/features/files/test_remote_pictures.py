"""Pictures from elsewhere: the worker fetches each once, and readers get it from here."""

import asyncio
import io
import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from PIL import Image

from tertulia.files.remote_pictures import queries
from tertulia.files.remote_pictures.forgetting import forget_unshown
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tests.harness.channels import make
from tests.harness.files import fetch, upload
from tests.harness.picture_server import PictureServer, picture, picture_server
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Queue, Speaker, check_success, eventually

SOURCE = re.compile(r'src="([^"]*)"')
OURS = re.compile(r"/external_content/\d+/[0-9a-f]{64}(/840x560(-anim)?\.webp)?")


@pytest.fixture
def elsewhere() -> Iterator[PictureServer]:
    with picture_server() as server:
        yield server


def sources(speaker: Speaker, message_id: int) -> list[str]:
    """What a reader's browser loads by itself."""
    return SOURCE.findall(str(speaker.message(message_id)["content"]))


def settled(speaker: Speaker, message_id: int) -> str:
    """The message, once it is clear what its pictures are."""
    eventually(lambda: "placeholder" not in speaker.message(message_id)["content"], 40)
    return str(speaker.message(message_id)["content"])


def test_a_hundred_readers_are_one_request_by_the_worker(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = elsewhere.show("/cat.png")
    message = realm.member.send(channel.stream_id, "topic", f"look: {url}")
    [first] = sources(realm.owner, message)
    assert OURS.fullmatch(first), first
    assert "image-loading-placeholder" in realm.owner.message(message)["content"] or elsewhere.counted
    html = settled(realm.owner, message)
    [source] = SOURCE.findall(html)
    assert source == f"{first.removesuffix('/840x560.webp')}/840x560.webp"
    readers = [*realm.all, realm.stage.nobody(host=realm.host)] * 17
    with ThreadPoolExecutor(10) as threads:
        replies = list(threads.map(lambda reader: fetch(reader, source), readers))
    assert {(reply.status_code, reply.headers["content-type"]) for reply in replies} == {(200, "image/webp")}
    shown = replies[0]
    assert Image.open(io.BytesIO(shown.content)).size == (840, 473)
    assert elsewhere.counted == {"/cat.png": 1}
    [asked] = elsewhere.asked
    assert asked.headers["user-agent"].startswith("Tertulia/")
    assert not {"cookie", "authorization", "referer", "x-forwarded-for"} & asked.headers.keys()
    assert html == (
        f'<p>look: <a href="{url}">{url}</a></p>\n<div class="message_inline_image"><a href="{url}">'
        f'<img data-original-content-type="image/png" data-original-dimensions="1600x900" src="{source}"></a></div>'
    )
    # The address by which the message was first told shows it, too.
    assert fetch(realm.owner, first).content == shown.content


def test_sending_does_not_wait_and_the_address_shows_a_sign_of_waiting(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = elsewhere.hold("/slow.png")
    with Queue(realm.owner, event_types=["message", "update_message"], apply_markdown=True) as queue:
        message = realm.member.send(channel.stream_id, "topic", url)
        [told] = SOURCE.findall(queue.until(lambda event: event["type"] == "message")[-1]["message"]["content"])
        eventually(lambda: elsewhere.counted["/slow.png"])
        waiting = fetch(realm.owner, told)
        assert (waiting.headers["content-type"], waiting.headers["cache-control"]) == ("image/svg+xml", "no-store")
        assert fetch(realm.owner, f"{told}/840x560.webp").status_code == 404
        elsewhere.let_go()
        event = queue.until(lambda event: event["type"] == "update_message")[-1]
    assert (event["rendering_only"], event["user_id"], event["message_id"]) == (True, None, message)
    assert SOURCE.findall(event["rendered_content"]) == [f"{told}/840x560.webp"]
    assert "last_edit_timestamp" not in realm.owner.message(message)
    assert sources(realm.owner, message) == [f"{told}/840x560.webp"]
    nobody = realm.stage.nobody(host=realm.host)
    assert fetch(nobody, f"{told}/840x560.webp").headers["content-type"] == "image/webp"


def test_one_request_however_many_messages_name_a_picture_and_one_for_each_organization(
    realm: Realm, stage: Stage, elsewhere: PictureServer
) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = elsewhere.show("/much.png")
    messages = [realm.member.send(channel.stream_id, "topic", f"{number} {url}") for number in range(5)]
    messages += [realm.member.send([realm.owner.id], content=url)]
    shown = {tuple(SOURCE.findall(settled(realm.owner, message))) for message in messages}
    assert len(shown) == 1
    assert elsewhere.counted == {"/much.png": 1}
    later = realm.owner.send(channel.stream_id, "topic", url)
    assert {tuple(SOURCE.findall(settled(realm.owner, later)))} == shown
    assert elsewhere.counted == {"/much.png": 1}
    other = Realm(stage)
    there = make(other, other.member)
    [theirs] = SOURCE.findall(settled(other.member, other.member.send(there.stream_id, "topic", url)))
    assert elsewhere.counted == {"/much.png": 2}
    [[ours]] = shown
    assert ours.split("/")[3] != theirs.split("/")[3]
    # An address with another organization's number is nobody's.
    nothing = fetch(realm.owner, f"/external_content/{realm.id}/{'0' * 64}")
    for address in (ours.replace(f"/{realm.id}/", f"/{other.id}/"), f"/external_content/{realm.id}/{'f' * 64}"):
        reply = fetch(realm.owner, address)
        assert (reply.status_code, reply.content) == (404, nothing.content)


def test_a_picture_that_moves_keeps_moving(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    url = elsewhere.show("/wave.gif", picture(300, 200, "GIF", frames=4), "image/gif")
    html = settled(realm.member, realm.member.send(channel.stream_id, "topic", url))
    assert 'data-animated="true" data-original-content-type="image/gif" data-original-dimensions="300x200"' in html
    [source] = SOURCE.findall(html)
    assert source.endswith("/840x560-anim.webp")
    moving = Image.open(io.BytesIO(fetch(realm.member, source).content))
    assert (moving.size, getattr(moving, "n_frames", 1)) == ((300, 200), 4)
    assert fetch(realm.member, source.replace("-anim", "")).status_code == 200


def test_what_is_no_picture_is_a_link(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member, realm.owner)
    elsewhere.show("/large.bin", b"\x89PNG\r\n\x1a\n" + b"\0" * (11 * 1024 * 1024))
    bad = {
        "/missing.png": elsewhere.url + "/missing.png",
        "/page.png": elsewhere.show("/page.png", b"<html>", "text/html"),
        "/drawn.png": elsewhere.show("/drawn.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        "/broken.png": elsewhere.show("/broken.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50),
        "/large.png": elsewhere.redirect("/large.png", "/large.bin"),
        "/inside.png": elsewhere.redirect("/inside.png", "http://10.0.0.1/secret.png"),
        "/disk.png": elsewhere.redirect("/disk.png", "file:///etc/hostname"),
        "/round.png": elsewhere.redirect("/round.png", "/round.png"),
        "/crooked.png": elsewhere.redirect("/crooked.png", "http://[x/y.png"),
        "/port.png": elsewhere.redirect("/port.png", "http://127.0.0.1:99999/y.png"),
    }
    message = realm.member.send(channel.stream_id, "topic", "\n\n".join(bad.values()))
    html = settled(realm.owner, message)
    assert html == "\n".join(f'<p><a href="{url}">{url}</a></p>' for url in bad.values())
    assert elsewhere.counted == {**dict.fromkeys(bad, 1), "/round.png": 4, "/large.bin": 1}
    has_image = [{"operator": "has", "operand": "image"}]
    assert realm.owner.window(before=5, narrow=has_image)["messages"] == []


def test_redirects_are_followed(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    elsewhere.show("/real")
    url = elsewhere.redirect("/short.png", elsewhere.url + "/real")
    assert "840x560.webp" in settled(realm.member, realm.member.send(channel.stream_id, "topic", url))


def test_a_server_in_trouble_is_asked_three_times(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    url = elsewhere.show("/later.png", b"come back", "text/plain", status=503)
    message = realm.member.send(channel.stream_id, "topic", url)
    put_off = "select 1 from remote_picture where url = %s and tries >= %s and due < now() + interval '1 minute'"
    for tries in (1, 2):
        eventually(partial(realm.stage.sql, put_off, url, tries), 40)
        assert "placeholder" in realm.member.message(message)["content"]
        realm.stage.sql("update remote_picture set due = now() where url = %s", url)
    assert settled(realm.member, message) == f'<p><a href="{url}">{url}</a></p>'
    assert elsewhere.counted == {"/later.png": 3}
    # Named again a moment later it is not asked for; after an hour it is.
    again = realm.member.send(channel.stream_id, "topic", url)
    assert settled(realm.member, again) == f'<p><a href="{url}">{url}</a></p>'
    assert elsewhere.counted == {"/later.png": 3}
    elsewhere.show("/later.png")
    realm.stage.sql("update remote_picture set settled_at = now() - interval '2 hours' where url = %s", url)
    assert "840x560.webp" in settled(realm.member, realm.member.send(channel.stream_id, "topic", url))


def test_an_edit_brings_its_pictures_and_the_history_keeps_those_of_before(
    realm: Realm, elsewhere: PictureServer
) -> None:
    channel = make(realm, realm.member, realm.owner)
    first, second = elsewhere.show("/first.png"), elsewhere.show("/second.png")
    message = realm.member.send(channel.stream_id, "topic", first)
    [before] = SOURCE.findall(settled(realm.owner, message))
    change(realm.member, f"messages/{message}", content=f"{second} and [film](https://a.example/film.mp4)")
    assert OURS.fullmatch(sources(realm.owner, message)[0])
    [after] = SOURCE.findall(settled(realm.owner, message))
    assert before != after
    history = realm.owner.get(f"messages/{message}/history")["message_history"]
    told = [source for one in history for source in SOURCE.findall(one["rendered_content"])]
    assert before in told
    assert all(OURS.fullmatch(source) for source in told)
    forget(realm)
    assert [fetch(realm.owner, source).status_code for source in (before, after)] == [200, 200]
    assert elsewhere.counted == {"/first.png": 1, "/second.png": 1}


def test_nothing_stays_of_a_picture_that_no_message_shows(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    url = elsewhere.show("/gone.png")
    one, two = (realm.member.send(channel.stream_id, "topic", url) for _ in range(2))
    [source] = SOURCE.findall(settled(realm.member, one))
    [(key,)] = realm.stage.sql("select key from remote_picture where url = %s", url)
    realm.member.delete(f"messages/{one}")
    forget(realm)
    assert fetch(realm.member, source).status_code == 200
    realm.member.delete(f"messages/{two}")
    forget(realm)
    assert fetch(realm.member, source).status_code == 404
    assert realm.stage.sql("select used from remote_picture_space where realm_id = %s", realm.id) == [(0,)]
    server = realm.stage.server
    if isinstance(server, OwnServer):
        eventually(lambda: not (server.files / f"{key}-840x560.webp").exists())


def test_pictures_that_came_first_make_room(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    shown = []
    for number in range(3):
        url = elsewhere.show(f"/{number}.png", picture(800 - 200 * number, 300))
        shown += SOURCE.findall(settled(realm.member, realm.member.send(channel.stream_id, "topic", url)))
        if number == 1:
            # The organization is full, but for one byte.
            most = Settings().remote_pictures_mib * 1024 * 1024
            realm.stage.sql("update remote_picture_space set used = %s where realm_id = %s", most - 1, realm.id)
    assert [fetch(realm.member, source).status_code for source in shown] == [404, 200, 200]


def test_room_is_made_by_whoever_has_named_most(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member, realm.owner)
    shown = []
    for number, speaker in enumerate((realm.owner, realm.member, realm.member, realm.member)):
        if number == 3:
            most = Settings().remote_pictures_mib * 1024 * 1024
            realm.stage.sql("update remote_picture_space set used = %s where realm_id = %s", most - 1, realm.id)
        url = elsewhere.show(f"/{number}.png", picture(800, 300))
        shown += SOURCE.findall(settled(speaker, speaker.send(channel.stream_id, "topic", url)))
    assert [fetch(realm.member, source).status_code for source in shown] == [200, 404, 200, 200]


def test_an_organization_has_so_many_pictures_waiting_and_no_more(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member)
    fill = """
    insert into remote_picture (realm_id, signature, url, due)
    select %s, lpad(to_hex(number), 64, '0'), 'http://127.0.0.1:1/', 'infinity' from generate_series(1, 1000) as number
    """
    realm.stage.sql(fill, realm.id)
    url = elsewhere.show("/late.png")
    assert settled(realm.member, realm.member.send(channel.stream_id, "topic", url)) == (
        f'<p><a href="{url}">{url}</a></p>'
    )
    assert not elsewhere.counted
    realm.stage.sql("delete from remote_picture where realm_id = %s", realm.id)


def test_one_person_does_not_keep_the_pictures_of_others_from_being_fetched(
    realm: Realm, elsewhere: PictureServer
) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = elsewhere.show("/mine.png")

    def name_many(numbers: range) -> None:
        """Nobody answers there: each is tried again later, and waits."""
        for number in numbers:
            text = "\n".join(f"http://127.0.0.1:1/{number}-{picture}.png" for picture in range(24))
            realm.member.send(channel.stream_id, "topic", text)

    name_many(range(6))
    # What is named by whoever has too many waiting is a link in their own message only.
    own = realm.member.send(channel.stream_id, "topic", url)
    name_many(range(6, 42))
    assert settled(realm.member, own) == f'<p><a href="{url}">{url}</a></p>'
    message = realm.owner.send(channel.stream_id, "topic", url)
    assert "/840x560.webp" in settled(realm.owner, message)
    assert elsewhere.counted["/mine.png"] == 1
    [(waiting,)] = realm.stage.sql("select count(*) from remote_picture where realm_id = %s and state = 0", realm.id)
    assert waiting < 100 + 24
    realm.stage.sql(
        "delete from remote_picture where realm_id = %s", realm.id
    )  # nobody else waits until they are given up


def test_messages_from_before_are_made_private(realm: Realm, elsewhere: PictureServer) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = elsewhere.show("/old.png")
    message = realm.member.send(channel.stream_id, "topic", "first")
    change(realm.member, f"messages/{message}", content="second")
    old = (
        f'<div class="message_inline_image"><a href="{url}"><img src="{url}"></a></div>\n'
        '<p><audio controls="" preload="metadata" src="https://a.example/x.mp3" title="song"></audio></p>'
    )
    sql = realm.stage.sql
    sql("update message set rendered = %s, has_image = true where id = %s", old, message)
    sql("update message_revision set prev_rendered = %s where message_id = %s", old, message)
    [(revision,)] = sql("select id from message_revision where message_id = %s", message)
    for part, id in (("message", message), ("message_revision", revision)):
        sql("insert into rendering_pass (part, last_id) values (%s, %s)", part, id - 1)
    eventually(lambda: not sql("select 1 from rendering_pass"), 60)
    html = settled(realm.owner, message)
    [source] = SOURCE.findall(html)
    assert source.endswith("/840x560.webp")
    assert html.endswith('<p>!<a href="https://a.example/x.mp3">song</a></p>')
    history = realm.owner.get(f"messages/{message}/history")["message_history"]
    assert source.removesuffix("/840x560.webp") in SOURCE.findall(history[0]["rendered_content"])
    assert elsewhere.counted == {"/old.png": 1}


def test_messages_that_are_sent_at_once_name_the_same_pictures(realm: Realm, elsewhere: PictureServer) -> None:
    channels = [make(realm, realm.member, realm.owner) for _ in range(3)]
    urls = [elsewhere.show(f"/{number}.png", picture(60, 40)) for number in range(4)]
    texts = [" ".join(urls[turn:] + urls[:turn]) for turn in range(4)]

    def send(number: int) -> int:
        return realm.all[number % 4].send(channels[number % 3].stream_id, "topic", texts[number % 4])

    with ThreadPoolExecutor(12) as threads:
        messages = list(threads.map(send, range(48)))
    for message in messages:
        assert settled(realm.owner, message).count("840x560.webp") == 4
    assert elsewhere.counted == {f"/{number}.png": 1 for number in range(4)}


def test_a_picture_that_comes_while_a_message_is_being_completed_is_shown_too(
    realm: Realm, elsewhere: PictureServer
) -> None:
    channel = make(realm, realm.member)
    first, second = elsewhere.hold("/first.png"), elsewhere.hold("/second.png")
    own = upload(realm.member, "own.png", picture(60, 40))
    sql = realm.stage.sql
    message = realm.member.send(channel.stream_id, "topic", f"[own]({own}) {first} {second}")
    eventually(lambda: not sql("select 1 from attachment_link where message_id = %s and is_waiting", message))
    with realm.stage.session() as holder:
        holder("select from attachment_link where message_id = %s for update", message)
        elsewhere.let_go("/first.png")
        waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like %s"
        eventually(lambda: sql(waits, "%update attachment_link%"))  # the worker completes the message with the first
        elsewhere.let_go("/second.png")
        eventually(lambda: sql("select 1 from remote_picture where url = %s and state = 1", second))
    assert settled(realm.member, message).count("840x560.webp") == 3


def test_a_message_that_comes_while_its_picture_is_being_forgotten_has_it_fetched_again(
    realm: Realm, elsewhere: PictureServer
) -> None:
    channel = make(realm, realm.member)
    url = elsewhere.show("/back.png")
    message = realm.member.send(channel.stream_id, "topic", url)
    settled(realm.member, message)
    realm.member.delete(f"messages/{message}")
    realm.stage.sql("update remote_picture set check_due = now() where url = %s", url)

    async def forget_and_send() -> int:
        server = realm.stage.server
        async with (
            await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database,
            database.transaction() as tx,
        ):
            held = await queries.lock_to_check(tx, 1000)
            sending = realm.member.later(
                "POST", "messages", type="channel", to=channel.stream_id, topic="topic", content=url
            )
            waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%%remote_picture%%'"
            await asyncio.to_thread(eventually, lambda: realm.stage.sql(waits) or sending.done())
            assert not sending.done()
            await queries.delete_unused(tx, held, 24)
        return int(check_success(sending.result(30))["id"])

    again = asyncio.run(forget_and_send())
    assert "840x560.webp" in settled(realm.member, again)
    assert elsewhere.counted == {"/back.png": 2}


def test_nothing_that_a_text_becomes_has_a_source_elsewhere(realm: Realm) -> None:
    channel = make(realm, realm.member)
    text = "\n\n".join([
        "https://a.example/x.png", "https://a.example/x.mp4", "https://youtu.be/abcdefghijk",
        "![s](https://a.example/s.mp3)", "![s](//a.example/s.mp3)", "![p](https://a.example/p.png)",
    ])  # fmt: skip
    rendered = realm.member.post("messages/render", content=text)["rendered"]
    change(realm.administrator, f"streams/{channel.stream_id}", description=text.replace("\n", " "))
    described = [
        one["rendered_description"] for one in realm.member.get("streams")["streams"] if one["name"] == channel.name
    ]
    message = realm.member.send(channel.stream_id, "topic", text)
    for html in (rendered, *described, realm.member.message(message)["content"]):
        assert "a.example" in html
        assert [source for source in SOURCE.findall(html) if not source.startswith("/external_content/")] == []


def test_a_text_that_is_only_tried_names_no_picture_of_ours(realm: Realm) -> None:
    channel, url = make(realm, realm.owner), "https://a.example/secret-plan.png"
    sent = realm.owner.send(channel.stream_id, "topic", url)
    assert "/external_content/" in realm.owner.message(sent)["content"]
    own = realm.member.send([realm.member.id], content="Hello")
    later = int(time.time()) + 3600
    realm.member.post("reminders", message_id=own, scheduled_delivery_timestamp=later, note=url)
    [reminder] = realm.member.get("reminders")["reminders"]
    rendered = realm.member.post("messages/render", content=url)["rendered"]
    for html in (rendered, json.dumps(reminder)):
        assert url in html
        assert "external_content" not in html


def change(speaker: Speaker, path: str, **fields: object) -> None:
    check_success(speaker.request("PATCH", path, **fields))


def forget(realm: Realm) -> None:
    """Do what the worker does once a day."""
    server = realm.stage.server
    realm.stage.sql("update remote_picture set check_due = now() where realm_id = %s", realm.id)

    async def check() -> None:
        async with await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database:
            await forget_unshown(database)

    asyncio.run(check())
