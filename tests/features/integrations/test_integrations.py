"""Other services post at /external/<name>, and a bot says it: whose key, where to, and what is answered."""

import hmac
import json
from typing import Any

import httpx
import pytest

from tests.harness.realm import Realm
from tests.harness.server import Channel, User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, check_error, check_success, unique

PUSH = {
    "ref": "refs/heads/main",
    "commits": [{"id": "1a2b3c4d5e", "message": "Tea for @**all**", "url": "https://github.com/c"}],
    "repository": {"name": "harbor", "full_name": "quay/harbor"},
    "sender": {"login": "ines"},
}


class Service:
    """Another service that knows a bot's key."""

    def __init__(self, realm: Realm, owner: Speaker, bot_type: int = 2) -> None:
        fields = {"full_name": unique("Hook"), "short_name": unique("hook").replace(" ", "-"), "bot_type": bot_type}
        made = owner.post("bots", **fields)
        self.realm, self.id, self.key = realm, made["user_id"], made["api_key"]

    def post(
        self, name: str, body: Any, headers: dict[str, str] | None = None, key: str | None = None, **params: Any
    ) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        asked = {"api_key": key or self.key, **params}
        sent = {"content-type": "application/json", "host": self.realm.host, **(headers or {})}
        with self.realm.stage.server.client() as http:
            return http.post(f"external/{name}", content=content, params=asked, headers=sent)


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.member, realm.owner, realm_id=realm.id)


@pytest.fixture
def hook(realm: Realm) -> Service:
    return Service(realm, realm.member)


def newest(speaker: Speaker) -> Json:
    [message] = speaker.window(before=1)["messages"][-1:]
    found: Json = message
    return found


def test_what_a_service_posts_is_said_in_the_channel_by_the_bot(realm: Realm, channel: Channel, hook: Service) -> None:
    for stream in (channel.name, str(channel.stream_id)):
        body = check_success(hook.post("github", PUSH, {"X-GitHub-Event": "push"}, stream=stream))
        assert body == {"result": "success", "msg": ""}
        message = newest(realm.member)
        assert (message["sender_id"], message["stream_id"], message["subject"]) == (
            hook.id,
            channel.stream_id,
            "harbor / main",
        )
        assert "<code>1a2b3c4d</code></a> Tea for" in message["content"]
        assert "user-mention" not in message["content"]
    check_success(hook.post("github", PUSH, {"X-GitHub-Event": "push"}, stream=channel.name, topic="code"))
    assert newest(realm.member)["subject"] == "code"


@pytest.mark.parametrize(
    ("name", "body", "headers"),
    [
        ("alertmanager", {"alerts": [{"labels": {"alertname": "Flood"}}]}, {}),
        ("github", PUSH, {"X-GitHub-Event": "push"}),
        ("gitlab", {"object_kind": "tag_push", "ref": "refs/tags/v1"}, {}),
        ("grafana", {"ruleName": "Flood", "state": "ok"}, {}),
        ("json", 1, {}),
        ("sentry", {"url": "", "event": {"title": "Flood"}}, {}),
        ("slack_incoming", {"text": "Flood"}, {}),
    ],
)
def test_every_integration_has_something_to_say(
    realm: Realm, channel: Channel, hook: Service, name: str, body: Any, headers: dict[str, str]
) -> None:
    check_success(hook.post(name, body, headers, stream=channel.name))
    assert newest(realm.member)["sender_id"] == hook.id


def test_without_a_channel_the_owner_is_told(realm: Realm, hook: Service) -> None:
    check_success(hook.post("json", {"degrees": 31}))
    message = newest(realm.member)
    assert (message["type"], message["sender_id"]) == ("private", hook.id)
    assert sorted(person["id"] for person in message["display_recipient"]) == sorted([hook.id, realm.member.id])


def test_a_form_is_as_good_as_a_body_of_json(realm: Realm, channel: Channel, hook: Service) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = b"payload=" + httpx.QueryParams({"x": json.dumps({"text": "*hi*"})}).__str__()[2:].encode()
    check_success(hook.post("slack_incoming", body, form, stream=channel.name))
    assert newest(realm.member)["content"] == "<p><strong>hi</strong></p>"


