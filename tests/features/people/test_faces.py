"""Avatars, icons, logos and custom emoji in the store: whose they are, who hears of them, and that nothing is left behind."""

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from tertulia.content.pictures import keeping
from tertulia.content.storage import Store
from tertulia.files.uploads.sweeping.actions import sweep_objects
from tertulia.kernel.db import Database, OutcomeUnknown
from tertulia.kernel.settings import Settings
from tertulia.server.gallery import MOMENT_SECONDS
from tests.contract.test_avatar import fetch, upload
from tests.contract.test_custom_emoji import png
from tests.harness.hostile import image
from tests.harness.realm import Realm
from tests.harness.server import GUEST, OwnServer, Server
from tests.harness.stage import at_once, later
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, eventually


def objects(server: Server, realm: Realm) -> set[str]:
    """What the store holds of a realm."""
    assert isinstance(server, OwnServer)
    folder = Path(server.files) / "pictures" / str(realm.id)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def settle(server: Server, realm: Realm, count: int) -> None:
    """Wait until the worker has left so many objects."""
    eventually(lambda: len(objects(server, realm)) == count)


def avatar_of(realm: Realm, speaker: Speaker) -> str:
    return str(realm.owner.get(f"users/{speaker.id}")["user"]["avatar_url"])


def test_what_nobody_has_any_more_is_deleted_from_the_store(server: Server, realm: Realm) -> None:
    for red in (1, 2, 3):
        check_success(upload(realm.member, png(red)))
    settle(server, realm, 2)
    assert fetch(realm.member, avatar_of(realm, realm.member)).status_code == 200
    realm.member.delete("users/me/avatar")
    settle(server, realm, 0)
    check_success(upload(realm.owner, png(), path="realm/icon"))
    check_success(upload(realm.owner, png(9), path="realm/icon"))
    realm.owner.delete("realm/icon")
    settle(server, realm, 0)


def test_what_a_crash_left_behind_is_deleted_after_a_while(server: Server, realm: Realm) -> None:
    """As if a process had died between storing an avatar and making it somebody's."""
    assert isinstance(server, OwnServer)
    lost = Path(server.files) / "pictures" / str(realm.id) / "avatars" / "lost.png"
    lost.parent.mkdir(parents=True)
    lost.write_bytes(b"lost")
    key = f"pictures/{realm.id}/avatars/lost.png"
    realm.stage.sql("insert into orphan_object (key, due) values (%s, now() - interval '1 hour')", key)
    # One that is being stored just now stays.
    new = f"pictures/{realm.id}/avatars/new.png"
    lost.with_name("new.png").write_bytes(b"new")
    realm.stage.sql("insert into orphan_object (key, due) values (%s, now() + interval '1 hour')", new)
    settle(server, realm, 1)
    listed = "select key from orphan_object where key in (%s, %s)"
    eventually(lambda: realm.stage.sql(listed, key, new) == [(new,)])  # after the object, with the commit
    realm.stage.sql("delete from orphan_object where key = %s", new)


def test_a_picture_that_became_somebodys_stays_whatever_goes_wrong_after_that(server: Server, realm: Realm) -> None:
    """As if PostgreSQL had gone away before it could say that the commit went through."""
    assert isinstance(server, OwnServer)
    store = Store(Settings(storage_folder=str(server.files)))
    key = f"pictures/{realm.id}/avatars/{'0' * 40}.png"

    async def adopt(database: Database) -> None:
        async with keeping.offered(database, store, {key: b"a picture"}):
            async with database.transaction() as tx:
                await keeping.adopt(tx, [key])
            raise OutcomeUnknown

    async def run() -> None:
        async with await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database:
            with pytest.raises(OutcomeUnknown):
                await adopt(database)
            await sweep_objects(database, store)

    asyncio.run(run())
    assert realm.stage.sql("select key from orphan_object where key = %s", key) == []
    assert len(objects(server, realm)) == 1


def test_whoever_hears_of_an_avatar_a_moment_before_others_see_it_gets_it(realm: Realm) -> None:
    """An event is in the log as soon as its commit is written, and the commit is seen a moment later."""
    check_success(upload(realm.member, png()))
    url = avatar_of(realm, realm.member)
    set_avatar = "update account set avatar = %s where id = %s"
    [(name,)] = realm.stage.sql("select avatar from account where id = %s", realm.member.id)

    def is_waited_for() -> bool:
        realm.stage.sql(set_avatar, None, realm.member.id)
        asked = later(fetch, realm.member, url)
        time.sleep(MOMENT_SECONDS / 5)
        realm.stage.sql(set_avatar, name, realm.member.id)
        return asked.result(30).status_code == 200

    assert any(is_waited_for() for _ in range(5)), "a busy machine may be too late, but not each time"


def test_two_at_once_leave_one(server: Server, realm: Realm) -> None:
    replies = at_once([lambda red=red: upload(realm.member, png(red)) for red in range(4)])  # type: ignore[misc]
    urls = [check_success(reply)["avatar_url"] for reply in replies]
    assert len(set(urls)) == 4
    assert avatar_of(realm, realm.member) == max(urls, key=lambda url: int(url.rpartition("=")[2]))
    settle(server, realm, 2)


def test_a_name_taken_leaves_no_picture_of_the_second_emoji(server: Server, realm: Realm) -> None:
    check_success(upload(realm.member, png(), path="realm/emoji/party"))
    check_error(upload(realm.member, png(7), path="realm/emoji/party"))
    settle(server, realm, 1)
    [emoji] = realm.member.get("realm/emoji")["emoji"].values()
    assert fetch(realm.member, emoji["source_url"]).status_code == 200


