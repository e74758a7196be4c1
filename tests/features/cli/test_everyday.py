"""What an operator is asked every day: each command as a process, against a running server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.command import said_once, tertulia
from tests.harness.mails import mails_to
from tests.harness.picture_server import picture
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import eventually, unique

FOR_JSON = "--json"


def run(realm: Realm, *arguments: str, code: int = 0, **environment: str) -> str:
    """What it answers."""
    env = {"TERTULIA_POSTGRES_URL": realm.stage.server.postgres_url, **environment}
    done = tertulia(*arguments, env=env)
    assert (done.returncode, done.stderr) == (code, "")
    return done.stdout


def of_realm(realm: Realm, *arguments: str) -> Any:
    return json.loads(run(realm, *arguments, "--realm", realm.subdomain, FOR_JSON))


def test_people_are_listed_shown_let_out_and_let_in(realm: Realm) -> None:
    where = ("--realm", realm.subdomain)
    listed = {one["email"]: one["role"] for one in of_realm(realm, "user", "list")}
    assert listed[realm.owner.email] == "owner"
    assert listed[realm.guest.email] == "guest"
    assert len(listed) == 5
    person = realm.member.email
    shown = of_realm(realm, "user", "show", person)
    assert (shown["id"], shown["keys"], shown["has_password"]) == (realm.member.id, 1, False)
    [key] = of_realm(realm, "user", "keys", person)
    assert key["id"]
    assert of_realm(realm, "user", "sessions", person) == []

    run(realm, "user", "role", person, "moderator", *where)
    assert realm.member.get("users/me")["role"] == 300
    run(realm, "user", "deactivate", person, *where)
    assert realm.member.request("GET", "users/me").status_code == 401
    assert person not in run(realm, "user", "list", *where)
    assert f"{realm.member.id}\tdeactivated\t{person}\t" in run(realm, "user", "list", "--all", *where)
    run(realm, "user", "reactivate", person, *where)
    assert of_realm(realm, "user", "show", person)["is_active"]

    env = {"TERTULIA_POSTGRES_URL": realm.stage.server.postgres_url}
    for last in (("deactivate", realm.owner.email), ("role", realm.owner.email, "member")):
        assert "owner" in said_once(tertulia("user", *last, *where, env=env))


def test_an_organization_is_shown_and_renamed_and_its_people_hear_of_it(realm: Realm) -> None:
    name = unique("Another Name")
    run(realm, "realm", "rename", name, "--realm", realm.subdomain)
    shown = of_realm(realm, "realm", "show")
    assert (shown["id"], shown["name"], shown["people"]) == (realm.id, name, 5)
    assert name in run(realm, "realm", "list")
    assert of_realm(realm, "realm", "settings")["invite_required"] is True
    acts = realm.owner.get("audit_log")["entries"]
    assert next(one["act"] for one in acts if "name" in one["changes"]) == "organization.settings_changed"


def test_numbers_of_the_server_and_its_relay_are_told(realm: Realm) -> None:
    found = json.loads(run(realm, "stats", FOR_JSON))
    assert found["people"] >= 5
    relay = json.loads(run(realm, "relay", "status", FOR_JSON))
    assert (relay["active"], relay["slot"], relay["epoch"] > 0) == (True, "tertulia_events", True)
    assert json.loads(run(realm, "version", FOR_JSON))["version"]


def test_a_mail_is_tried_without_the_worker(realm: Realm) -> None:
    server = realm.stage.server
    env = {"TERTULIA_POSTGRES_URL": server.postgres_url}
    assert "set TERTULIA_SMTP_URL" in said_once(tertulia("mail", "test", "me@example.com", env=env))
    assert isinstance(server, OwnServer)
    folder, address = server.folder / "tried", unique("me").replace(" ", ".") + "@example.com"
    run(realm, "mail", "test", address, TERTULIA_MAIL_FOLDER=str(folder))
    [mail] = mails_to(folder, address)
    assert mail["subject"] == "Mails arrive"
    told = json.loads(run(realm, "mail", "test", address, FOR_JSON, TERTULIA_MAIL_FOLDER=str(folder)))
    assert (told["taken"], told["to"]) == (True, address)
    assert len(mails_to(folder, address)) == 2


def test_an_organization_is_closed_and_opened_again_and_nothing_of_it_is_lost(stage: Stage) -> None:
    realm = Realm(stage)
    where = ("--realm", realm.subdomain)
    sent = realm.owner.send([realm.owner.id])
    queue = realm.member.register()
    run(realm, "realm", "deactivate", *where)
    refused = realm.owner.request("GET", "users/me")
    assert (refused.status_code, "has been deactivated" in refused.json()["msg"]) == (401, True)
    assert of_realm(realm, "realm", "show")["is_active"] is False
    env = {"TERTULIA_POSTGRES_URL": realm.stage.server.postgres_url}
    assert "deactivated already" in said_once(tertulia("realm", "deactivate", *where, env=env))
    run(realm, "realm", "reactivate", *where)
    assert realm.owner.get(f"messages/{sent}")["message"]["id"] == sent
    assert queue.request().json()["code"] == "BAD_EVENT_QUEUE_ID", "whoever was let out is let in anew"
    changes = [one["changes"].get("is_active") for one in realm.owner.get("audit_log")["entries"]]
    assert len([one for one in changes if one]) == 2


def test_clients_that_listen_are_listed_by_person(realm: Realm) -> None:
    with realm.member.register() as queue:
        nats = realm.stage.server.nats_url
        asked = ("queue", "list", "--user", realm.member.email, FOR_JSON)
        listed = json.loads(run(realm, *asked, TERTULIA_NATS_URL=nats))
        found = {one["id"]: one for one in listed}[queue.id]
        assert (found["email"], found["subdomain"]) == (realm.member.email, realm.subdomain)
        assert found["age"] < found["idle_seconds"]
        assert realm.member.email in run(realm, "queue", "list", TERTULIA_NATS_URL=nats)


def test_of_each_client_it_is_told_how_far_behind_it_is(realm: Realm) -> None:
    with realm.member.register(event_types=["message"]) as queue:
        sent = [realm.owner.send([realm.owner.id, realm.member.id], content="Hello") for _ in range(3)]
        asked = ("queue", "list", "--user", realm.member.email)
        nats = realm.stage.server.nats_url

        def behind() -> Any:
            listed = json.loads(run(realm, *asked, FOR_JSON, TERTULIA_NATS_URL=nats))
            return {one["id"]: one for one in listed}[queue.id]

        eventually(lambda: behind()["waiting"] == 3)
        assert behind()["silent_seconds"] > 0
        assert "\t3\t" in run(realm, *asked, TERTULIA_NATS_URL=nats)
        queue.until_message(sent[-1])
        queue.request(dont_block=True)  # acknowledges them
        assert behind()["waiting"] == 0


def test_an_icon_is_set_shown_and_removed_by_file_and_people_see_it(realm: Realm, tmp_path: Path) -> None:
    server, where = realm.stage.server, ("--realm", realm.subdomain)
    assert isinstance(server, OwnServer)
    files = str(server.files)
    file, text = tmp_path / "icon.png", tmp_path / "icon.txt"
    file.write_bytes(picture(300, 200))
    text.write_text("no picture")
    before = json.loads(run(realm, "realm", "icon", *where, FOR_JSON))
    assert before["source"] == "default"
    with realm.member.register(event_types=["realm"]) as queue:
        told = json.loads(run(realm, "realm", "icon", str(file), *where, FOR_JSON, TERTULIA_STORAGE_FOLDER=files))
        [*_, heard] = queue.until(lambda event: event["type"] == "realm" and event.get("property") == "icon")
    assert told["source"] == "uploaded"
    assert told["url"].endswith(heard["data"]["icon_url"])
    shown = realm.member.http.get(f"{server.url}{heard['data']['icon_url']}")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    env = {"TERTULIA_POSTGRES_URL": server.postgres_url, "TERTULIA_STORAGE_FOLDER": files}
    assert "no picture that can be read" in said_once(tertulia("realm", "icon", str(text), *where, env=env))
    assert "cannot be read" in said_once(tertulia("realm", "icon", str(tmp_path / "none"), *where, env=env))
    assert "not both" in said_once(tertulia("realm", "icon", str(file), "--remove", *where, env=env))
    assert json.loads(run(realm, "realm", "icon", "--remove", *where, FOR_JSON)) == before
    assert [one["act"] for one in realm.owner.get("audit_log")["entries"]].count("organization.picture_changed") == 2


def test_the_language_of_search_is_told(realm: Realm) -> None:
    assert json.loads(run(realm, "search", "language", FOR_JSON)) == {"language": "english"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_finishes_commands(shell: str) -> None:
    assert "_TERTULIA_COMPLETE" in tertulia("completion", shell).stdout
    asked = {"COMP_WORDS": "tertulia user deac", "COMP_CWORD": "2", "_TYPER_COMPLETE_ARGS": "tertulia user deac"}
    done = tertulia(env=asked | {"_TERTULIA_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"})
    assert "deactivate" in done.stdout
