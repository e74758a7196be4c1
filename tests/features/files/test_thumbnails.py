"""The thumbnails of pictures, and how messages show them."""

import asyncio
import io
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from tertulia.content.storage import Store
from tertulia.files.uploads.queries import find_by_id
from tertulia.files.uploads.thumbnails import actions as thumbnails
from tertulia.files.uploads.thumbnails.queries import claim
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tertulia.messaging.editing.previews.actions import PORTION
from tertulia.messaging.editing.previews.queries import LOOKED_AT, SETTLED, WAITING, find_waiting
from tests.harness.channels import make
from tests.harness.files import fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.talk import Json, Queue, Speaker, eventually

FORMS = {"840x560.webp": False, "840x560-anim.webp": True}


def picture(width: int = 1600, height: int = 900, kind: str = "PNG", frames: int = 1) -> bytes:
    pages = [Image.new("RGB", (width, height), (40 * number % 255, 90, 120)) for number in range(frames)]
    written = io.BytesIO()
    more: Json = {"save_all": True, "append_images": pages[1:], "duration": 80} if frames > 1 else {}
    pages[0].save(written, kind, **more)
    return written.getvalue()


def status(speaker: Speaker, url: str) -> bool:
    path = url.removeprefix("/user_uploads/")
    return bool(speaker.get(f"thumbnail/status/{path}")["has_thumbnail"])


def settled(realm: Realm, url: str, seconds: float = 40) -> int:
    """What became of a picture's thumbnail: 2 is there, 3 cannot be made."""
    sql = "select thumbnail from attachment where path_id = %s and thumbnail <> 1"
    eventually(lambda: realm.stage.sql(sql, url.removeprefix("/user_uploads/")), seconds)
    [(state,)] = realm.stage.sql(sql, url.removeprefix("/user_uploads/"))
    return int(state)


def test_a_picture_gets_a_small_form(realm: Realm) -> None:
    member = realm.member
    url = upload(member, "photo.png", picture())
    assert settled(realm, url) == 2
    assert status(member, url)
    small = fetch(member, url.replace("/user_uploads/", "/user_uploads/thumbnail/") + "/840x560.webp")
    assert small.headers["content-type"] == "image/webp"
    assert "sandbox" in small.headers["content-security-policy"]
    assert Image.open(io.BytesIO(small.content)).size == (840, 473)
    for form in ("840x560-anim.webp", "1x1.webp"):
        thumbnail = url.replace("/user_uploads/", "/user_uploads/thumbnail/") + f"/{form}"
        assert fetch(member, thumbnail).status_code == 404
    other = url.replace("/user_uploads/", "/user_uploads/thumbnail/") + "/840x560.webp"
    assert fetch(realm.owner, other).status_code == 404
    formats = member.post("register", fetch_event_types=["realm"], event_types=[])["server_thumbnail_formats"]
    assert {one["name"]: one["animated"] for one in formats} == FORMS


