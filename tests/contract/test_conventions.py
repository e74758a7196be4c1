"""The conventions that hold for every endpoint (protocol/basics.md#conventions)."""

import json

import httpx
import pytest

from tests.harness.server import Channel, Server
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique


def form(channel: Channel, **more: str) -> dict[str, str]:
    return {"type": "channel", "to": str(channel.stream_id), "topic": unique("forms"), "content": "Hello", **more}


# Where parameters are read


@pytest.mark.holds("conventions.form-body")
def test_a_body_is_form_encoded_fields(member: Speaker, channel: Channel) -> None:
    assert check_success(member.http.post("messages", data=form(channel)))["id"] > 0


@pytest.mark.holds("conventions.form-body")
def test_a_body_may_be_multipart(member: Speaker, channel: Channel) -> None:
    fields = {name: (None, value) for name, value in form(channel, content="über & alles").items()}
    sent = check_success(member.http.post("messages", files=fields))["id"]
    assert member.message(sent, apply_markdown=False)["content"] == "über & alles"


@pytest.mark.holds("conventions.form-body")
def test_patch_and_put_read_their_bodies_too(bot: Speaker, newcomer: Speaker) -> None:
    key = unique("key")
    check_success(bot.http.put("bot_storage", data={"storage": json.dumps({key: "kept"})}))
    assert bot.get("bot_storage", keys=[key])["storage"] == {key: "kept"}
    check_success(newcomer.http.patch("settings", files={"full_name": (None, "Multi Part")}))
    check_success(newcomer.http.patch("settings", data={"timezone": "Europe/Lisbon"}))
    own = newcomer.get("users/me")
    assert (own["full_name"], own["timezone"]) == ("Multi Part", "Europe/Lisbon")


@pytest.mark.holds("conventions.json-body")
def test_a_body_may_be_a_json_object_with_decoded_values(member: Speaker, channel: Channel) -> None:
    body = {
        "type": "channel",
        "to": channel.stream_id,
        "topic": unique("json"),
        "content": "Hi",
        "read_by_sender": True,
    }
    sent = check_success(member.http.post("messages", json=body))["id"]
    assert member.message(sent)["flags"] == ["read"]


@pytest.mark.holds("conventions.json-body", "conventions.null")
def test_null_in_a_json_body_means_absent(member: Speaker, channel: Channel) -> None:
    body = {"type": "channel", "to": channel.stream_id, "topic": unique("json"), "content": "Hi", "queue_id": None}
    check_success(member.http.post("messages", json=body))


