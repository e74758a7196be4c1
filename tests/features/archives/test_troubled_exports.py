"""Exports in trouble: the worker is stopped, the store fails; and how far one is, while it is being made."""

import signal

import pytest

from tests.features.archives.asking import ask, holding, run_chore, shown, until_all_have_ended, when_ended
from tests.harness.passwords import give_password
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.talk import eventually


@pytest.fixture
def realm(realm: Realm) -> Realm:
    give_password(realm.stage, *realm.all)
    return realm


@pytest.fixture
def own(server: Server) -> OwnServer:
    if not isinstance(server, OwnServer):
        pytest.skip("stops its worker")
    return server


def test_a_worker_that_is_asked_to_stop_hands_the_export_back_and_the_next_one_makes_it(
    realm: Realm, own: OwnServer
) -> None:
    stage, owner = realm.stage, realm.owner
    with holding(stage, "reaction"):
        export_id = ask(owner)
        try_of = "select key, attempts from export_job where id = %s"
        eventually(lambda: stage.sql(try_of, export_id)[0][1] == 1)
        [(first, _)] = stage.sql(try_of, export_id)
        own.kill("worker", by=signal.SIGTERM)
        eventually(lambda: stage.sql(try_of, export_id)[0][0] != first, 60)
        # Without the hand-over it would be the second try, after the lease of the first.
        assert stage.sql(try_of, export_id)[0][1] == 1
        assert stage.sql("select count(*) from orphan_object where key = %s and due > now()", first) == [(0,)]
    entry = when_ended(owner, export_id)
    assert (entry["failure"], entry["export_url"] is not None) == (None, True)


def test_an_export_that_the_store_does_not_take_three_times_has_failed_with_a_sentence(
    realm: Realm, own: OwnServer
) -> None:
    stage, owner = realm.stage, realm.owner
    until_all_have_ended(stage)
    (own.folder / "no-folder").write_text("where a folder should be")
    with own.paused("worker"):
        export_id = ask(owner)
        for attempt in (1, 2, 3):
            assert shown(owner, export_id)["pending"]
            run_chore(own, "build", storage_folder=str(own.folder / "no-folder"))
            [(attempts, is_later)] = stage.sql("select attempts, due > now() from export_job where id = %s", export_id)
            assert (attempts, is_later) == (attempt, True)
            stage.sql("update export_job set due = now() where id = %s and ended is null", export_id)
        failed = shown(owner, export_id)
    assert (failed["pending"], failed["export_url"]) == (False, None)
    assert failed["failure"] == "The server could not write it. Its operator finds the reason in the log."
    eventually(lambda: "couldn’t be made" in str(owner.window(before=1)["messages"]))
    assert when_ended(owner, ask(owner))["failure"] is None


def test_an_export_is_claimed_without_waiting_for_the_account_of_whoever_asked(realm: Realm, own: OwnServer) -> None:
    """Who withdraws their consent holds their account, and waits for the exports that have them."""
    stage, owner = realm.stage, realm.owner
    with own.paused("worker"):
        export_id = ask(owner)
    with stage.session() as sql:
        sql("select from account where id = %s for no key update", owner.id)
        eventually(lambda: stage.sql("select attempts from export_job where id = %s", export_id) == [(1,)])
    assert when_ended(owner, export_id)["failure"] is None


def test_who_asks_meanwhile_sees_how_far_an_export_is(realm: Realm, own: OwnServer) -> None:
    stage, owner = realm.stage, realm.owner
    channel = stage.channel(owner, realm_id=realm.id)
    for number in range(3):
        owner.send(channel.stream_id, "tea", str(number))
    with holding(stage, "reaction"):
        export_id = ask(owner)
        eventually(lambda: shown(owner, export_id)["messages_total"])
        entry = shown(owner, export_id)
        assert entry["pending"]
        assert entry["messages_done"] <= entry["messages_total"] >= 3
    whole = when_ended(owner, export_id)
    assert whole["messages_done"] == whole["messages_total"] == entry["messages_total"]
