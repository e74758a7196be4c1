"""Exports that administrators ask for: made by the worker, fetched by those who may, gone after a week."""

import time
from pathlib import Path

import pytest

from tertulia.kernel import disk
from tests.features.archives.asking import PUBLIC, STANDARD, ask, fetched, holding, run_chore, shown, when_ended
from tests.features.archives.conftest import World
from tests.harness.bucket import Bucket, s3_service
from tests.harness.command import tertulia
from tests.harness.files import fetch, upload
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Web
from tests.harness.talk import Queue, Speaker, check_error, check_success, eventually


@pytest.fixture
def realm(realm: Realm) -> Realm:
    give_password(realm.stage, *realm.all)
    return realm


@pytest.fixture
def own(server: Server) -> OwnServer:
    if not isinstance(server, OwnServer):
        pytest.skip("looks into the files of the server and kills its worker")
    return server


def queue_of(speaker: Speaker) -> Queue:
    kinds = ["realm_export", "realm_export_consent", "message"]
    return speaker.register(event_types=kinds)


def test_an_export_of_public_data_is_made_fetched_and_holds_nothing_private(world: World, folder: Path) -> None:
    administrator = world.realm.administrator
    give_password(world.realm.stage, administrator)
    with queue_of(administrator) as queue:
        export_id = ask(administrator)
        events = queue.until(lambda event: event["type"] == "message")
        told = [event["exports"][-1] for event in events if event["type"] == "realm_export"]
    entry = when_ended(administrator, export_id)
    assert told[0]["pending"]
    assert told[-1] == entry
    assert "is ready" in events[-1]["message"]["content"]
    assert (entry["acting_user_id"], entry["export_type"]) == (administrator.id, PUBLIC)
    assert (entry["pending"], entry["failed_timestamp"], entry["deleted_timestamp"]) == (False, None, None)
    assert entry["expires_timestamp"] - entry["export_time"] == pytest.approx(7 * 86400, abs=60)
    found = fetched(administrator, entry, folder / "public.tar")
    assert found.manifest["scope"] == "public"
    assert found.manifest["counts"]["messages"] == entry["messages_done"] == entry["messages_total"]
    assert {one["conversation_id"] for one in found.lines("messages")} == {world.public.stream_id}
    everything = b"".join(found.entries.values())
    for secret in (b"secret of", b"secret before", b"shared file", b"draft of", b"word of the member", b"#123456"):
        assert secret not in everything
    done = tertulia("archive", "check", str(found.file))
    assert done.returncode == 0, done.stderr


def test_owners_get_the_private_data_of_those_who_agree_and_it_can_be_imported(world: World, folder: Path) -> None:
    owner, moderator, administrator = world.realm.owner, world.realm.moderator, world.realm.administrator
    give_password(world.realm.stage, owner)
    with queue_of(administrator) as queue, queue_of(world.realm.member) as others:
        check_success(moderator.request("PATCH", "settings", allow_private_data_export=True))
        try:
            entry = when_ended(owner, ask(owner, STANDARD))
            found = fetched(owner, entry, folder / "standard.tar")
            assert fetch(administrator, entry["export_url"]).status_code == 404
        finally:
            check_success(moderator.request("PATCH", "settings", allow_private_data_export=False))
        consents = [event for event in queue.so_far() if event["type"] == "realm_export_consent"]
        assert not [event for event in others.so_far() if event["type"].startswith("realm_export")]
    assert [(one["user_id"], one["consented"]) for one in consents] == [(moderator.id, True), (moderator.id, False)]
    assert found.manifest["scope"] == "consenting"
    assert b"secret of three people" in found.text()
    assert b"secret of two people" not in found.text()
    env = world.server.environment()
    arrived = tertulia("import", "archive", str(found.file), "--subdomain", f"arrived{world.realm.id}", env=env)
    assert arrived.returncode == 0, arrived.stderr


