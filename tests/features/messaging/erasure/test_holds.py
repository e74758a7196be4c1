"""Legal holds: nobody who is held is erased, and what is deleted meanwhile, by whomever, leaves a copy."""

import json
from pathlib import Path
from typing import Any

from tertulia.kernel.settings import load_settings
from tests.harness.command import said_once, tertulia
from tests.harness.files import post_file, upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import check_success, eventually

MIB = 2**20


def test_what_is_held_is_not_erased_and_what_is_deleted_leaves_a_copy_until_the_hold_ends(
    realm: Realm, stage: Stage, server: OwnServer, folder: Path
) -> None:
    def run(*words: str) -> Any:
        return tertulia(*words, "--realm", realm.subdomain, env=server.environment())

    person, other = realm.member, realm.moderator
    channel = stage.channel(person, other, realm_id=realm.id)
    free = other.send(channel.stream_id, "tea", "nobody holds this")
    held = person.send(channel.stream_id, "tea", "first words")
    direct = other.send([person.id], content="to somebody who is held")
    check_success(person.request("PATCH", f"messages/{held}", content="second words"))
    url = upload(person, "plan.txt", b"the plan")
    hold = run("hold", "add", person.email, "--reason", "case 7")
    assert hold.returncode == 0, hold.stderr
    assert "held already" in said_once(run("hold", "add", str(person.id)))
    assert "legal hold" in said_once(run("user", "erase", person.email, "--yes"))
    person.get("users/me")
    assert [words[2:] for words in (run("hold", "list").stdout.split("\t"),)] == [[str(person.id), "case 7\n"]]

    [(sent_by_others,)] = stage.sql("select count(*) from held_copy where realm_id = %s", realm.id)
    realm.owner.delete(f"messages/{free}")
    realm.owner.delete(f"messages/{held}")
    other.request("DELETE", f"messages/{direct}")
    stage.sql("delete from message where id = %s", direct)  # whoever deletes, and by whatever statement
    attachment_id = person.get("attachments")["attachments"][0]["id"]
    person.delete(f"attachments/{attachment_id}")
    eventually(lambda: stage.sql("select count(*) from orphan_object where due <= now()") == [(0,)])
    out = folder / "copies"
    assert run("hold", "export", str(out)).stdout == "3\n", sent_by_others
    copies = [json.loads(line) for line in (out / "copies.jsonl").read_text().splitlines()]
    bodies = {one["kind"] + str(one["body"]["id"]): one["body"] for one in copies}
    assert bodies.keys() == {f"message{held}", f"message{direct}", f"attachment{attachment_id}"}
    kept = bodies[f"message{held}"]
    assert (kept["content"], kept["topic"], kept["channel"]) == ("second words", "tea", channel.name)
    assert [one["prev_content"] for one in kept["revisions"]] == ["first words"]
    [file] = [one["file"] for one in copies if one["kind"] == "attachment"]
    assert ((out / file).read_bytes(), url.endswith("plan.txt")) == (b"the plan", True)

    assert run("hold", "remove", hold.stdout.strip()).stdout == "3\n"
    assert stage.sql("select count(*) from held_copy where realm_id = %s", realm.id) == [(0,)]
    acts = [entry["act"] for entry in realm.owner.get("audit_log", act="hold")["entries"]]
    assert acts == ["hold.removed", "hold.copies_exported", "hold.added"]
    assert run("user", "erase", person.email, "--yes").returncode == 0
    assert "nothing left to hold" in said_once(run("hold", "add", str(person.id)))


def test_a_whole_organization_is_held_also_against_its_own_retention(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    old = realm.member.send(channel.stream_id, "tea", "old words")
    env = server.environment()
    assert tertulia("hold", "add", "--realm", realm.subdomain, env=env).returncode == 0
    words = ("user", "erase", realm.member.email, "--realm", realm.subdomain, "--yes")
    assert "legal hold" in said_once(tertulia(*words, env=env))
    stage.sql("update message set sent_at = now() - interval '9 days' where id = %s", old)
    stage.sql("update channel set message_retention_days = 7 where id = %s", channel.stream_id)
    from tertulia.messaging.editing.retention.actions import remove_all
    from tertulia.messaging.editing.retention.queries import oldest_expired

    async def expire(tx: Any) -> None:
        await remove_all(tx, channel.stream_id, await oldest_expired(tx, channel.stream_id, 100))

    stage.write(expire)
    assert realm.member.request("GET", f"messages/{old}").status_code == 400
    sql = "select body->>'content' from held_copy where realm_id = %s"
    assert stage.sql(sql, realm.id) == [("old words",)]


def test_what_is_held_takes_room_until_the_hold_ends_though_nobody_is_shown_that(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    """Otherwise whoever uploads and deletes would fill the disk, whatever the quota."""

    def run(*words: str) -> Any:
        return tertulia(*words, "--realm", realm.subdomain, env=server.environment())

    quota = load_settings(env=server.environment()).upload_quota_mib * MIB
    hold = run("hold", "add")
    assert hold.returncode == 0, hold.stderr
    share = "select bytes from held_share where user_id = %s"
    for person, left in ((realm.owner, quota), (realm.member, quota // 10)):
        upload(person, "first.bin", b"x" * MIB)
        [first] = person.get("attachments")["attachments"]
        person.delete(f"attachments/{first['id']}")
        assert person.get("attachments")["upload_space_used"] == 0
        [(before,)] = stage.sql("select held from upload_space where realm_id = %s", realm.id)
        assert before == MIB
        assert stage.sql(share, person.id) == ([(MIB,)] if person == realm.member else [])
        resize(stage, realm, left - MIB // 2)
        assert post_file(person, "second.bin", b"x" * MIB).status_code == 400
        resize(stage, realm, 0)
    assert run("hold", "remove", hold.stdout.strip()).returncode == 0
    assert stage.sql("select held from upload_space where realm_id = %s", realm.id) == [(0,)]
    assert stage.sql(share, realm.member.id) == [(0,)], "each file is taken off as it was added"
    upload(realm.owner, "second.bin", b"x" * MIB)


def resize(stage: Stage, realm: Realm, size: int) -> None:
    """All copies of files, as if they were so large."""
    as_large = "update held_copy set body = jsonb_set(body, '{size}', to_jsonb(%s::bigint)) where realm_id = %s"
    stage.sql(as_large, size, realm.id)
    stage.sql("update upload_space set held = held_bytes(realm_id) where realm_id = %s", realm.id)
    stage.sql("update held_share set bytes = greatest(%s, 4096) where user_id = %s", size, realm.member.id)


def test_what_the_bots_of_a_held_person_wrote_and_uploaded_is_held_too(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    """Otherwise whoever expects a hold would let a bot speak."""
    bot = realm.bot(realm.member)
    channel = stage.channel(realm.member, bot, realm_id=realm.id)
    said = bot.send(channel.stream_id, "tea", "by way of a bot")
    upload(bot, "plan.txt", b"the plan")
    [file] = bot.get("attachments")["attachments"]
    hold = tertulia("hold", "add", realm.member.email, "--realm", realm.subdomain, env=server.environment())
    assert hold.returncode == 0, hold.stderr
    realm.owner.delete(f"messages/{said}")
    bot.delete(f"attachments/{file['id']}")
    kinds = "select kind, user_id from held_copy where realm_id = %s order by id"
    assert stage.sql(kinds, realm.id) == [("message", bot.id), ("attachment", bot.id)]
