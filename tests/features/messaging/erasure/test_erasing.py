"""What others see of somebody who is erased, what is refused, and that it goes on whatever happens meanwhile."""

import time
from functools import partial
from pathlib import Path
from typing import Any

from tertulia.messaging.erasure.actions import begin
from tertulia.messaging.erasure.model import Messages
from tests.harness.command import said_once, tertulia
from tests.harness.files import fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage, later
from tests.harness.talk import Queue, check_error, check_success, eventually

TYPES = ["message", "realm_user", "delete_message", "update_message", "reaction"]


def erase(server: OwnServer, realm: Realm, who: object, *options: str) -> Any:
    return tertulia("user", "erase", str(who), "--realm", realm.subdomain, "--yes", *options, env=server.environment())


def test_clients_forget_the_name_and_the_messages_and_draw_mentions_anew(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    person, other = realm.speaker(), realm.member
    channel = stage.channel(person, other, realm_id=realm.id)
    said = [person.send(channel.stream_id, "tea", "mine"), person.send([other.id], content="mine")]
    mention = other.send(channel.stream_id, "tea", f"Dear @**Somebody New|{person.id}**")
    person.post(f"messages/{mention}/reactions", emoji_name="tada")
    url = upload(person, "notes.txt")
    other.send(channel.stream_id, "tea", f"[notes]({url})")
    queue = Queue(other, event_types=TYPES, fetch_event_types=["realm_user"])
    done = erase(server, realm, person.email, "--messages", "delete")
    assert done.returncode == 0, done.stderr
    assert "message " in done.stdout
    assert "streams EV_*" in done.stdout
    name = f"Deleted user {person.id}"
    told = queue.so_far()
    of_person = [event["person"] for event in told if event["type"] == "realm_user"]
    assert {"user_id": person.id, "is_active": False} in of_person
    assert {"user_id": person.id, "full_name": name} in of_person
    deleted = [
        id
        for event in told
        if event["type"] == "delete_message"
        for id in event.get("message_ids", [event.get("message_id")])
    ]
    assert sorted(deleted) == said
    [drawn] = [event for event in told if event["type"] == "update_message"]
    assert (drawn["message_id"], drawn["rendering_only"]) == (mention, True)
    assert name in drawn["rendered_content"]
    assert "Somebody" not in drawn["rendered_content"] + drawn["content"]
    assert [(event["op"], event["message_id"]) for event in told if event["type"] == "reaction"] == [
        ("remove", mention)
    ]
    assert [other.request("GET", f"messages/{id}").status_code for id in said] == [400, 400]
    assert fetch(other, url).status_code == 404
    seen = other.get(f"users/{person.id}")["user"]
    assert (seen["full_name"], seen["is_active"], seen["email"]) == (name, False, f"deleted-{person.id}@erased.invalid")
    check_error(person.request("GET", "users/me"), "UNAUTHORIZED", 401)
    assert "does not come back" in check_error(realm.owner.request("POST", f"users/{person.id}/reactivate"))
    assert "Nobody in this organization" in said_once(erase(server, realm, person.email))


def test_messages_stay_without_a_name_or_are_of_one_account_for_all_who_are_gone(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    people, other = [realm.speaker(), realm.speaker()], realm.member
    channel = stage.channel(*people, other, realm_id=realm.id)
    said = [person.send(channel.stream_id, "tea", "mine") for person in people]
    stayed = erase(server, realm, people[0].id, "--json")
    assert stayed.returncode == 0, stayed.stderr
    assert other.message(said[0])["sender_full_name"] == f"Deleted user {people[0].id}"
    queue = Queue(other, event_types=["message", "message_sender", "realm_user"])
    for person in people:  # the first for the second time, with another wish
        assert erase(server, realm, person.id, "--messages", "anonymize").returncode == 0
    told = queue.so_far()
    [heir] = [event["person"] for event in told if event["type"] == "realm_user" and event["op"] == "add"]
    given = [(event["message_ids"], event["sender_id"]) for event in told if event["type"] == "message_sender"]
    assert given == [([id], heir["user_id"]) for id in said]
    senders = {(one["sender_id"], one["sender_full_name"]) for one in map(other.message, said)}
    assert senders == {(heir["user_id"], "Deleted users")}
    assert "No such user" in said_once(erase(server, realm, heir["user_id"]))
    assert stage.sql("select count(*) from topic_participant where user_id = any(%s)", [one.id for one in people]) == [
        (0,)
    ]


def test_whoever_is_killed_goes_on_and_what_a_late_request_wrote_goes_too(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    person = realm.speaker()
    channel = stage.channel(person, realm.member, realm_id=realm.id)
    said = person.send(channel.stream_id, "tea", "mine")
    draft = "insert into draft (user_id, topic, content, edited_at) values (%s, '', 'late', now())"
    with stage.session() as under_way:  # a request that has written, and not committed yet
        under_way(draft, person.id)
        beginning = later(stage.write, lambda tx: begin(tx, realm.id, person.id, Messages.DELETE))
        time.sleep(0.3)
        assert not beginning.done()
    beginning.result(30)  # and then the process is killed
    check_error(person.request("GET", "users/me"), "UNAUTHORIZED", 401)
    assert "does not come back" in check_error(realm.owner.request("POST", f"users/{person.id}/reactivate"))
    assert realm.member.message(said)["content"]
    stage.sql(
        "update erasure set due = now() where user_id = %s", person.id
    )  # the worker does not wait for a minute here
    finished = "select finished is not null from erasure where user_id = %s"
    eventually(lambda: stage.sql(finished, person.id) == [(True,)])
    assert realm.member.request("GET", f"messages/{said}").status_code == 400
    assert stage.sql("select count(*) from draft where user_id = %s", person.id) == [(0,)]
    stage.sql(draft, person.id)
    late = realm.member.send(channel.stream_id, "tea", "x")
    html = f'<p><span class="user-mention" data-user-id="{person.id}">@Somebody New</span></p>'
    stage.sql("update message set content = '@**Somebody New**', rendered = %s where id = %s", html, late)
    stage.sql("update account set full_name = 'Late', settings = '{\"a\": \"late\"}' where id = %s", person.id)
    stage.sql("update erasure set due = now() where user_id = %s", person.id)  # nor for an hour
    eventually(lambda: stage.sql("select stage is null from erasure where user_id = %s", person.id) == [(True,)])
    assert stage.sql("select count(*) from draft where user_id = %s", person.id) == [(0,)]
    assert realm.member.get(f"users/{person.id}")["user"]["full_name"] == f"Deleted user {person.id}"
    assert realm.member.message(late, apply_markdown=False)["content"] == f"@**Deleted user {person.id}|{person.id}**"
    assert stage.sql("select count(*) from message where rendered like '%%Somebody New%%' and id = %s", late) == [(0,)]


def test_the_only_owner_stays_and_a_dry_run_erases_nothing(realm: Realm, server: OwnServer, stage: Stage) -> None:
    assert "only owner" in said_once(erase(server, realm, realm.owner.id))
    assert realm.owner.get("users/me")["is_owner"]
    shown = erase(server, realm, realm.owner.id, "--dry-run")
    assert "account\t1\n" in shown.stdout
    assert "api_key\t1\n" in shown.stdout
    assert stage.sql("select count(*) from erasure where user_id = %s", realm.owner.id) == [(0,)]
    asked = tertulia("user", "erase", realm.member.email, "--realm", realm.subdomain, env=server.environment())
    assert "--yes" in said_once(asked)


def test_texts_as_long_as_they_may_be_keep_nobody_from_being_erased_and_no_archive_from_being_read(
    realm: Realm, stage: Stage, server: OwnServer, folder: Path
) -> None:
    """Who has no name any more has a longer one than they had."""
    person, other = realm.speaker(), realm.member
    check_success(realm.owner.request("PATCH", f"users/{person.id}", full_name="Yu"))
    channel = stage.channel(person, other, realm_id=realm.id)
    said = other.send(channel.stream_id, "tea", "x")
    text, due = "@**Yu** " * 1250, int(time.time()) + 9000
    other.post("reminders", message_id=said, scheduled_delivery_timestamp=due, note=text[:1000])
    later = {"type": "channel", "to": channel.stream_id, "topic": "tea", "content": text}
    other.post("scheduled_messages", **later, scheduled_delivery_timestamp=due)
    edited = other.send(channel.stream_id, "tea", text)
    check_success(other.request("PATCH", f"messages/{edited}", content=text.strip() + "!"))
    done = erase(server, realm, person.id)
    assert done.returncode == 0, done.stderr
    [(kept, html)] = stage.sql("select note, rendered_note from reminder where user_id = %s", other.id)
    assert f"@**Deleted user {person.id}|{person.id}**" in kept
    assert "Yu" not in kept + html
    exported = tertulia("export", realm.subdomain, str(folder / "after.tar"), env=server.environment())
    assert exported.returncode == 0, exported.stderr
    checked = tertulia("archive", "check", str(folder / "after.tar"))
    assert checked.returncode == 0, checked.stderr


def test_an_erasure_that_cannot_go_on_is_in_nobodys_way(realm: Realm, stage: Stage, server: OwnServer) -> None:
    """The worker takes up twenty at a time, those first that have waited longest."""
    stuck = [realm.speaker() for _ in range(21)]
    held, broken, last = stuck[:19], stuck[19], stuck[20]
    for person in stuck:
        stage.write(partial(begin, realm_id=realm.id, user_id=person.id, kept=Messages.KEEP))
    for person in held:
        stage.sql("insert into legal_hold (realm_id, user_id) values (%s, %s)", realm.id, person.id)
    long_ago = "update erasure set due = now() - interval '1 day' * %s where user_id = %s"
    stage.sql("update erasure set stage = 'none such' where user_id = %s", broken.id)
    for place, person in enumerate(stuck):
        stage.sql(long_ago, 30 - place, person.id)
    finished = "select finished is not null from erasure where user_id = %s"
    eventually(lambda: stage.sql(finished, last.id) == [(True,)])
    assert stage.sql(finished, held[0].id) == [(False,)]
    [(is_later,)] = stage.sql("select due > now() from erasure where user_id = %s", broken.id)
    assert is_later
    stage.sql("delete from erasure where user_id = %s", broken.id)


def test_mails_of_whoever_has_the_same_address_in_another_organization_are_sent_all_the_same(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    shared, own = realm.speaker(), realm.speaker()
    other_id, _ = stage.realm()
    namesake = stage.user(realm_id=other_id)
    stage.sql(
        "update account set (email, email_key) = (select email, email_key from account where id = %s) where id = %s",
        shared.id,
        namesake.user_id,
    )
    waiting = "insert into mail_outbox (recipient, subject, body, due) values (%s, '', '', now() + interval '1 day')"
    for person in (shared, own):
        stage.sql(waiting, person.email)
        assert erase(server, realm, person.email).returncode == 0
    left = stage.sql("delete from mail_outbox where recipient in (%s, %s) returning recipient", shared.email, own.email)
    assert left == [(shared.email,)]