def test_what_is_refused_leaves_no_picture(server: Server, realm: Realm) -> None:
    bot = realm.owner.post("bots", full_name="A bot", short_name="a")
    check_error(upload(realm.member, png(), path=f"bots/{bot['user_id']}"))
    check_error(upload(realm.member, png(), path="bots", full_name="A bot", short_name="b"))
    settle(server, realm, 0)
    listed = "select from orphan_object where key like %s"
    eventually(lambda: not realm.stage.sql(listed, f"pictures/{realm.id}/%"))


def test_an_avatar_of_another_organization_is_not_found_under_this_one(realm: Realm) -> None:
    url = check_success(upload(realm.member, png()))["avatar_url"]
    other = url.replace(f"/{realm.id}/", f"/{realm.id + 1}/")
    assert fetch(realm.member, other).status_code == 404
    assert fetch(realm.member, f"/user_avatars/{realm.id}/{'0' * 40}.png").status_code == 404


def test_where_avatars_are_fixed_only_administrators_change_theirs(realm: Realm) -> None:
    check_success(upload(realm.member, png()))
    check_success(realm.owner.request("PATCH", "realm", avatar_changes_disabled=True))
    check_error(upload(realm.member, png()))
    check_error(realm.member.request("DELETE", "users/me/avatar"))
    check_success(upload(realm.administrator, png()))
    # The avatars of bots are not those of people.
    bot = realm.member.post("bots", full_name="A bot", short_name="a")
    check_success(upload(realm.member, png(), path=f"bots/{bot['user_id']}"))


def test_limited_guests_learn_nothing_of_the_avatars_of_people_they_do_not_see(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    new = {"new": groups["role:members"]}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=new))
    guest = realm.speaker(GUEST)
    with Queue(guest, event_types=["realm_user"]) as queue:
        url = check_success(upload(realm.member, png()))["avatar_url"]
        check_success(guest.request("PATCH", "settings", full_name="A guest"))
        [event] = queue.poll()
        assert event["person"] == {"user_id": guest.id, "full_name": "A guest"}
    base = str(guest.http.base_url).partition("/api")[0]
    drawn = guest.http.get(f"{base}/avatar/{realm.member.id}", follow_redirects=False)
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    seen = realm.owner.http.get(f"{base}/avatar/{realm.member.id}?s=5", follow_redirects=False)
    assert seen.headers["location"] == f"{url}&s=5"


@pytest.mark.parametrize(
    ("path", "fields", "kind", "source"),
    [
        ("realm/icon", {}, "icon", "G"),
        ("realm/logo", {"night": "false"}, "logo", "D"),
        ("realm/logo", {"night": "true"}, "night_logo", "D"),
    ],
)
def test_pictures_of_the_organization(realm: Realm, path: str, fields: dict[str, str], kind: str, source: str) -> None:
    def shown(speaker: Speaker) -> Json:
        with Queue(speaker, event_types=["realm"]) as queue:
            return {key: queue.state[f"realm_{kind}_{key}"] for key in ("url", "source")}

    at_first = shown(realm.member)
    assert at_first == {"url": "/static/icon.svg", "source": source}
    check_error(upload(realm.moderator, png(), path=path, **fields), "UNAUTHORIZED_PRINCIPAL")
    with Queue(realm.guest, event_types=["realm"]) as queue:
        check_success(upload(realm.administrator, png(side=400), path=path, **fields))
        [event] = queue.poll()
        now = shown(realm.guest)
        data = {f"{kind}_{key}": value for key, value in now.items()}
        assert event == {"type": "realm", "op": "update_dict", "property": kind, "data": data, "id": event["id"]}
        assert now["source"] == "U"
        picture = fetch(realm.guest, now["url"])
        assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
        settings = httpx.get(f"{realm.guest.http.base_url}server_settings", headers={"host": realm.host}).json()
        assert (settings["realm_icon"] == now["url"]) == (kind == "icon")
        check_success(realm.administrator.request("DELETE", path, **fields))
        [event] = queue.poll()
        assert event["data"] == {f"{kind}_url": "/static/icon.svg", f"{kind}_source": source}
    assert shown(realm.member) == at_first
    assert fetch(realm.guest, now["url"]).status_code == 404
    check_error(upload(realm.administrator, b"no picture", path=path, **fields), "BAD_IMAGE")


def test_what_messages_refer_to_is_there(realm: Realm) -> None:
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    html = realm.member.message(realm.member.send(channel.stream_id, "tea", ":tertulia:"))["content"]
    address = html.partition('src="')[2].partition('"')[0]
    for url, kind in ((address, "image/png"), ("/static/images/loading/loader.svg", "image/svg+xml")):
        reply = fetch(realm.member, url)
        assert (reply.status_code, reply.headers["content-type"]) == (200, kind)
        assert "max-age" in reply.headers["cache-control"]


def moving(frames: int) -> bytes:
    """A small file of large pages."""
    pages = image(700, 700, "GIF", 2, optimize=False)
    second = pages.rindex(b"\x21\xf9\x04")
    return pages[:-1] + pages[second:-1] * (frames - 2) + pages[-1:]


@pytest.mark.timed
def test_a_picture_that_takes_long_keeps_nobody_else_waiting(realm: Realm) -> None:
    long = later(upload, realm.member, moving(200), path="realm/emoji/long")
    time.sleep(1.0)
    check_success(upload(realm.owner, png()))
    assert not long.done(), "the one that was sent first is ready later"
    check_success(long.result(60))