def test_only_the_key_of_a_bot_for_it_opens_the_door(realm: Realm, hook: Service) -> None:
    check_success(Service(realm, realm.member, 1).post("json", 1))
    for bad in (realm.member.user.api_key, "x" * 32, "short"):
        check_error(hook.post("json", 1, key=bad), "INVALID_API_KEY", 401)
    with realm.stage.server.client() as http:
        check_error(http.post("external/json", json=1, headers={"host": realm.host}))
        # A realm's key is nothing in another realm.
        elsewhere = http.post("external/json", json=1, params={"api_key": hook.key})
        check_error(elsewhere, "INVALID_API_KEY", 401)
    check_success(realm.member.request("DELETE", f"bots/{hook.id}"))
    check_error(hook.post("json", 1), "INVALID_API_KEY", 401)


def test_the_bot_sends_what_its_owner_could_and_nothing_else(realm: Realm, stage: Stage, hook: Service) -> None:
    private = stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    nothing = unique("nothing")
    for name in (private.name, nothing):
        check_error(hook.post("json", 1, stream=name), "STREAM_DOES_NOT_EXIST", stream=name)
    check_error(hook.post("json", 1, stream=nothing, topic="x" * 61))


def test_payloads_that_are_none_are_refused(channel: Channel, hook: Service) -> None:
    named: Json = {"stream": channel.name}
    check_error(hook.post("json", b"{", **named), "INVALID_JSON")
    check_error(hook.post("json", b"", **named), "INVALID_JSON")
    check_error(hook.post("github", PUSH, **named), "MISSING_HTTP_EVENT_HEADER")
    check_error(hook.post("github", [], {"X-GitHub-Event": "push"}, **named), "ANOMALOUS_WEBHOOK_PAYLOAD")
    check_error(hook.post("json", b'"' + b"x" * (1024 * 1024) + b'"', **named), "PAYLOAD_TOO_LARGE", 413)
    check_error(hook.post("nothing", 1), "NOT_FOUND", 404)


def test_unknown_events_are_a_success_that_says_so(realm: Realm, channel: Channel, hook: Service) -> None:
    body = check_success(hook.post("github", {}, {"X-GitHub-Event": "meteor"}, stream=channel.name))
    assert body == {
        "result": "success",
        "msg": "",
        "code": "UNSUPPORTED_WEBHOOK_EVENT_TYPE",
        "webhook_name": "github",
        "event_type": "meteor",
    }


def test_events_can_be_chosen_in_the_address(realm: Realm, channel: Channel, hook: Service) -> None:
    mark = realm.member.send(channel.stream_id, "mark")
    event = {"X-GitHub-Event": "push"}
    for chosen in ({"only_events": '["pull_*"]'}, {"exclude_events": '["push"]'}):
        check_success(hook.post("github", PUSH, event, stream=channel.name, **chosen))
    assert newest(realm.member)["id"] == mark
    check_success(hook.post("github", PUSH, event, stream=channel.name, only_events='["pu*"]'))
    assert newest(realm.member)["sender_id"] == hook.id
    check_error(hook.post("github", PUSH, event, stream=channel.name, only_events="push"))


def test_a_call_to_everybody_is_silent_where_the_bot_may_not_make_it(realm: Realm, stage: Stage, hook: Service) -> None:
    small = stage.channel(realm.member, realm_id=realm.id)
    crowd = [realm.speaker() for _ in range(16)]
    large = stage.channel(realm.member, *crowd, realm_id=realm.id)
    check_success(
        realm.owner.request("PATCH", "realm", can_mention_many_users_group=json.dumps({"new": nobody_of(realm)}))
    )
    for channel, silent in ((small, ""), (large, " silent")):
        check_success(hook.post("slack_incoming", {"text": "tea, <!channel>"}, stream=channel.name))
        assert f'"user-mention channel-wildcard-mention{silent}"' in newest(realm.member)["content"]


def nobody_of(realm: Realm) -> int:
    groups = realm.owner.get("user_groups")["user_groups"]
    [found] = [group["id"] for group in groups if group["name"] == "role:nobody"]
    assert isinstance(found, int)
    return found


def test_registration_lists_the_integrations(realm: Realm) -> None:
    state = realm.member.post("register", event_types=[], fetch_event_types=["realm_incoming_webhook_bots"])
    names = {bot["name"]: bot for bot in state["realm_incoming_webhook_bots"]}
    assert {"json", "slack_incoming", "github", "gitlab", "grafana", "alertmanager", "sentry"} <= names.keys()
    assert "push" in names["github"]["all_event_types"]
    assert names["json"] == {
        "name": "json",
        "display_name": "Anything as JSON",
        "all_event_types": None,
        "config_options": [],
        "url_options": [],
        "can_sign": False,
    }
    assert {name for name, bot in names.items() if bot["can_sign"]} == {"github", "gitlab", "grafana", "sentry"}


