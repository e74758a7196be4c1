"""One request does not stop the others: what is read at once, on the event loop, is small and is read fast."""

import time
from collections.abc import Callable

import httpx
import msgspec
import pytest

from tertulia.kernel.json_guard import MAX_CONTAINERS, JsonTrouble, check_json
from tests.harness.realm import Realm
from tests.harness.talk import Speaker, check_error

MIB = 1024 * 1024
BRACKETS = "[" + "[]," * MIB + "[]]"
Send = Callable[[Speaker, str, str], httpx.Response]


def as_form(speaker: Speaker, path: str, narrow: str) -> httpx.Response:
    body = b"narrow=" + narrow.encode()
    return speaker.http.post(path, content=body, headers={"Content-Type": "application/x-www-form-urlencoded"})


def as_multipart(speaker: Speaker, path: str, narrow: str) -> httpx.Response:
    return speaker.http.post(path, files={"narrow": (None, narrow)})


def as_json(speaker: Speaker, path: str, narrow: str) -> httpx.Response:
    body = b'{"narrow":' + narrow.encode() + b"}"
    return speaker.http.post(path, content=body, headers={"Content-Type": "application/json"})


FORMS = pytest.mark.parametrize("send", [as_form, as_multipart, as_json])


@FORMS
def test_a_large_body_of_brackets_is_refused_by_its_size(realm: Realm, send: Send) -> None:
    nobody = realm.stage.nobody(host=realm.host)
    check_error(send(nobody, "register", BRACKETS[: 300 * 1024]), "PAYLOAD_TOO_LARGE", 413)
    check_error(send(realm.member, "register", BRACKETS), "PAYLOAD_TOO_LARGE", 413)
    check_error(send(nobody, "messages", BRACKETS), "UNAUTHORIZED", 401)


@FORMS
def test_where_files_are_taken_parameters_are_no_larger_than_elsewhere(realm: Realm, send: Send) -> None:
    reply = send(realm.member, "bots", BRACKETS)
    assert reply.status_code == (400 if send is as_multipart else 413), reply.text


@FORMS
def test_a_body_of_many_brackets_is_refused_by_their_number(realm: Realm, send: Send) -> None:
    many = "[" + "[]," * MAX_CONTAINERS + "[]]"
    assert "too many lists and objects" in send(realm.member, "register", many).json()["msg"]


def cpu(work: Callable[[str], object], text: str) -> float:
    spent = []
    for _ in range(3):
        began = time.process_time()
        try:
            work(text)
        except (JsonTrouble, msgspec.DecodeError):
            pass
        spent.append(time.process_time() - began)
    return min(spent)


@pytest.mark.parametrize(
    "piece",
    ["[],", '{"a":[]},', '["["],', "[" * 30 + "]" * 30 + ","],
    ids=["lists", "objects", "strings", "deep"],
)
def test_the_guards_of_the_largest_body_cost_little_beside_a_loop_over_it(piece: str) -> None:
    text = "[" + piece * (2 * MIB // len(piece)) + "1,1111111111111111111]"
    # The measure is the plainest loop in Python over the text, on the same machine at the same time.
    assert cpu(check_json, text) < cpu(lambda text: [one for one in text if one == "["], text) * 8
