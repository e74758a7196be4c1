"""The conventions that hold for every endpoint, over real HTTP."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog

from tertulia.kernel.body import DRAIN_AT_LEAST
from tests.harness.demo_api import LIMIT, Demo, served

AUTH = ("ann@example.com", "k")


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with served(Demo()) as demo:
        yield demo


@pytest.fixture(scope="module")
def http(demo: Demo) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{demo.port}/api/v1") as client:
        yield client


def raw(demo: Demo, request: bytes) -> tuple[int, dict[str, Any]]:
    """Send bytes no HTTP library would send; the status and body of the answer."""
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.sendall(request)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def check_error(reply: httpx.Response, status: int, code: str, **extra: object) -> None:
    body = reply.json()
    assert (reply.status_code, body["result"], body["code"]) == (status, "error", code)
    assert reply.headers["content-type"] == "application/json"
    assert reply.content.endswith(b"}\n")
    assert isinstance(body.pop("msg"), str)
    assert body == {"result": "error", "code": code, **extra}


def test_a_success_has_result_and_msg_and_its_values_beside_them(http: httpx.Client) -> None:
    form = {"type": "channel", "to": "[9]", "content": "a & b = ☕", "topic": "lunch"}
    reply = http.post("/messages", data=form, auth=AUTH)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.content == (
        '{"result":"success","msg":"","id":7,"to":[9],"content":"channel: a & b = ☕","topic":"lunch"}\n'.encode()
    )


def test_an_endpoint_without_values_answers_the_bare_envelope(http: httpx.Client) -> None:
    reply = http.post("/drafts", data={"drafts": "[]"}, auth=AUTH)
    assert reply.content == b'{"result":"success","msg":""}\n'


def test_an_object_encoded_before_gets_the_envelope_too(http: httpx.Client) -> None:
    assert http.get("/encoded?x=1").json() == {
        "result": "success", "msg": "", "events": [1, 2], "ignored_parameters_unsupported": ["x"],
    }  # fmt: skip


def test_a_complete_reply_is_sent_as_it_is(http: httpx.Client) -> None:
    reply = http.get("/complete")
    assert (reply.status_code, reply.content) == (202, b"plain")
    assert reply.headers["content-type"] == "text/plain"
    assert reply.headers["cache-control"] == "max-age=60"
    assert reply.headers["x-ratelimit-remaining"] == "199"


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_parameters_are_read_from_any_place_with_any_method(http: httpx.Client, method: str) -> None:
    sent: dict[str, Any] = {"text": "a b", "number": "5", "items": '["x"]', "word": "up"}
    understood = {"text": "a b", "number": 5, "items": ["x"], "word": "UP"}
    decoded = {"text": "a b", "number": 5, "items": ["x"], "word": "up"}
    multipart = {name: (None, value) for name, value in sent.items()}
    for reply in (
        http.request(method, "/echo", params=sent),
        http.request(method, "/echo", data=sent),
        http.request(method, "/echo", files=multipart),
        http.request(method, "/echo", json=decoded),
    ):
        assert reply.status_code == 200
        assert understood.items() <= reply.json().items()


def test_the_body_wins_over_the_query_and_the_last_of_repeated_names_wins(http: httpx.Client) -> None:
    reply = http.post("/echo?text=query&number=1&number=2", data={"text": "body"}).json()
    assert (reply["text"], reply["number"]) == ("body", 2)
    assert http.post("/echo?text=query", json={"text": "body"}).json()["text"] == "body"


def test_sloppy_clients_are_understood(demo: Demo) -> None:
    body = b'text={"a b": ["c"]} d&items=["x y"]'
    head = b"POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    form = b"Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n"
    status, reply = raw(demo, head + form + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert (status, reply["text"], reply["items"]) == (200, '{"a b": ["c"]} d', ["x y"])
    assert reply["client"] == "Unspecified"
    assert reply["subdomain"] == ""
    status, reply = raw(demo, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert (status, reply["items"]) == (200, ["x y"])


@pytest.mark.parametrize("method", [b"POST", b"DELETE"])
def test_a_request_needs_neither_body_nor_content_type(demo: Demo, method: bytes) -> None:
    status, reply = raw(demo, method + b" /api/v1/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (status, reply["text"], reply["subdomain"]) == (200, "", None)


def test_a_body_of_an_unknown_type_holds_no_parameters(http: httpx.Client) -> None:
    reply = http.post("/echo", content=b"text=a", headers={"Content-Type": "text/plain"})
    assert reply.json()["text"] == ""
    assert http.get("/echo").status_code == 200


def test_files_come_beside_the_parameters(http: httpx.Client) -> None:
    reply = http.post("/echo", data={"text": "ä"}, files={"any name": ("ü.txt", b"content", "text/plain")}).json()
    assert (reply["text"], reply["files"]) == ("ä", [["any name", "ü.txt", 7, "content"]])


@pytest.mark.parametrize(
    "body",
    [b"", b"--b\r\n", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n", b"x",
     b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nx'],
)  # fmt: skip
def test_a_malformed_multipart_body_is_refused(http: httpx.Client, body: bytes) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    reply = http.post("/echo", content=body, headers=headers)
    if body == b"":
        assert reply.status_code == 200
    else:
        check_error(reply, 400, "BAD_REQUEST")


def test_a_multipart_body_may_be_empty(http: httpx.Client) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert http.post("/echo", content=b"--b--\r\n", headers=headers).status_code == 200


def test_unknown_parameters_are_reported_sorted_on_success_only(http: httpx.Client) -> None:
    reply = http.post("/echo?zeta=1", data={"alpha": "1", "text": "x", "client": "me", "message_id": "4"})
    assert reply.json()["ignored_parameters_unsupported"] == ["alpha", "message_id", "zeta"]
    assert http.post("/echo", json={"odd": {"a": 1}}).json()["ignored_parameters_unsupported"] == ["odd"]
    check_error(http.post("/echo", data={"number": "x", "alpha": "1"}), 400, "BAD_REQUEST")


def test_files_are_reported_where_none_are_taken(http: httpx.Client) -> None:
    files = {"a file": ("ü.txt", b"\xff", "text/plain")}
    reply = http.post("/write", data={"how": "well", "zeta": "1"}, files=files)
    assert reply.json()["ignored_parameters_unsupported"] == ["a file", "zeta"]


def test_the_client_is_named_by_its_parameter_or_its_user_agent(http: httpx.Client) -> None:
    assert http.get("/echo").json()["client"] == "python-httpx"
    assert http.get("/echo?client=ZulipMobile").json()["client"] == "ZulipMobile"
    assert http.post("/echo", json={"client": "y" * 40}).json()["client"] == "y" * 30
    assert http.get("/echo?client=", headers={"User-Agent": "my bot/1.0"}).json()["client"] == "my bot"


@pytest.mark.parametrize(
    ("form", "msg"),
    [
        ({}, "type is missing"),
        ({"type": "x"}, "type is not one of: direct, channel"),
        ({"type": "direct", "to": "[1"}, "to is not valid JSON"),
        ({"type": "direct", "to": '[1,"2"]'}, "to[1] is not an integer"),
        ({"type": "direct", "to": "null"}, "to is missing"),
        ({"type": "direct", "to": "[]"}, "content is missing"),
        ({"type": "direct", "to": "[]", "content": "", "topic": "t" * 61}, "topic is too long (limit: 60 characters)"),
    ],
)
def test_the_first_faulty_parameter_is_named(http: httpx.Client, form: dict[str, str], msg: str) -> None:
    reply = http.post("/messages", data=form, auth=AUTH)
    check_error(reply, 400, "BAD_REQUEST")
    assert reply.json()["msg"] == msg


def test_a_parameter_and_its_alias_together_are_confusing(http: httpx.Client) -> None:
    form = {"type": "direct", "to": "[]", "content": "", "topic": "a"}
    check_error(
        http.post("/messages", data=form | {"subject": "b"}, auth=AUTH),
        400, "REQUEST_CONFUSING_VAR", var_name1="topic", var_name2="subject",
    )  # fmt: skip


@pytest.mark.parametrize("body", [b"text=%ff", b"text=\xff", b"text=%00", b"%ff=1", b"&".join([b"a=1"] * 1001)])
def test_text_that_cannot_be_kept_is_refused(http: httpx.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    check_error(http.post("/echo", content=body, headers=headers), 400, "BAD_REQUEST")
    multipart = {"text": (None, b"\xff")}
    check_error(http.post("/echo", files=multipart), 400, "BAD_REQUEST")


@pytest.mark.parametrize(
    "body", [b"[1]", b"{", b'"text"', b'{"text":"\xff"}', b'{"a":' * 40 + b"1" + b"}" * 40, b"nul"]
)
def test_a_json_body_that_is_no_sane_object_is_refused(http: httpx.Client, body: bytes) -> None:
    reply = http.post("/echo", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400
    assert reply.json()["code"] in ("INVALID_JSON", "BAD_REQUEST")


@pytest.mark.parametrize("path", ["/nothing", "/things/x", "/things/1.0", "/things/", "/echo/"])
def test_an_unknown_address_is_404_in_json(http: httpx.Client, path: str) -> None:
    check_error(http.get(path, headers={"Accept": "text/html"}), 404, "NOT_FOUND")


@pytest.mark.parametrize("number", [-1, 2**63 - 1, -(2**63)])
def test_an_id_that_no_row_can_have_reaches_the_endpoint(http: httpx.Client, number: int) -> None:
    assert http.get(f"/things/{number}").json()["thing_id"] == number


def test_an_id_beyond_every_column_reaches_the_endpoint_as_one_that_nothing_has(http: httpx.Client) -> None:
    assert http.get("/things/99999999999999999999").json()["thing_id"] > 2**62
    check_error(http.get("/things/" + "9" * 1001), 404, "NOT_FOUND")


def test_parts_of_the_path_are_parameters(http: httpx.Client) -> None:
    assert http.get("/things/12").json() == {"result": "success", "msg": "", "thing_id": 12, "now": 1234}
    assert http.get("/things/caf%C3%A9%20x/label").json()["name"] == "café x"


def test_a_wrong_method_is_405_and_says_which_are_right(http: httpx.Client) -> None:
    reply = http.put("/echo")
    allowed = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST"]
    check_error(reply, 405, "METHOD_NOT_ALLOWED", allowed_methods=allowed)
    assert reply.headers["allow"] == ", ".join(allowed)
    assert http.get("/messages").status_code == 405
    check_error(http.request("PROPFIND", "/nothing"), 404, "NOT_FOUND")


def test_options_tells_the_methods_and_lets_browsers_in(http: httpx.Client) -> None:
    reply = http.options("/messages")
    assert (reply.status_code, reply.content) == (204, b"")
    assert reply.headers["allow"] == "OPTIONS, POST"
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "Authorization" in reply.headers["access-control-allow-headers"]
    check_error(http.options("/nothing"), 404, "NOT_FOUND")


def test_head_answers_like_get_without_the_body(http: httpx.Client) -> None:
    reply, full = http.head("/things/5"), http.get("/things/5")
    assert (reply.status_code, reply.content) == (200, b"")
    assert reply.headers["content-length"] == str(len(full.content))
    assert http.head("/nothing").status_code == 404


def test_authentication_comes_before_parameters_and_after_the_route(http: httpx.Client) -> None:
    reply = http.post("/messages", data={"to": "broken"})
    check_error(reply, 401, "UNAUTHORIZED")
    assert reply.headers["www-authenticate"] == 'Basic realm="The demoroom"'
    assert http.post("/nothing").status_code == 404
    assert http.patch("/messages").status_code == 405


def test_a_refused_upload_leaves_the_connection_usable(http: httpx.Client) -> None:
    reply = http.post("/messages", data={"content": "x" * 100_000})
    assert reply.status_code == 401
    assert http.post("/echo", data={"text": "next"}).json()["text"] == "next"


def test_optional_authentication_lets_the_anonymous_in_but_not_the_wrong(http: httpx.Client) -> None:
    assert http.get("/whoami").json()["user_id"] is None
    assert http.get("/whoami", auth=AUTH).json()["user_id"] == 7
    assert http.get("/whoami", auth=("ann@example.com", "wrong")).status_code == 401


def test_credentials_do_not_matter_where_nobody_asks_for_them(http: httpx.Client) -> None:
    assert http.get("/echo", auth=("x", "y")).status_code == 200


@pytest.mark.parametrize(
    ("how", "status", "end"),
    [("well", 200, "commit"), ("refuse", 400, "rollback"), ("crash", 500, "rollback"), ("unplugged", 503, "rollback"),
     ("unencodable", 500, "rollback")],
)  # fmt: skip
def test_a_scope_is_kept_exactly_when_the_answer_is_success(
    demo: Demo, http: httpx.Client, how: str, status: int, end: str
) -> None:
    demo.ledger.history.clear()
    assert http.post("/write", data={"how": how}).status_code == status
    assert demo.ledger.history == ["begin", end]


def test_a_scope_is_not_opened_for_a_faulty_request(demo: Demo, http: httpx.Client) -> None:
    demo.ledger.history.clear()
    check_error(http.post("/write"), 400, "BAD_REQUEST")
    assert demo.ledger.history == []


def test_a_refusal_carries_its_code_and_extra_keys(http: httpx.Client) -> None:
    check_error(http.post("/write", data={"how": "refuse"}), 400, "NOT_TODAY", extra_key=1)


def test_an_engine_out_of_reach_is_503(http: httpx.Client) -> None:
    reply = http.post("/write", data={"how": "unplugged"})
    check_error(reply, 503, "SERVER_NOT_READY")
    assert 1 <= int(reply.headers["retry-after"]) <= 3


@pytest.mark.holds("errors.shape")
def test_an_unexpected_failure_is_logged_with_the_request_id_and_leaks_nothing(http: httpx.Client) -> None:
    with structlog.testing.capture_logs() as logs:
        reply = http.post("/write", data={"how": "crash"}, headers={"X-Request-Id": "trace-1"})
    check_error(reply, 500, "INTERNAL_ERROR")
    assert "secret" not in reply.text
    [entry] = [entry for entry in logs if entry["log_level"] == "error"]
    assert (entry["request_id"], entry["path"], entry["exc_info"]) == ("trace-1", "/api/v1/write", True)


def test_ex_09_a_failure_is_logged_without_what_the_path_names(http: httpx.Client) -> None:
    with structlog.testing.capture_logs() as logs:
        check_error(http.get("/things/crash-key-of-somebody/label"), 500, "INTERNAL_ERROR")
    [entry] = [entry for entry in logs if entry["log_level"] == "error"]
    assert entry["path"] == "/api/v1/things/{name}/label"
    assert "key-of-somebody" not in str(logs)


def test_every_reply_has_a_request_id_and_a_sane_one_is_kept(http: httpx.Client) -> None:
    assert http.get("/echo", headers={"X-Request-Id": "abc.DEF_1-2"}).headers["x-request-id"] == "abc.DEF_1-2"
    first, second = (http.get("/nothing", headers={"X-Request-Id": "a b"}).headers["x-request-id"] for _ in "ab")
    assert len(first) == 16
    assert first != second


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("surplus", [1, LIMIT // 2])
def test_a_body_over_the_limit_is_413_and_the_connection_lives_on(http: httpx.Client, surplus: int) -> None:
    assert http.post("/echo", content=b"x" * LIMIT, headers=FORM).status_code == 200
    reply = http.post("/echo", content=b"x" * (LIMIT + surplus), headers=FORM)
    check_error(reply, 413, "PAYLOAD_TOO_LARGE")
    assert "connection" not in reply.headers


@pytest.mark.parametrize("kind", [FORM["Content-Type"], "application/json", "multipart/form-data; boundary=b"])
def test_a_body_of_unknown_length_is_cut_off_at_the_limit(http: httpx.Client, kind: str) -> None:
    start = b'--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n'
    chunks = (start + b"x" * 50_000 for _ in range(6))
    check_error(http.post("/echo", content=chunks, headers={"Content-Type": kind}), 413, "PAYLOAD_TOO_LARGE")


def test_an_endless_body_is_refused_and_the_connection_closed(demo: Demo) -> None:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        head = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(head % (2 * DRAIN_AT_LEAST) + b"x" * (DRAIN_AT_LEAST + 1))
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()


def test_a_waiting_endpoint_notices_that_its_client_left(demo: Demo) -> None:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.sendall(b"GET /api/v1/poll HTTP/1.1\r\nHost: x\r\n\r\n")
        assert demo.watch.waiting.wait(10)
        assert not demo.watch.left.is_set()
    assert demo.watch.left.wait(10)


def test_a_client_that_leaves_in_the_middle_of_its_body_harms_nobody(demo: Demo, http: httpx.Client) -> None:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.sendall(b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ntext=")
    assert http.get("/echo").status_code == 200


def test_addresses_outside_the_api_belong_to_another_app(demo: Demo, http: httpx.Client) -> None:
    assert httpx.get(f"http://127.0.0.1:{demo.port}/inbox").text == "the web client"
    check_error(httpx.get(f"http://127.0.0.1:{demo.port}/api/inbox"), 404, "NOT_FOUND")


def test_every_answer_is_observed_by_endpoint_method_and_status(demo: Demo, http: httpx.Client) -> None:
    demo.observed.clear()
    http.get("/things/1")
    http.get("/things/x")
    http.post("/messages")
    http.get("/echo")
    assert demo.observed[:3] == [("get_thing", "GET", 200), ("", "GET", 404), ("send_message", "POST", 401)]
