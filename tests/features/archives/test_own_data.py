"""The data of one person: theirs, all that they could read of it, and nothing else; for them alone."""

from pathlib import Path

from tests.features.archives.asking import fetched, when_ended
from tests.features.archives.conftest import Archive, World
from tests.harness.command import said_once, tertulia
from tests.harness.files import fetch, upload
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.talk import Json, Speaker, check_error

OWN = "export/own"


def own_data(realm: Realm, speaker: Speaker, file: Path) -> tuple[Json, Archive]:
    give_password(realm.stage, speaker)
    entry = when_ended(speaker, speaker.post(OWN, password=PASSWORD)["id"], OWN)
    assert entry["failure"] is None
    found = fetched(speaker, entry, file)
    done = tertulia("archive", "check", str(file))
    assert done.returncode == 0, done.stderr
    assert found.manifest["scope"] == "mine"
    return entry, found


def test_a_member_gets_what_is_theirs_and_nobody_else_fetches_it(world: World, folder: Path) -> None:
    realm, member = world.realm, world.realm.member
    entry, found = own_data(realm, member, folder / "mine.tar")
    [me] = [one for one in found.lines("people") if one["id"] == member.id]
    assert me["private"]["alert_words"] == ["word of the member"]
    assert me["email"] == member.email
    assert "Lisbon" in str(me["profile"])
    assert me["avatar"]["bytes"] == len(found.entries[f"blobs/avatar/{member.id}"])
    contents = {one["content"] for one in found.lines("messages")}
    assert {"first text", "secret of two people", "secret of three people"} <= contents
    reacted = [one for one in found.lines("messages") if one["content"].startswith("Open:")]
    assert [r["emoji_name"] for one in reacted for r in one["reactions"] if r["user_id"] == member.id] == ["tada"]
    assert [one["content"] for one in found.lines("drafts")] == [f"draft of {member.id}"]
    assert [one["content"] for one in found.lines("scheduled_messages")] == ["later"]
    for kind in ("snippets", "reminders", "marks", "topic_policies", "subscriptions", "read_states"):
        lines = found.lines(kind)
        assert lines
        assert {one["user_id"] for one in lines} == {member.id}
    others = [one for one in found.lines("people") if one["id"] != member.id]
    assert others
    assert all(one.keys() == {"id", "full_name", "role", "is_active", "joined"} for one in others)
    for kept in (b"secret of the shared channel", b"secret before", b"shared file", b"from a closed room"):
        assert kept not in b"".join(found.entries.values())
    for other in (realm.owner, realm.administrator):
        assert fetch(other, entry["export_url"]).status_code == 404
        assert other.get(OWN)["exports"] == []
        check_error(other.request("DELETE", f"{OWN}/{entry['id']}"))
        check_error(other.request("DELETE", f"export/realm/{entry['id']}"))
    assert all(one["id"] != entry["id"] for one in realm.owner.get("export/realm")["exports"])
    assert "within the last day" in check_error(member.request("POST", OWN, password=PASSWORD))
    env = world.server.environment()
    refused = tertulia("import", "archive", str(found.file), "--subdomain", "nobody", env=env)
    assert "one person" in said_once(refused)
    member.delete(f"{OWN}/{entry['id']}")
    assert fetch(member, entry["export_url"]).status_code == 404


def test_what_one_can_no_longer_read_is_not_in_it(realm: Realm, folder: Path) -> None:
    stage, member = realm.stage, realm.member
    left = stage.channel(realm.owner, member, invite_only=True, realm_id=realm.id)
    member.send(left.stream_id, "closed", "plum of the private channel " + upload(realm.owner, "p.txt", b"plum"))
    own_file = upload(member, "own.txt", b"my own file")
    realm.owner.send([member.id], content=f"[theirs]({upload(realm.owner, 'theirs.txt', b'file of the owner')})")
    assert own_file
    check = realm.owner.request("DELETE", "users/me/subscriptions", subscriptions=[left.name], principals=[member.id])
    assert check.status_code == 200, check.text
    _, found = own_data(realm, member, folder / "left.tar")
    assert b"plum" not in b"".join(found.entries.values())
    assert left.stream_id not in {one["id"] for one in found.lines("channels")}
    blobs = {content for name, content in found.entries.items() if name.startswith("blobs/file/")}
    assert blobs == {b"my own file", b"file of the owner"}


def test_a_guest_who_does_not_see_somebody_does_not_learn_their_name(realm: Realm, folder: Path) -> None:
    stage, guest, moderator = realm.stage, realm.guest, realm.moderator
    only_members = {"can_access_all_users_group": {"new": stage.sql(_GROUP, realm.id)[0][0]}}
    assert realm.owner.request("PATCH", "realm", **only_members).status_code == 200
    channel = stage.channel(guest, moderator, realm_id=realm.id)
    written = guest.send(channel.stream_id, "hall", "by the guest")
    moderator.post(f"messages/{written}/reactions", emoji_name="tada")
    stage.sql("update account set full_name = 'Hidden Quince' where id = %s", moderator.id)
    moderator.delete("users/me/subscriptions", subscriptions=[channel.name])
    _, found = own_data(realm, guest, folder / "guest.tar")
    [other] = [one for one in found.lines("people") if one["id"] == moderator.id]
    assert other["full_name"] == "Unknown user"
    assert b"Quince" not in b"".join(found.entries.values())


_GROUP = "select id from user_group where realm_id = %s and name = 'role:members'"