def signed(body: bytes, secret: str) -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, "sha256").hexdigest()
    return {"X-GitHub-Event": "push", "X-Hub-Signature-256": f"sha256={digest}"}


def test_where_a_secret_is_set_only_what_is_signed_with_it_is_said(
    realm: Realm, channel: Channel, hook: Service
) -> None:
    body, secret = json.dumps(PUSH).encode(), "correct horse battery"
    unsigned = {"X-GitHub-Event": "push"}
    check_success(hook.post("github", body, unsigned, stream=channel.name))
    realm.member.post(f"bots/{hook.id}/webhook_secret", integration="github", secret=secret)
    before = newest(realm.member)["id"]
    for headers in (unsigned, signed(body, "another secret"), signed(body + b" ", secret)):
        check_error(hook.post("github", body, headers, stream=channel.name), "INVALID_WEBHOOK_SIGNATURE", 401)
    assert newest(realm.member)["id"] == before
    check_success(hook.post("github", body, signed(body, secret), stream=channel.name))
    assert newest(realm.member)["id"] > before
    # Other bots are not concerned.
    other = Service(realm, realm.member)
    check_success(other.post("github", body, unsigned, stream=channel.name))

    realm.owner.post(f"bots/{hook.id}/webhook_secret", integration="github", secret="")
    check_success(hook.post("github", body, unsigned, stream=channel.name))


def test_whoever_has_the_address_but_not_the_secret_comes_in_by_no_other_door(
    realm: Realm, channel: Channel, hook: Service
) -> None:
    doors: dict[str, Json] = {
        "json": {"text": "Hello"},
        "slack_incoming": {"text": "Hello"},
        "gitlab": {"object_kind": "push"},
    }
    for name in ("json", "slack_incoming"):
        check_success(hook.post(name, doors[name], stream=channel.name))
    [[email]] = realm.stage.sql("select email from account where id = %s", hook.id)
    itself = realm.as_user(User(hook.id, email, "", hook.key, 400))
    itself.send(channel.name, "topic")
    realm.member.post(f"bots/{hook.id}/webhook_secret", integration="github", secret="correct horse battery")
    before = newest(realm.member)["id"]
    for name, payload in doors.items():
        answer = hook.post(name, payload, {"X-Gitlab-Event": "Push Hook"}, stream=channel.name)
        check_error(answer, "INVALID_WEBHOOK_SIGNATURE", 401)
    fields = {"type": "channel", "to": channel.name, "topic": "topic", "content": "Hello"}
    check_error(itself.request("POST", "messages", **fields), "INVALID_WEBHOOK_SIGNATURE", 401)
    assert newest(realm.member)["id"] == before

    realm.member.post(f"bots/{hook.id}/webhook_secret", integration="github", secret="")
    check_success(hook.post("json", doors["json"], stream=channel.name))
    itself.send(channel.name, "topic")


def test_a_bot_whose_key_opens_more_than_webhooks_has_no_secret(realm: Realm) -> None:
    generic = Service(realm, realm.member, bot_type=1)
    fields = {"integration": "github", "secret": "correct horse battery"}
    assert "incoming webhook" in check_error(
        realm.member.request("POST", f"bots/{generic.id}/webhook_secret", **fields)
    )


def test_a_secret_is_set_by_whoever_may_change_the_bot_and_lies_sealed(realm: Realm, hook: Service) -> None:
    path = f"bots/{hook.id}/webhook_secret"
    check_error(realm.moderator.request("POST", path, integration="github", secret="a long secret"))
    check_error(realm.member.request("POST", path, integration="json", secret="a long secret"))
    check_error(realm.member.request("POST", path, integration="github", secret="short"))
    check_error(realm.member.request("POST", path, integration="github", secret="sealed1.abcdefgh.AAAA"))
    check_error(
        realm.member.request("POST", f"bots/{realm.owner.id}/webhook_secret", integration="github", secret="x" * 9)
    )
    # A signing token that is none could never fit, and every delivery would be refused.
    for token in ("whsec_", "whsec_not base64!", "whsec_abcde"):
        check_error(realm.member.request("POST", path, integration="gitlab", secret=token))
    realm.member.post(path, integration="gitlab", secret="whsec_c29tZSBieXRlcyBvZiBhIGtleQ==")
    realm.member.post(path, integration="gitlab", secret="")
    realm.member.post(path, integration="github", secret="a long secret")
    [[stored]] = realm.stage.sql("select secret from hook_secret where user_id = %s", hook.id)
    assert stored.startswith("sealed1.")
