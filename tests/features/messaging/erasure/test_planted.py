"""Nothing that names a person is left: a word is planted wherever they have data, and looked for everywhere afterwards."""

import json
import time

from tests.features.messaging.erasure.planting import found_in_database, found_in_files, found_in_streams, plant
from tests.harness.command import tertulia
from tests.harness.files import upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_success, eventually

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)


def test_a_word_planted_in_all_data_of_a_person_is_nowhere_after_their_erasure(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    word = f"planted{time.time_ns():x}"
    person, other = realm.speaker(), realm.administrator
    channel = stage.channel(person, other, realm_id=realm.id)
    check_success(person.request("PATCH", "settings", full_name=f"{word} Smith"))
    realm.owner.post("realm/profile_fields", name="Pronouns", field_type=1)
    other.post("user_groups/create", name="crew", description="x", members=[person.id, other.id])
    message_id = said_by(person, other, channel.stream_id, word)
    said_of(person, other, channel.stream_id, word)
    url = upload(person, f"{word}.txt", word.encode() * 10)
    person.send(channel.stream_id, "files", f"[{word}]({url})")
    person.http.post("users/me/avatar", files={"file": (f"{word}.png", PNG)})
    bot_id = person.post("bots", full_name=f"{word} bot", short_name=word)["user_id"]
    values = {
        "realm": realm.id,
        "user": person.id,
        "bot": bot_id,
        "other": other.id,
        "message": message_id,
        "word": word,
    }
    plant(stage, word, values)
    by_address(stage, realm, person, word)
    before = found_in_database(stage, word)
    assert {"account", "attachment", "audit_detail", "message", "message_revision", "reminder"} <= before.keys()
    assert len(before) > 35
    eventually(lambda: found_in_streams(server.nats_url, word))
    assert found_in_files(server.files, word)

    words = ("user", "erase", str(person.id), "--realm", realm.subdomain, "--messages", "delete", "--yes", "--json")
    done = tertulia(*words, env=server.environment())
    assert done.returncode == 0, done.stderr
    assert found_in_database(stage, word) == {}
    eventually(lambda: found_in_files(server.files, word) == [])
    assert [file.name for file in server.logs.iterdir() if file.is_file() and word in file.read_text()] == []
    receipt = json.loads(done.stdout)
    assert [one["seconds"] for one in receipt["outside"] if one["where"] == "streams EV_*"] == [8 * 86_400]
    assert {name for name in found_in_streams(server.nats_url, word) if not name.startswith("EV_")} == set()
    assert word not in done.stdout


def said_by(person: Speaker, other: Speaker, channel_id: int, word: str) -> int:
    """What the person wrote, and what hangs on it; returns a message."""
    message_id = person.send(channel_id, "tea", f"first {word}")
    check_success(person.request("PATCH", f"messages/{message_id}", content=f"second {word}"))
    person.send([other.id], content=word)
    person.send(channel_id, "tea", f"/poll {word}\nyes\nno")
    other.post(f"messages/{message_id}/reactions", emoji_name="tada")
    return message_id


def said_of(person: Speaker, other: Speaker, channel_id: int, word: str) -> None:
    """What somebody else wrote that mentions the person, in all ways."""
    name = f"{word} Smith"
    later = int(time.time()) + 86_400
    mention = other.send(channel_id, "tea", f"Hello @**{name}**, and @_**{name}|{person.id}**")
    check_success(other.request("PATCH", f"messages/{mention}", content=f"Bye @**{name}**"))
    check_success(other.request("PATCH", f"messages/{mention}", content="Bye"))
    other.send(channel_id, "tea", f"> @_**{name}|{person.id}** said:\n> x")
    person.post(f"messages/{mention}/reactions", emoji_name="tada")
    other.post("drafts", drafts=[{"type": "", "to": [], "topic": "", "content": f"Dear @**{name}**"}])
    other.post("saved_snippets", title="x", content=f"Dear @**{name}|{person.id}**")
    sent = {"type": "channel", "to": channel_id, "topic": "tea", "content": f"Dear @**{name}**"}
    other.post("scheduled_messages", **sent, scheduled_delivery_timestamp=later)
    other.post("reminders", message_id=mention, scheduled_delivery_timestamp=later, note=f"ask @**{name}**")


def by_address(stage: Stage, realm: Realm, person: Speaker, word: str) -> None:
    """What is found by the person's address alone."""
    address = f"{word}@example.com"
    stage.sql("update account set email = %s, email_key = %s where id = %s", address, address, person.id)
    stage.sql("insert into login_failure (realm_id, username_key) values (%s, %s)", realm.id, address)
    stage.sql("insert into mail_failure (email_key, failures, reason) values (%s, 1, 'x')", address)
    stage.sql(
        "insert into mail_outbox (recipient, subject, body, due) values (%s, 'x', 'x', now() + interval '1 day')",
        address,
    )
    stage.sql(
        "insert into signup (digest, realm_id, email, email_key, expires)"
        " values (sha256('x'), %s, %s, %s, now() + interval '1 day')",
        realm.id,
        address,
        address,
    )
