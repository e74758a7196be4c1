"""The weekly digest: who gets it and when, what is in it, and the way out of it."""

import asyncio
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.notifications.weekly_mail import making
from tertulia.notifications.weekly_mail.making import Digests
from tests.features.notifications.test_missed_mail import parts, stop_link
from tests.features.notifications.unreadable import unreadable_settings
from tests.harness.mails import mails_to
from tests.harness.realm import Realm
from tests.harness.server import Channel, OwnServer, Server
from tests.harness.talk import Speaker, check_success, eventually


@pytest.fixture
def channel(realm: Realm) -> Channel:
    """Everybody in it has been here for long, and was not seen for days."""
    realm.stage.sql("update account set date_joined = now() - interval '9 days' where realm_id = %s", realm.id)
    return realm.stage.channel(*realm.all, realm_id=realm.id)


def want(realm: Realm, day: int) -> None:
    check_success(realm.owner.request("PATCH", "realm", digest_emails_enabled=True, digest_weekday=day))


def make(realm: Realm) -> None:
    """What the worker does every minute, to its end."""
    run_once(realm)
    done = "select 1 from digest_run where realm_id = %s and after_user is not null"
    eventually(lambda: realm.stage.sql(done, realm.id) == [])
    people = "select 1 from mail_outbox join account on account.email = recipient where realm_id = %s"
    eventually(lambda: realm.stage.sql(people, realm.id) == [])


def run_once(realm: Realm) -> None:
    async def run() -> None:
        url = realm.stage.server.postgres_url
        async with await Database.connect(url, shards=4, size=2) as database:
            await Digests(database, Settings(mail_folder="somewhere")).make_due()

    asyncio.run(run())


def digests(folder: Path, person: Speaker) -> list[EmailMessage]:
    return [mail for mail in mails_to(folder, person.email, 0) if "digest" in str(mail["List-Id"])]


def test_a_digest_comes_on_its_day_where_it_is_wanted(realm: Realm, channel: Channel, folder_of_mails: Path) -> None:
    today = datetime.now(UTC).weekday()
    realm.owner.send(channel.stream_id, "lamps", "The lens is here")
    check_success(realm.guest.request("PATCH", "settings", enable_digest_emails=False))
    make(realm)
    want(realm, (today + 3) % 7)
    make(realm)
    assert digests(folder_of_mails, realm.member) == []
    want(realm, today)
    make(realm)
    assert len(digests(folder_of_mails, realm.member)) == 1
    assert digests(folder_of_mails, realm.guest) == []


def test_whoever_was_away_for_days_gets_one_mail_in_the_week(
    realm: Realm, channel: Channel, folder_of_mails: Path
) -> None:
    member, moderator, guest = realm.member, realm.moderator, realm.guest
    newcomer, reader = realm.speaker(), realm.administrator
    realm.stage.add(channel, newcomer)
    check_success(moderator.request("POST", "users/me/presence", status="active"))
    lens = [realm.owner.send(channel.stream_id, "lamps", f"lens <{number}>") for number in range(3)]
    muted = realm.owner.send(channel.stream_id, "noise", "a rattle")
    check_success(
        member.request("POST", "user_topics", stream_id=channel.stream_id, topic="noise", visibility_policy=1)
    )
    check_success(reader.request("POST", "mark_all_as_read"))
    check_success(guest.request("PATCH", "settings", message_content_in_email_notifications=False))
    want(realm, datetime.now(UTC).weekday())
    make(realm)
    make(realm)
    [mail] = digests(folder_of_mails, member)
    text, html = parts(mail)
    assert ("3 new messages · 1 person" in text, "lens <2>" in text, "lens <0>" in text) == (True, True, False)
    assert ("lens &lt;2&gt;" in html, "rattle" in text + html) == (True, False)
    assert f"/near/{lens[1]}" in text
    assert f"/near/{muted}" not in text
    [hidden] = digests(folder_of_mails, guest)
    text, html = parts(hidden)
    assert "There’s something new in 2 conversations." in text
    assert not {"lens", "lamps", "rattle", "noise"} & set((text + html).replace("<", " ").split())
    for nothing in (moderator, newcomer, reader, realm.owner):
        assert digests(folder_of_mails, nothing) == []
    visitor, path = realm.stage.nobody(host=realm.host), stop_link(mail)
    wrong = path.replace("/digest/", "/missed_messages/")
    assert visitor.http.post(f"{realm.stage.server.url}{wrong}").status_code == 404
    assert "weekly" in visitor.http.get(f"{realm.stage.server.url}{path}").text
    assert visitor.http.post(f"{realm.stage.server.url}{path}").status_code == 200
    [(chosen,)] = realm.stage.sql("select settings->>'enable_digest_emails' from account where id = %s", member.id)
    assert chosen == "false"


def test_somebody_whose_digest_cannot_be_made_keeps_nobody_elses_back(
    realm: Realm, channel: Channel, folder_of_mails: Path
) -> None:
    realm.owner.send(channel.stream_id, "lamps", "The lens is here")
    with unreadable_settings(realm, realm.moderator):
        want(realm, datetime.now(UTC).weekday())
        make(realm)
    told = [one for one in realm.all if digests(folder_of_mails, one)]
    assert realm.moderator not in told
    assert {realm.member, realm.guest} <= set(told)


def test_a_large_organization_does_not_keep_others_waiting(
    realm: Realm, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(server, OwnServer):
        pytest.skip("pauses the worker of the server")
    monkeypatch.setattr(making, "PEOPLE", 1)
    monkeypatch.setattr(making, "ROUNDS", 2)
    another = Realm(realm.stage)
    with server.paused("worker"):
        realm.stage.sql("update digest_run set after_user = null")
        for one in (realm, another):
            want(one, datetime.now(UTC).weekday())
        run_once(realm)
        begun = "select realm_id from digest_run where after_user > 0 order by realm_id"
        assert realm.stage.sql(begun) == [(realm.id,), (another.id,)]
