"""Past advisories, class EX: what may not be in any log (docs/reference/advisories.md)."""

import base64
import json
from pathlib import Path

import pytest

from tests.harness.browser import Browser, person
from tests.harness.channels import make
from tests.harness.files import fetch, upload
from tests.harness.mails import mailed
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.talk import Queue, check_error, check_success, unique


def logs_of(server: OwnServer) -> dict[str, str]:
    """Of our processes and of both engines."""
    found = {path.name: path.read_text(errors="replace") for path in server.folder.rglob("*.log")}
    assert {"web.log", "worker.log", "relay.log", "postgres.log", "nats.log"} <= found.keys()
    return found


@pytest.fixture
def own(server: Server) -> OwnServer:
    if not isinstance(server, OwnServer):
        pytest.skip("logs can be read only where the server runs")
    return server


def test_ex_08_no_log_holds_what_people_said_or_looked_for(realm: Realm, own: OwnServer) -> None:
    marker = unique("marker").replace(" ", "")
    channel = make(realm, realm.member, kind="shared")
    sent = realm.member.send(channel.stream_id, f"{marker} topic", f"{marker} said")
    realm.member.request("PATCH", f"messages/{sent}", content=f"{marker} edited")
    realm.member.window(before=5, narrow=[["search", f"{marker} looked"]])
    realm.member.post("drafts", drafts=[{"type": "", "to": [], "topic": "", "content": f"{marker} draft"}])
    realm.member.post("messages/render", content=f"{marker} rendered")
    fetch(realm.member, upload(realm.member, f"{marker}.txt", marker.encode()))
    email = f"{marker}@example.com"
    realm.owner.post("users", email=email, password=PASSWORD, full_name=f"{marker} name")
    check_error(realm.owner.request("POST", "users", email=email, password=PASSWORD, full_name="again"))
    realm.owner.post("user_groups/create", name=f"{marker} group", description="", members=[])
    realm.owner.request("POST", "user_groups/create", name=f"{marker} group", description="", members=[])
    realm.owner.post("channels/create", name=f"{marker} channel", subscribers=[])
    realm.owner.request("POST", "channels/create", name=f"{marker} channel", subscribers=[])
    realm.stage.nobody(host=realm.host).request("POST", "fetch_api_key", username=email, password=f"{marker} wrong")
    realm.member.request("POST", "messages", type="channel", to=f"{marker} nowhere", topic="x", content="x")
    realm.member.request("POST", "messages", type="channel", to=channel.stream_id, content=marker * 2000)
    with Queue(realm.member):
        pass
    assert {name: at(text, marker) for name, text in logs_of(own).items() if marker in text} == {}


def test_ex_09_no_log_holds_a_credential(realm: Realm, own: OwnServer, folder_of_mails: Path) -> None:
    stage = realm.stage
    user = person(stage, realm.id)
    browser = Browser(own.url)
    browser.http.headers["host"] = realm.host
    try:
        browser.log_in(user)
        csrf = browser.csrf_token or "none"
        session = browser.token
        browser.get("users/me")
        browser.request("DELETE", "sessions/current")
    finally:
        browser.http.close()
    nobody = stage.nobody(host=realm.host)
    key = nobody.post("fetch_api_key", username=user.email, password=PASSWORD)["api_key"]
    nobody.http.get("users/me", params={"api_key": key}, auth=(user.email, "wrong" * 6 + "xx"))
    nobody.post("accounts/password/reset", email=user.email)
    token = mailed(folder_of_mails, user.email, r"/reset/(\S+)")[-1]
    nobody.http.get(f"{own.url}/accounts/password/reset/{token}")
    check_error(nobody.request("POST", "accounts/password/reset/confirm", token=token, new_password="x"))
    queue = Queue(realm.member)
    realm.member.request("GET", "events", queue_id=queue.id, last_event_id=-1, dont_block=True)
    hook = realm.bot(realm.member)
    stage.nobody(host=realm.host).http.post(f"external/json?api_key={hook.user.api_key}", json={"x": 1})
    basic = base64.b64encode(f"{user.email}:{key}".encode()).decode()
    secrets = (PASSWORD, key, session, csrf, token, basic, queue.id, hook.user.api_key, realm.member.user.api_key)
    for name, text in logs_of(own).items():
        assert [secret for secret in secrets if secret in text] == [], name


def at(text: str, marker: str) -> list[str]:
    return [line[:400] for line in text.splitlines() if marker in line]


def test_logins_failures_and_administrative_acts_leave_a_line_that_names_nobody(realm: Realm, own: OwnServer) -> None:
    user, nobody = person(realm.stage, realm.id), realm.stage.nobody(host=realm.host)
    assert nobody.request("POST", "fetch_api_key", username=user.email, password="wrong").status_code == 401
    nobody.post("fetch_api_key", username=user.email, password=PASSWORD)
    check_success(realm.owner.request("PATCH", f"users/{user.user_id}", role=300))
    lines = [json.loads(line) for line in own.log("web").splitlines() if '"audit"' in line]
    target = f"user {user.user_id}"
    told = [(one["act"], one.get("actor_id"), one["realm_id"]) for one in lines if one.get("target") == target]
    assert ("login.failed", None, realm.id) in told
    assert ("login.succeeded", user.user_id, realm.id) in told
    assert ("user.role_changed", realm.owner.id, realm.id) in told