@pytest.mark.holds("conventions.json-body")
@pytest.mark.parametrize("body", [b"[1]", b"{", b'"text"', b"\xff"])
def test_a_json_body_that_is_no_object_is_refused(member: Speaker, body: bytes) -> None:
    reply = member.http.post("messages", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400
    assert reply.json()["result"] == "error"


@pytest.mark.holds("conventions.query-any-method")
def test_post_parameters_may_travel_in_the_query_string(member: Speaker, channel: Channel) -> None:
    assert check_success(member.http.post("messages", params=form(channel)))["id"] > 0


@pytest.mark.holds("conventions.query")
def test_get_parameters_travel_in_the_query_string(member: Speaker) -> None:
    assert member.http.get("messages?anchor=newest&num_before=1").status_code == 200


@pytest.mark.holds("conventions.form-body", "conventions.query-any-method")
@pytest.mark.parametrize("place", ["data", "params"])
def test_delete_takes_its_parameters_from_the_body_or_the_query_string(member: Speaker, place: str) -> None:
    queue = member.register()
    fields = {"queue_id": queue.id}
    if place == "data":
        check_success(member.http.request("DELETE", "events", data=fields))
    else:
        check_success(member.http.request("DELETE", "events", params=fields))
    check_error(queue.request(), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


@pytest.mark.holds("conventions.body-wins")
def test_the_body_wins_over_the_query_string(member: Speaker, channel: Channel) -> None:
    reply = member.http.post("messages", params={"content": "query"}, data=form(channel, content="body"))
    assert member.message(check_success(reply)["id"], apply_markdown=False)["content"] == "body"


@pytest.mark.holds("conventions.repeated-name")
def test_the_last_of_a_repeated_name_wins(member: Speaker) -> None:
    body = f"type=direct&to=[{member.id}]&content=first&content=last"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    sent = check_success(member.http.post("messages", content=body.encode(), headers=headers))["id"]
    assert member.message(sent, apply_markdown=False)["content"] == "last"
    window = member.http.get(f"messages?anchor=oldest&num_before=0&num_after=0&anchor={sent}").json()
    assert [message["id"] for message in window["messages"]] == [sent]


@pytest.mark.holds("conventions.form-body")
def test_brackets_quotes_and_spaces_need_no_escaping_in_a_body(member: Speaker) -> None:
    body = b'event_types=["message", "realm"]&client=raw client'
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    state = check_success(member.http.post("register", content=body, headers=headers))
    member.delete("events", queue_id=state["queue_id"])


@pytest.mark.holds("conventions.no-body")
def test_a_request_without_body_content_type_or_user_agent_is_fine(server: Server, member: Speaker) -> None:
    request = member.http.build_request("POST", "register")
    for header in ("user-agent", "content-type", "accept"):
        request.headers.pop(header, None)
    state = check_success(member.http.send(request))
    member.delete("events", queue_id=state["queue_id"])


@pytest.mark.holds("conventions.query")
def test_a_get_may_carry_a_body(member: Speaker) -> None:
    check_success(member.http.request("GET", "users/me", data={"stray": "1"}))


# How parameters are read


@pytest.mark.holds("conventions.list-or-object")
def test_a_list_is_json(member: Speaker) -> None:
    assert member.post("messages/flags", messages="[ ]", op="add", flag="read")["messages"] == []
    check_error(member.request("POST", "messages/flags", messages="1,2", op="add", flag="read"))
    check_error(member.request("POST", "messages/flags", messages="5", op="add", flag="read"))
    check_error(member.request("POST", "messages/flags", messages='["5"]', op="add", flag="read"))


@pytest.mark.holds("conventions.list-or-object")
def test_an_object_is_json(member: Speaker) -> None:
    check_error(member.request("POST", "register", client_capabilities="notification_settings_null"))
    check_error(member.request("POST", "register", client_capabilities="[]"))


@pytest.mark.holds("conventions.boolean")
@pytest.mark.parametrize("value", ["True", "FALSE", "yes", "1", '"true"', ""])
def test_a_boolean_is_exactly_true_or_false(member: Speaker, value: str) -> None:
    msg = check_error(member.request("GET", "messages", anchor="newest", include_anchor=value))
    assert "include_anchor" in msg


@pytest.mark.holds("conventions.integer")
@pytest.mark.parametrize("value", ["5.0", '"5"', "true", "five", "", "[5]", "1e2", "9" * 30])
def test_an_integer_is_exactly_an_integer(member: Speaker, value: str) -> None:
    msg = check_error(member.request("GET", "messages", anchor="newest", num_before=value))
    assert "num_before" in msg


@pytest.mark.holds("conventions.empty-value")
def test_an_empty_value_is_a_value(member: Speaker) -> None:
    assert "narrow" in check_error(member.request("GET", "messages", anchor="newest", narrow=""))


@pytest.mark.holds("conventions.null")
def test_null_means_absent(member: Speaker) -> None:
    fields = {"event_types": "null", "fetch_event_types": "[]", "narrow": "null", "client_capabilities": "null"}
    state = member.post("register", **fields, idle_queue_timeout="null")
    member.delete("events", queue_id=state["queue_id"])


@pytest.mark.holds("conventions.fault-place")
def test_a_fault_inside_a_list_or_an_object_is_named_with_its_place(member: Speaker) -> None:
    msg = check_error(member.request("POST", "messages/flags", messages='[1, "2"]', op="add", flag="read"))
    assert "messages[1]" in msg
    wrong = {"notification_settings_null": 1}
    msg = check_error(member.request("POST", "register", client_capabilities=wrong))
    assert 'client_capabilities["notification_settings_null"]' in msg


@pytest.mark.holds("conventions.string")
def test_a_string_is_taken_raw(member: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("raw"), '"quoted"')
    assert member.message(sent, apply_markdown=False)["content"] == '"quoted"'


@pytest.mark.holds("conventions.encoding")
@pytest.mark.parametrize("body", [b"content=%FF%FE", b"content=a%00b", b"content=%ED%A0%80"])
def test_text_that_is_not_utf_8_or_has_a_null_is_refused(member: Speaker, channel: Channel, body: bytes) -> None:
    fields = httpx.QueryParams({name: value for name, value in form(channel).items() if name != "content"})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    check_error(member.http.post("messages", content=str(fields).encode() + b"&" + body, headers=headers))


@pytest.mark.holds("conventions.encoding")
@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
def test_json_text_that_cannot_be_stored_is_refused(member: Speaker, channel: Channel, text: str) -> None:
    for name in ("content", "topic", "to"):
        body = json.dumps({**form(channel), name: text}).encode()
        reply = member.http.post("messages", content=body, headers={"Content-Type": "application/json"})
        assert (reply.status_code, reply.json()["result"]) == (400, "error")
    reply = member.request("POST", "messages", **{**form(channel), "to": json.dumps([text])})
    assert (reply.status_code, reply.json()["result"]) == (400, "error")


# Envelopes


@pytest.mark.holds("conventions.json", "conventions.success")
def test_a_success_has_result_and_an_empty_msg_with_its_values_beside_them(member: Speaker, channel: Channel) -> None:
    sent = form(channel)
    member.http.post("messages", data=sent)  # the first in a topic may bring a policy with it
    reply = member.http.post("messages", data=sent)
    body = reply.json()
    assert body == {"result": "success", "msg": "", "id": body["id"]}
    assert reply.text.endswith("}\n")


@pytest.mark.holds("conventions.not-cached")
def test_no_answer_may_be_cached(member: Speaker, nobody: Speaker) -> None:
    for reply in (
        member.request("GET", "users/me"),
        nobody.request("GET", "users/me"),
        nobody.request("GET", "nothing"),
    ):
        assert "no-store" in reply.headers["cache-control"]


@pytest.mark.holds("conventions.cross-origin")
def test_any_web_page_may_call_the_api(member: Speaker, nobody: Speaker) -> None:
    for reply in (
        member.request("GET", "users/me"),
        nobody.request("GET", "users/me"),
        nobody.request("OPTIONS", "events"),
    ):
        assert reply.headers["access-control-allow-origin"] == "*"
        assert "authorization" in reply.headers["access-control-allow-headers"].lower()


def unsupported(speaker: Speaker, method: str, path: str, **fields: object) -> object:
    body = check_success(speaker.request(method, path, **fields, zebra="1", aardvark="[]", client="tests"))
    return body.get("ignored_parameters_unsupported")


@pytest.mark.holds("conventions.ignored-parameters", "versioning.level-167", "conventions.client-parameter")
def test_every_success_names_the_parameters_it_does_not_support(member: Speaker, channel: Channel) -> None:
    expected = ["aardvark", "zebra"]
    queue = member.register()
    calls: list[tuple[str, str, Json]] = [
        ("GET", "server_settings", {}),
        ("GET", "users/me", {}),
        ("GET", "messages", {"anchor": "newest"}),
        ("POST", "messages", form(channel)),
        ("POST", "messages/flags", {"messages": [], "op": "add", "flag": "read"}),
        ("POST", "register", {"fetch_event_types": []}),
        ("POST", "fetch_api_key", {"username": member.email, "password": member.user.password}),
        ("GET", "events", {"queue_id": queue.id, "last_event_id": queue.last, "dont_block": True}),
        ("DELETE", "events", {"queue_id": queue.id}),
    ]
    for method, path, fields in calls:
        assert unsupported(member, method, path, **fields) == expected, path


@pytest.mark.holds("conventions.ignored-only-if-any")
def test_without_unsupported_parameters_there_is_no_such_key(member: Speaker) -> None:
    assert "ignored_parameters_unsupported" not in member.get("users/me", client="tests")


@pytest.mark.holds("conventions.ignored-only-if-any")
def test_an_error_does_not_name_unsupported_parameters(member: Speaker) -> None:
    check_error(member.request("POST", "messages", zebra="1"))


@pytest.mark.holds("conventions.ignored-parameters", "conventions.encoding")
def test_what_an_unsupported_parameter_holds_does_not_matter(member: Speaker) -> None:
    expected = ["a\0b", "zebra"]
    for reply in (
        member.http.get("users/me?zebra=a%00b%FF&a%00b=1"),
        member.http.post("users/me/status", data={"zebra": "\0", "a\0b": "1", "status_text": ""}),
        member.http.post("users/me/status", files={"zebra": (None, b"\0\xff"), "status_text": (None, "")}),
        member.http.post("users/me/status", json={"zebra": "\0", "a\0b": 1, "status_text": ""}),
    ):
        assert check_success(reply)["ignored_parameters_unsupported"] in (expected, ["zebra"])


@pytest.mark.holds("conventions.encoding")
def test_a_parameter_that_cannot_be_read_is_named(member: Speaker) -> None:
    assert "status_text" in check_error(member.http.post("users/me/status", data={"status_text": "a\0b"}))
    assert "status_text" in check_error(member.http.post("users/me/status", files={"status_text": (None, b"\xff")}))
    assert "status_text" in check_error(member.http.post("users/me/status", json={"status_text": "a\0b"}))


@pytest.mark.holds("conventions.ignored-files")
def test_a_file_that_an_endpoint_does_not_take_is_named(member: Speaker, channel: Channel) -> None:
    files = {"picture": ("cat.png", b"\0\xff", "image/png"), "topic": ("t.txt", b"t", "text/plain")}
    reply = check_success(member.http.post("messages", data=form(channel), files=files))
    assert reply["ignored_parameters_unsupported"] == ["picture", "topic"]
    reply = check_success(member.http.post("register", data={"zebra": "1"}, files={"any": ("", b"")}))
    member.delete("events", queue_id=reply["queue_id"])
    assert reply["ignored_parameters_unsupported"] == ["any", "zebra"]


# Routes and methods


@pytest.mark.holds("conventions.not-found")
@pytest.mark.parametrize("path", ["nothing", "messages/abc/reactions", "messages/1.5", "users/me/", ""])
def test_an_unknown_address_is_json_404(nobody: Speaker, path: str) -> None:
    check_error(nobody.request("GET", path), "NOT_FOUND", 404)


@pytest.mark.holds("conventions.method")
def test_a_wrong_method_is_405_with_the_allowed_ones(nobody: Speaker) -> None:
    reply = nobody.request("PATCH", "events")
    allowed = ["DELETE", "GET", "HEAD", "OPTIONS"]
    check_error(reply, "METHOD_NOT_ALLOWED", 405, allowed_methods=allowed)
    assert sorted(reply.headers["allow"].split(", ")) == allowed


@pytest.mark.holds("conventions.method")
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "server_settings"), ("GET", "fetch_api_key"), ("GET", "register")]
)
def test_each_endpoint_has_its_methods_only(nobody: Speaker, method: str, path: str) -> None:
    assert nobody.request(method, path).json()["code"] == "METHOD_NOT_ALLOWED"