def test_a_message_shows_a_picture(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = upload(realm.member, "photo.jpg", picture(kind="JPEG"))
    assert settled(realm, url) == 2
    thumbnail = url.replace("/user_uploads/", "/user_uploads/thumbnail/") + "/840x560.webp"
    message = realm.member.send(channel.stream_id, "topic", f"[photo.jpg]({url})")
    assert realm.owner.message(message)["content"] == (
        f'<p><a href="{url}">photo.jpg</a></p>\n<div class="message_inline_image"><a href="{url}" title="photo.jpg">'
        f'<img data-original-content-type="image/jpeg" data-original-dimensions="1600x900" src="{thumbnail}"></a></div>'
    )
    narrow = [{"operator": "has", "operand": "image"}]
    assert [one["id"] for one in realm.owner.window(before=5, narrow=narrow)["messages"]] == [message]


def test_a_picture_that_moves(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.owner)
    url = upload(realm.member, "moves.gif", picture(300, 200, "GIF", frames=4))
    assert settled(realm, url) == 2
    message = realm.member.send(channel.stream_id, "topic", f"[moves]({url})")
    html = realm.owner.message(message)["content"]
    assert 'data-animated="true"' in html
    [source] = re.findall(r'src="([^"]*)"', html)
    assert source.endswith("/moves.gif/840x560-anim.webp")
    moving = Image.open(io.BytesIO(fetch(realm.owner, source).content))
    assert (moving.size, getattr(moving, "n_frames", 1)) == ((300, 200), 4)
    assert fetch(realm.owner, source.replace("-anim", "")).status_code == 200


def test_a_message_that_was_faster_than_the_small_form(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.owner)
    good, bad = (
        upload(realm.member, "good.png", picture()),
        upload(realm.member, "bad.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50),
    )
    assert (settled(realm, good), settled(realm, bad)) == (2, 3)
    _make_again(realm, "infinity")
    assert not status(realm.member, good)
    message = realm.member.send(channel.stream_id, "topic", f"[]({bad})\n\nsee [it]({good})")
    before = realm.owner.message(message)["content"]
    assert before.count('class="image-loading-placeholder"') == 2
    loading = re.findall(r'src="([^"]*)"', before)[0]
    assert fetch(realm.owner, loading).headers["content-type"] == "image/svg+xml"
    with Queue(realm.owner, event_types=["update_message"], fetch_event_types=[]) as queue:
        _make_again(realm, "now")
        events = queue.until(lambda event: "placeholder" not in event["rendered_content"])
    event = events[-1]
    assert (event["rendering_only"], event["user_id"], event["message_id"]) == (True, None, message)
    shown = realm.owner.message(message)
    assert shown["content"] == event["rendered_content"]
    assert f'<p><a href="{bad}">{bad}</a></p>' in shown["content"]
    assert shown["content"].count("message_inline_image") == 1
    assert "840x560.webp" in shown["content"]
    assert "last_edit_timestamp" not in shown
    assert event["stream_id"] == channel.stream_id


def test_people_take_turns_with_their_small_forms(realm: Realm) -> None:
    bot = realm.bot(realm.member)
    for speaker in (realm.member, bot, realm.member, realm.owner, realm.guest):
        settled(realm, upload(speaker, "photo.png", picture(20, 20)))
    own = "select id, owner_id from attachment where realm_id = %s order by id"
    [first, of_bot, third, of_owner, of_guest] = [found for found, _ in realm.stage.sql(own, realm.id)]

    async def claimed(tx: Transaction) -> list[int]:
        await tx.execute("update attachment set thumbnail_due = 'infinity' where thumbnail = 1")
        await tx.execute("update attachment set thumbnail = 1, thumbnail_due = now() where realm_id = $1", realm.id)
        found, after = [], 0
        while one := await claim(tx, 60, after, ()):
            file, after = one
            found.append(file.id)
        await tx.execute("update attachment set thumbnail = 2 where realm_id = $1", realm.id)
        await tx.execute("update attachment set thumbnail_due = now() where thumbnail_due = 'infinity'")
        return found

    turns = realm.stage.write(claimed)
    assert sorted(turns[:3]) == sorted([first, of_owner, of_guest])
    assert turns[3:] == [of_bot, third]


def test_a_picture_that_takes_long_keeps_nobody_elses_waiting(realm: Realm) -> None:
    slow = upload(realm.member, "slow.webp", picture(1000, 1000, "WEBP", 40))
    begun = "select id from attachment where owner_id = %s and thumbnail_due > now() + interval '30 seconds'"
    eventually(lambda: realm.stage.sql(begun, realm.member.id), 40)
    assert settled(realm, upload(realm.owner, "quick.png", picture(20, 20))) == 2
    state = "select thumbnail from attachment where path_id = %s"
    assert realm.stage.sql(state, slow.removeprefix("/user_uploads/")) == [(1,)], "it was waited for"


def test_many_messages_with_pictures_of_one_person_keep_nobody_elses_from_being_shown(realm: Realm) -> None:
    channel, bot = make(realm, realm.member, realm.owner), realm.bot(realm.member)
    realm.stage.add(channel, bot)
    pictures = {one.id: upload(one, "photo.png", picture(20, 20)) for one in (realm.member, bot, realm.owner)}
    for url in pictures.values():
        assert settled(realm, url) == 2
    for owner_id in pictures:
        _make_again(realm, "infinity", owner_id)
    for one in (realm.member, bot):
        for _ in range(PORTION):
            one.send(channel.stream_id, "topic", f"[it]({pictures[one.id]})")
    last = realm.owner.send(channel.stream_id, "topic", f"[it]({pictures[realm.owner.id]})")

    async def found(tx: Transaction) -> list[int]:
        await tx.execute("update attachment set thumbnail = 2 where realm_id = $1", realm.id)
        return await find_waiting(tx, PORTION)

    turns = realm.stage.write(found)
    assert last in turns[:5]
    eventually(lambda: not _loading(realm, last))


def test_a_message_with_many_pictures_is_not_shown_anew_for_each(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.owner)
    urls = [upload(realm.member, f"{number}.png", picture(20, 20)) for number in range(5)]
    for url in urls:
        assert settled(realm, url) == 2
    _make_again(realm, "infinity")
    message = realm.member.send(channel.stream_id, "topic", "\n\n".join(f"[it]({url})" for url in urls))
    with Queue(realm.owner, event_types=["update_message"], fetch_event_types=[]) as queue:
        for left in range(len(urls) - 1, -1, -1):
            ready = "update attachment set thumbnail = 2 where path_id = %s"
            realm.stage.sql(ready, urls[left].removeprefix("/user_uploads/"))
            if left in (2, 1, 0):
                eventually(lambda left=left: _loading(realm, message) == left)  # type: ignore[misc]
        events = queue.until(lambda event: "placeholder" not in event["rendered_content"])
    assert [event["rendered_content"].count("image-loading-placeholder") for event in events] == [2, 1, 0]


def test_tens_of_thousands_of_pictures_that_are_not_made_yet_make_no_look_long(realm: Realm) -> None:
    channel = make(realm, realm.member)
    message = realm.member.send(channel.stream_id, "topic", "hello")
    many = """
    with made as (
        insert into attachment (realm_id, owner_id, path_id, key, name, size, content_type, thumbnail, thumbnail_due)
        select realm_id, id, 'made later ' || number, 'made later ' || number, 'a.png', 1, 'image/png', 1, 'infinity'
        from account, generate_series(1, 5000) as number where id = %s returning id
    ) insert into attachment_link (message_id, attachment_id, is_waiting) select %s, id, true from made returning attachment_id
    """
    made = sorted(row[0] for row in realm.stage.sql(many, realm.member.id, message))

    async def seen(tx: Transaction) -> list[int]:
        [plan] = json.loads(await tx.fetchval(f"explain (analyze, format json) select from {WAITING}"))
        walked = [int(found) for found in re.findall(r"'Recursive Union'.*?'Actual Rows': (\d+)", str(plan))]
        assert walked
        assert max(walked) <= LOOKED_AT + 1
        found = []
        for one in (made[0], made[-1]):
            await tx.execute("update attachment set thumbnail = 2 where id = $1", one)
            found.append(await tx.fetchval(f"select count(*) from {SETTLED} where id = $1", one))
        return found

    assert realm.stage.write(seen) == [1, 1]
    realm.stage.sql("delete from attachment where id = any(%s)", made)


def _loading(realm: Realm, message: int) -> int:
    return str(realm.owner.message(message)["content"]).count("image-loading-placeholder")


def test_a_small_form_that_was_made_twice_stays(realm: Realm) -> None:
    url = upload(realm.member, "photo.png", picture())
    assert settled(realm, url) == 2
    [(key,)] = realm.stage.sql("select key from attachment where owner_id = %s", realm.member.id)
    # The second who made it died before it could say so.
    realm.stage.sql("insert into orphan_object (key, due) values (%s, now())", f"{key}-840x560.webp")
    eventually(lambda: not realm.stage.sql("select 1 from orphan_object where key = %s", f"{key}-840x560.webp"))
    assert fetch(realm.member, url.replace("/user_uploads/", "/user_uploads/thumbnail/") + "/840x560.webp").is_success


@pytest.mark.parametrize("is_deleted", [False, True])
def test_the_slower_of_two_who_make_a_small_form_leaves_nothing_behind(realm: Realm, is_deleted: bool) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files can be seen only where the server runs")
    url = upload(realm.member, "photo.png", picture())
    assert settled(realm, url) == 2
    [(attachment_id, key)] = realm.stage.sql("select id, key from attachment where owner_id = %s", realm.member.id)
    small = f"{key}-840x560.webp"

    def meanwhile() -> None:
        if is_deleted:  # and swept
            realm.member.delete(f"attachments/{attachment_id}")
            realm.stage.sql("delete from orphan_object where key like %s", f"{key}%")

    _make_once_more(server, SlowStore(Settings(storage_folder=str(server.files)), meanwhile), attachment_id)
    announced = realm.stage.sql("select due <= now() from orphan_object where key = %s", small)
    if is_deleted:
        assert announced == [(True,)] or not (server.files / small).exists()
    else:
        assert announced == []


def test_a_small_form_of_a_picture_that_was_deleted_is_listed_if_its_maker_dies(realm: Realm) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files can be seen only where the server runs")
    url = upload(realm.member, "photo.png", picture())
    assert settled(realm, url) == 2
    _make_again(realm, "infinity")  # as before it was made
    [(attachment_id, key)] = realm.stage.sql("select id, key from attachment where owner_id = %s", realm.member.id)
    small = f"{key}-840x560.webp"

    def meanwhile() -> None:
        realm.member.delete(f"attachments/{attachment_id}")
        due = "select 1 from orphan_object where key like %s and due <= now()"
        eventually(lambda: not realm.stage.sql(due, f"{key}%"))

    store = SlowStore(Settings(storage_folder=str(server.files)), meanwhile, then_dies=True)
    with pytest.raises(KeyboardInterrupt):
        _make_once_more(server, store, attachment_id)
    assert (server.files / small).exists()
    assert realm.stage.sql("select 1 from orphan_object where key = %s", small)


def test_what_a_worker_that_was_killed_has_left_of_a_picture_goes(folder: Path) -> None:
    place = folder / "temporary"
    left, used, elsewhere = (place / name for name in ("tertulia-picture-left", "tertulia-picture-used", "others"))
    for each in (left, used, elsewhere):
        each.mkdir(parents=True)
        (each / "source").write_bytes(picture())
    for each in (left, elsewhere):
        os.utime(each, (0, 0))  # long ago
    server = OwnServer.start(folder, env={"TMPDIR": str(place)})
    try:
        eventually(lambda: not left.exists())
        assert (used / "source").exists()
        assert (elsewhere / "source").exists()
    finally:
        server.stop()


@dataclass(frozen=True)
class SlowStore(Store):
    """Something happens before an object is there."""

    meanwhile: Callable[[], None]
    then_dies: bool = False

    async def put(self, key: str, content: bytes | AsyncIterator[bytes], content_type: str = "") -> int:
        await asyncio.to_thread(self.meanwhile)
        size = await super().put(key, content, content_type)
        if self.then_dies:
            raise KeyboardInterrupt
        return size


def _make_once_more(server: OwnServer, store: Store, attachment_id: int) -> None:
    async def make() -> None:
        async with await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database:
            async with database.reader() as reader:
                file = await find_by_id(reader, attachment_id)
            assert file is not None
            await thumbnails._make(database, store, file)

    asyncio.run(make())


def _make_again(realm: Realm, when: str, owner_id: int | None = None) -> None:
    realm.stage.sql(
        "update attachment set thumbnail = 1, thumbnail_due = %s::timestamptz where owner_id = %s",
        when,
        owner_id or realm.member.id,
    )