def test_who_may_not_make_one_is_refused_and_cannot_fetch_one(realm: Realm) -> None:
    made = when_ended(realm.administrator, ask(realm.administrator))
    for speaker in (realm.moderator, realm.member, realm.guest):
        reply = speaker.request("POST", "export/realm", export_type=PUBLIC, password=PASSWORD)
        assert reply.status_code == 400, reply.text
        assert speaker.request("GET", "export/realm").status_code == 400
        assert speaker.request("DELETE", f"export/realm/{made['id']}").status_code == 400
        assert fetch(speaker, made["export_url"]).status_code == 404
    asked = {"export_type": STANDARD, "password": PASSWORD}
    check_error(realm.administrator.request("POST", "export/realm", **asked), "UNAUTHORIZED_PRINCIPAL")
    check_error(realm.owner.request("POST", "export/realm", export_type=3, password=PASSWORD))
    unproved = realm.owner.request("POST", "export/realm", export_type=STANDARD)
    check_error(unproved, "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    assert fetch(realm.stage.nobody(host=realm.host), made["export_url"]).status_code == 401
    assert len(realm.owner.get("export/realm")["exports"]) == 1


def test_another_organization_neither_sees_nor_fetches_nor_deletes_one(realm: Realm) -> None:
    made = when_ended(realm.owner, ask(realm.owner))
    stranger = Realm(realm.stage).owner
    assert stranger.get("export/realm")["exports"] == []
    assert fetch(stranger, made["export_url"]).status_code == 404
    nothing = check_error(stranger.request("DELETE", "export/realm/999999999"))
    assert check_error(stranger.request("DELETE", f"export/realm/{made['id']}")) == nothing
    assert shown(realm.owner, made["id"]) == made


def test_a_link_needs_no_login_for_a_minute_and_ends_with_the_right_of_who_asked_for_it(
    realm: Realm, folder: Path
) -> None:
    administrator, nobody = realm.administrator, realm.stage.nobody(host=realm.host)
    made = when_ended(realm.owner, ask(realm.owner))
    path = made["export_url"].removeprefix("/")
    check_error(realm.member.request("GET", path), "NOT_FOUND", 404)
    check_error(nobody.request("GET", path), "UNAUTHORIZED", 401)
    link = administrator.get(path)["url"]
    assert fetched(nobody, made | {"export_url": link}, folder / "linked.tar").manifest["scope"] == "public"
    sql = "select act, actor_id from audit_entry where realm_id = %s order by id desc limit 1"
    assert realm.stage.sql(sql, realm.id) == [("export.fetched", administrator.id)]
    head, user_id, ticket, name = link.rsplit("/", 3)
    until, sign = ticket.split("-")
    assert time.time() + 50 < int(until) <= time.time() + 61
    for forged in (f"{int(until) + 1}-{sign}", f"{int(until) - 120}-{sign}", f"{until}-{'0' * 64}", "x"):
        assert fetch(nobody, f"{head}/{user_id}/{forged}/{name}").status_code == 404
    assert fetch(nobody, f"{head}/{realm.owner.id}/{ticket}/{name}").status_code == 404
    assert fetch(nobody, f"{head}/{user_id}/{ticket}/other.tar").status_code == 404
    check_success(realm.owner.request("PATCH", f"users/{administrator.id}", role=400))
    assert fetch(nobody, link).status_code == 404


def test_one_is_made_at_a_time_and_five_in_a_week(realm: Realm, own: OwnServer) -> None:
    again = {"export_type": PUBLIC, "password": PASSWORD}
    with own.paused("worker"):
        first = ask(realm.owner)
        check_error(realm.administrator.request("POST", "export/realm", **again), "EXPORT_PENDING")
    when_ended(realm.owner, first)
    copied = """
    insert into export_job (realm_id, user_id, scope, ended, failed)
    select realm_id, user_id, scope, now(), 'x' from export_job, generate_series(1, 4) where id = %s
    """
    realm.stage.sql(copied, first)
    assert "within a week" in check_error(realm.owner.request("POST", "export/realm", **again))
    realm.stage.sql("update export_job set asked = asked - interval '8 days' where realm_id = %s", realm.id)
    when_ended(realm.owner, ask(realm.owner))


def test_a_deleted_one_and_one_that_is_called_off_leave_nothing(realm: Realm, own: OwnServer) -> None:
    made = when_ended(realm.owner, ask(realm.owner))
    [(key,)] = realm.stage.sql("select key from export_job where id = %s", made["id"])
    assert (own.files / key).stat().st_size == made["size"]
    realm.administrator.delete(f"export/realm/{made['id']}")
    gone = shown(realm.owner, made["id"])
    assert gone["deleted_timestamp"]
    assert gone["export_url"] is None
    assert fetch(realm.owner, made["export_url"]).status_code == 404
    eventually(lambda: not (own.files / key).exists())
    check_error(realm.owner.request("DELETE", f"export/realm/{made['id']}"))
    with own.paused("worker"):
        second = ask(realm.owner)
        realm.owner.delete(f"export/realm/{second}")
    assert shown(realm.owner, second)["failure"] == "It was called off."
    assert acts_of(realm) == ["export.asked", "export.deleted", "export.asked", "export.deleted"]


def acts_of(realm: Realm) -> list[str]:
    sql = "select act from audit_entry where realm_id = %s and act like 'export.%%' order by id"
    return [act for (act,) in realm.stage.sql(sql, realm.id)]


def test_after_a_week_the_archive_is_deleted(realm: Realm, own: OwnServer) -> None:
    made = when_ended(realm.owner, ask(realm.owner))
    [(key,)] = realm.stage.sql("select key from export_job where id = %s", made["id"])
    realm.stage.sql("update export_job set expires = now() where id = %s", made["id"])
    run_chore(own, "forget")
    assert shown(realm.owner, made["id"])["deleted_timestamp"]
    assert fetch(realm.owner, made["export_url"]).status_code == 404
    eventually(lambda: not (own.files / key).exists())


def test_who_is_demoted_or_deactivated_meanwhile_gets_none(realm: Realm, own: OwnServer) -> None:
    stage = realm.stage
    with own.paused("worker"):
        export_id = ask(realm.administrator)
        check_success(realm.owner.request("PATCH", f"users/{realm.administrator.id}", role=400))
    assert "may not have it any more" in when_ended(realm.owner, export_id)["failure"]
    second = realm.speaker(200)
    give_password(stage, second)
    with holding(stage, "reaction"):
        export_id = ask(second)
        eventually(lambda: stage.sql("select 1 from export_job where id = %s and attempts = 1", export_id))
        realm.owner.delete(f"users/{second.id}")
    entry = when_ended(realm.owner, export_id)
    assert "no active account" in entry["failure"]
    [(key,)] = stage.sql("select key from export_job where id = %s", export_id)
    eventually(lambda: not (own.files / key).exists())


def test_a_worker_that_is_killed_meanwhile_is_followed_by_another(realm: Realm, own: OwnServer, folder: Path) -> None:
    stage, owner = realm.stage, realm.owner
    channel = stage.channel(owner, realm_id=realm.id)
    big = upload(owner, "big.bin", b"x" * 8_000_000)
    owner.send(channel.stream_id, "files", f"[big]({big})")
    with holding(stage, "reaction"):
        export_id = ask(owner)
        eventually(lambda: list(own.files.glob("exports/*#*")))  # a part of it is written
        [(key,)] = stage.sql("select key from export_job where id = %s", export_id)
        own.kill("worker")
        assert shown(owner, export_id)["pending"]
        stage.sql("update export_job set due = now() where id = %s", export_id)
    entry = when_ended(owner, export_id)
    found = fetched(owner, entry, folder / "whole.tar")
    assert tertulia("archive", "check", str(found.file)).returncode == 0
    stage.sql("update orphan_object set due = now() where key = %s", key)
    eventually(lambda: not list(own.files.glob(f"{key}*")))


def test_one_that_was_interrupted_too_often_has_failed(realm: Realm, own: OwnServer) -> None:
    with own.paused("worker"):
        export_id = ask(realm.owner)
        realm.stage.sql("update export_job set attempts = 3 where id = %s", export_id)
    entry = when_ended(realm.owner, export_id)
    assert "interrupted" in entry["failure"]
    assert entry["failed_timestamp"]
    eventually(lambda: "couldn’t be made" in str(realm.owner.window(before=1)["messages"]))


def test_an_export_goes_into_a_bucket_in_parts_and_comes_from_there(realm: Realm, own: OwnServer, folder: Path) -> None:
    owner = realm.owner
    with s3_service(folder) as address:
        bucket = Bucket(address, "exports")
        web = Web(own, folder, **bucket.settings)
        try:
            web.wait()
            there = realm.as_user(owner.user, url=web.url)
            channel = realm.stage.channel(there, realm_id=realm.id)
            there.send(channel.stream_id, "files", f"[big]({upload(there, 'big.bin', b'x' * 12_000_000)})")
            with own.paused("worker"):
                export_id = ask(there)
                run_chore(own, "build", **bucket.settings)
            entry = shown(there, export_id)
            assert entry["size"] > 12_000_000
            fetched(there, entry, folder / "from_bucket.tar")
            assert bucket.unfinished() == 0
        finally:
            web.stop()


def test_organizations_take_turns_and_each_has_its_own_export_before_those_of_people(
    realm: Realm, own: OwnServer
) -> None:
    other = Realm(realm.stage)
    give_password(other.stage, other.member)
    with own.paused("worker"):
        first = [ask_for_own(one) for one in (realm.moderator, realm.member, realm.guest)]
        first.append(ask(realm.owner))
        second = ask_for_own(other.member)
    ended = "select id from export_job where id = any(%s) and ended is not null order by ended"
    eventually(lambda: len(realm.stage.sql(ended, [*first, second])) == 5, 60)
    order = [id for (id,) in realm.stage.sql(ended, [*first, second])]
    assert (order[0], order[1]) == (first[3], second)


def ask_for_own(speaker: Speaker) -> int:
    return int(speaker.post("export/own", password=PASSWORD)["id"])


def test_of_each_person_the_newest_archive_of_their_own_data_stays(realm: Realm, own: OwnServer) -> None:
    """Each may have in it whatever they starred, and counts for nobody's quota."""
    member = realm.member
    first = when_ended(member, ask_for_own(member), "export/own")
    [(key,)] = realm.stage.sql("select key from export_job where id = %s", first["id"])
    realm.stage.sql("update export_job set asked = asked - interval '2 days' where id = %s", first["id"])
    second = when_ended(member, ask_for_own(member), "export/own")
    assert shown(member, first["id"], "export/own")["deleted_timestamp"]
    assert fetch(member, first["export_url"]).status_code == 404
    assert fetch(member, second["export_url"]).status_code == 200
    eventually(lambda: not (own.files / key).exists())


def test_who_is_erased_is_in_no_archive_of_the_store_any_more(realm: Realm, own: OwnServer) -> None:
    person, other = realm.member, realm.moderator
    check_success(person.request("PATCH", "settings", allow_private_data_export=True))
    person.send([other.id], content="a plum of the member")
    of_owner = when_ended(realm.owner, ask(realm.owner, STANDARD))
    of_other = when_ended(other, ask_for_own(other), "export/own")
    keys = [key for (key,) in realm.stage.sql("select key from export_job where realm_id = %s", realm.id)]
    assert all(b"a plum of the member" in (own.files / key).read_bytes() for key in keys)
    with own.paused("worker"), queue_of(realm.owner) as queue:
        under_way = ask_for_own(realm.guest)
        erased = tertulia("user", "erase", str(person.id), "--realm", realm.subdomain, "--yes", env=own.environment())
        assert erased.returncode == 0, erased.stderr
        told = [one["exports"] for one in queue.so_far() if one["type"] == "realm_export"]
    assert [one["id"] for one in told[-1] if one["deleted_timestamp"]] == [of_owner["id"]]
    assert fetch(realm.owner, of_owner["export_url"]).status_code == 404
    assert fetch(other, of_other["export_url"]).status_code == 404
    assert "was erased" in shown(realm.guest, under_way, "export/own")["failure"]
    assert shown(realm.owner, of_owner["id"])["deleted_timestamp"]
    eventually(lambda: not any((own.files / key).exists() for key in keys))


def consent(speaker: Speaker, agrees: bool) -> None:
    check_success(speaker.request("PATCH", "settings", allow_private_data_export=agrees))


def hurry(realm: Realm) -> None:
    """Nobody waits for others to withdraw."""
    realm.stage.sql("update export_job set due = now() where realm_id = %s and attempts = 0", realm.id)


def test_who_withdraws_is_in_no_archive_of_the_store_any_more_and_it_is_made_without_them(
    realm: Realm, own: OwnServer, folder: Path
) -> None:
    for speaker in (realm.member, realm.moderator):
        consent(speaker, True)
        speaker.send([realm.guest.id], content=f"a pear of {speaker.id}")
    older, agreed, public = (when_ended(realm.owner, ask(realm.owner, kind)) for kind in (STANDARD, STANDARD, PUBLIC))
    [(key,)] = realm.stage.sql("select key from export_job where id = %s", agreed["id"])
    with queue_of(realm.owner) as queue:
        consent(realm.member, False)
        event = next(one for one in queue.so_far() if one["type"] == "realm_export")
    assert fetch(realm.owner, agreed["export_url"]).status_code == 404
    assert fetch(realm.owner, older["export_url"]).status_code == 404
    assert fetch(realm.owner, public["export_url"]).status_code == 200
    told = {one["id"]: (one["pending"], one["deleted_timestamp"] is not None) for one in event["exports"]}
    assert told == {older["id"]: (False, True), agreed["id"]: (True, False), public["id"]: (False, False)}
    eventually(lambda: not (own.files / key).exists())
    hurry(realm)
    found = fetched(realm.owner, when_ended(realm.owner, agreed["id"]), folder / "anew.tar").text()
    assert f"a pear of {realm.moderator.id}".encode() in found
    assert f"a pear of {realm.member.id}".encode() not in found


def test_who_agrees_and_withdraws_again_and_again_keeps_no_owner_from_an_export(realm: Realm, folder: Path) -> None:
    consent(realm.member, True)
    realm.member.send([realm.guest.id], content="a fig of the member")
    with holding(realm.stage, "reaction"):
        export_id = ask(realm.owner, STANDARD)
        begun = "select 1 from export_job where id = %s and attempts = 1"
        eventually(lambda: realm.stage.sql(begun, export_id))
        consent(realm.member, False)
        assert not realm.stage.sql(begun, export_id)
        hurry(realm)
        eventually(lambda: realm.stage.sql(begun, export_id))
        for agrees in (True, False, True):
            consent(realm.member, agrees)
        assert realm.stage.sql(begun, export_id)
    made = when_ended(realm.owner, export_id)
    assert made["failure"] is None
    consent(realm.member, False)
    assert b"a fig of the member" not in fetched(realm.owner, made, folder / "made.tar").text()


def test_an_archive_is_not_made_anew_while_another_one_is_being_made(realm: Realm, own: OwnServer) -> None:
    consent(realm.member, True)
    made = when_ended(realm.owner, ask(realm.owner, STANDARD))
    with own.paused("worker"):
        waits = ask(realm.owner)
        consent(realm.member, False)
    assert shown(realm.owner, made["id"])["deleted_timestamp"]
    assert when_ended(realm.owner, waits)["export_url"]


def test_exports_leave_the_last_of_a_disk_to_others(
    realm: Realm, own: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "ROOM_BYTES", 2**62)
    monkeypatch.setattr(disk, "ROOM_PERCENT", 101)
    with own.paused("worker"):
        export_id = ask(realm.owner)
        for _ in range(3):
            run_chore(own, "build")
            realm.stage.sql("update export_job set due = now() where id = %s", export_id)
    entry = shown(realm.owner, export_id)
    assert "could not write it" in entry["failure"]
    [(key,)] = realm.stage.sql("select key from export_job where id = %s", export_id)
    assert not list(own.files.glob(f"{key}*"))