@pytest.mark.holds("conventions.options")
def test_options_is_204_with_the_allowed_methods(nobody: Speaker) -> None:
    reply = nobody.request("OPTIONS", "events")
    assert (reply.status_code, reply.content) == (204, b"")
    assert {"GET", "DELETE"} <= set(reply.headers["allow"].split(", "))


@pytest.mark.holds("conventions.options", "conventions.not-found")
def test_options_at_an_unknown_address_is_404(nobody: Speaker) -> None:
    check_error(nobody.request("OPTIONS", "nothing"), "NOT_FOUND", 404)


@pytest.mark.holds("conventions.head")
def test_head_is_get_without_the_body(nobody: Speaker, member: Speaker) -> None:
    for speaker, path in ((nobody, "server_settings"), (member, "users/me")):
        head, get = speaker.request("HEAD", path), speaker.request("GET", path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == get.headers["content-type"]


@pytest.mark.holds("conventions.order")
def test_the_route_is_checked_before_the_credentials_and_these_before_parameters(nobody: Speaker) -> None:
    check_error(nobody.request("GET", "nothing"), "NOT_FOUND", 404)
    assert nobody.request("PUT", "messages").status_code == 405
    check_error(nobody.request("GET", "messages", anchor="nonsense"), "UNAUTHORIZED", 401)


@pytest.mark.holds("conventions.too-large", "errors.shape")
def test_a_body_that_is_too_large_is_413(member: Speaker) -> None:
    reply = member.http.post("messages", data={"content": "x" * (26 * 1024 * 1024)})
    check_error(reply, "PAYLOAD_TOO_LARGE", 413)


@pytest.mark.holds("conventions.too-large-anonymous")
def test_without_credentials_the_limit_of_a_body_is_lower(nobody: Speaker, member: Speaker) -> None:
    body = {"stray": "x" * 300_000}
    check_error(nobody.http.post("register", data=body), "PAYLOAD_TOO_LARGE", 413)
    assert member.http.post("register", data=body).status_code == 200


@pytest.mark.holds("conventions.ignored-parameters")
def test_surplus_parameters_never_fail(member: Speaker, channel: Channel) -> None:
    surplus = {"message_id": 5, "stream_id": 3, "group_id": "x", "stream": "y", "dont_block": True}
    member.post("messages", **form(channel), **surplus)
    with Queue(member, fetch_event_types=[], **surplus) as queue:
        assert queue.id


# Topics


@pytest.mark.holds("conventions.empty-topic-name", "conventions.empty-topic-input")
def test_the_empty_topic_has_a_display_name_from_register(member: Speaker, channel: Channel) -> None:
    with Queue(member, event_types=[], fetch_event_types=["realm"]) as queue:
        shown = queue.state["realm_empty_topic_display_name"]
    for name in ("", "(no topic)", shown, f"  {shown} "):
        sent = member.send(channel.stream_id, name)
        assert member.message(sent, allow_empty_topic_name=True)["subject"] == ""
        assert member.message(sent)["subject"] == shown
