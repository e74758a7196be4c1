"""The outermost layer of a request: urlencoded text, client names, hosts and addresses."""

from typing import Any
from urllib.parse import unquote_to_bytes, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.kernel.call import client_of, host_of, subdomain_of
from tertulia.kernel.errors import Refusal
from tertulia.kernel.router import Router
from tertulia.kernel.urlencoded import MAX_FIELDS, read_urlencoded

storable = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def fields(data: bytes) -> dict[str, Any]:
    into: dict[str, Any] = {}
    read_urlencoded(data, into)
    return into


@given(st.dictionaries(storable, storable))
def test_what_a_client_encodes_is_what_we_read(sent: dict[str, str]) -> None:
    assert fields(urlencode(sent).encode()) == sent


@given(storable)
def test_text_may_arrive_unescaped_except_for_separators(text: str) -> None:
    raw = "".join(f"%{ord(char):02X}" if char in "%&+" else char for char in text)
    assert fields(b"v=" + raw.encode()) == {"v": text}


@given(st.text("%=aF09_z \r\n.-"))
def test_broken_escapes_stay_as_they_are(text: str) -> None:
    meant = unquote_to_bytes(text)
    if b"\0" not in meant and meant.isascii():
        assert fields(b"v=" + text.encode()) == {"v": meant.decode()}


def test_sloppy_bodies_are_read_as_meant() -> None:
    sloppy = b'subscriptions=[{"name": "test here"}]&&a=1&a=2&flag&empty=&odd=100%&x=%zz&eq=a=b'
    assert fields(sloppy) == {
        "subscriptions": '[{"name": "test here"}]',
        "a": "2",
        "flag": "",
        "empty": "",
        "odd": "100%",
        "x": "%zz",
        "eq": "a=b",
    }


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a=%FF", None),
        (b"a=\xff", None),
        (b"a=%ED%A0%80", None),
        (b"a=%00", "\0"),
        (b"a=b\0", "b\0"),
        (b"a=b+%41%00%zz=", "b A\0%zz="),
    ],
)
def test_a_value_that_cannot_be_kept_is_left_to_whoever_reads_it(data: bytes, text: str | None) -> None:
    for whole in (b"x=%C3%A9&" + data, data + b"&x=\xc3\xa9"):
        found = fields(whole)
        assert (found["a"].text, found["x"]) == (text, "é")


@pytest.mark.parametrize("data", [b"%ff=a", b"\xff=a", b"\xff", b"a=1&%C3=x"])
def test_a_name_that_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        fields(data)
    assert caught.value.status == 400


def test_a_name_may_be_any_text() -> None:
    assert fields(b"a%00b=1&c\0=2") == {"a\0b": "1", "c\0": "2"}


def test_there_is_a_limit_to_the_number_of_fields() -> None:
    assert len(fields(b"&".join(b"k%d=1" % number for number in range(MAX_FIELDS)))) == MAX_FIELDS
    with pytest.raises(Refusal):
        fields(b"&".join(b"k%d=1" % number for number in range(MAX_FIELDS + 1)))


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (b"", "Unspecified"),
        (b"/1.0", "Unspecified"),
        (b"ZulipMobile/30.0.274 (Android 14)", "ZulipMobile"),
        (b"python-requests/2.32", "python-requests"),
        (b"Python 3.11", "Python"),
        (b"node (linux)", "node"),
        (b"hubot", "hubot"),
        (b"x" * 99, "x" * 30),
    ],
)
def test_the_client_name_comes_from_the_user_agent(agent: bytes, name: str) -> None:
    assert client_of(agent) == name


@pytest.mark.parametrize(
    ("host", "subdomain"),
    [
        (b"chat.example.com", ""),
        (b"CHAT.example.com:443", ""),
        (b"acme.chat.example.com:8443", "acme"),
        (b"localhost:9991", ""),
        (b"acme.localhost", "acme"),
        (b"127.0.0.1:9991", ""),
        (b"[::1]:9991", ""),
        (b"", ""),
        (b"example.com", None),
        (b"a.b.chat.example.com", None),
        (b"evilchat.example.com", None),
    ],
)
def test_the_host_names_the_realm(host: bytes, subdomain: str | None) -> None:
    assert subdomain_of(host_of(host), "chat.example.com:8443") == subdomain


ROUTES = Router[str](
    [
        ("GET", "/users", {}, "list"),
        ("GET", "/users/me", {}, "own"),
        ("GET", "/users/{user_id}", {"user_id": int}, "by id"),
        ("PATCH", "/users/{user_id}", {"user_id": int}, "change"),
        ("GET", "/users/{email}", {"email": str}, "by email"),
        ("POST", "/users/{user_id}/status", {"user_id": int}, "status"),
    ]
)


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("GET", "/users", ("list", {})),
        ("GET", "/users/me", ("own", {})),
        ("GET", "/users/12", ("by id", {"user_id": 12})),
        ("GET", "/users/ann@example.com", ("by email", {"email": "ann@example.com"})),
        ("GET", "/users/99999999999999999999", ("by id", {"user_id": 99999999999999999999})),
        ("GET", "/users/-1", ("by id", {"user_id": -1})),
        ("GET", "/users/1-1", ("by email", {"email": "1-1"})),
        ("PATCH", "/users/0012", ("change", {"user_id": 12})),
        ("POST", "/users/9223372036854775807/status", ("status", {"user_id": 2**63 - 1})),
    ],
)
def test_a_path_leads_to_the_most_specific_endpoint(method: str, path: str, found: tuple[str, dict[str, Any]]) -> None:
    assert ROUTES.find(method, path) == found


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/users/", 404),
        ("POST", "/users/x/status", 404),
        ("POST", "/users/--1/status", 404),
        ("POST", "/users/-/status", 404),
        ("POST", "/users/" + "1" * 10_000 + "/status", 404),
        ("POST", "/users/\u0661/status", 404),
        ("POST", "/users/1\n/status", 404),
        ("GET", "/users/a\0b", 404),
        ("POST", "/users/me", 405),
        ("PATCH", "/users/ann", 405),
        ("DELETE", "/users/7", 405),
    ],
)
def test_other_paths_and_methods_are_refused(method: str, path: str, status: int) -> None:
    with pytest.raises(Refusal) as caught:
        ROUTES.find(method, path)
    assert caught.value.status == status


def test_allowed_methods_count_every_endpoint_at_the_path() -> None:
    assert ROUTES.allowed("/users/7") == ["GET", "HEAD", "OPTIONS", "PATCH"]
    assert ROUTES.allowed("/users/ann") == ["GET", "HEAD", "OPTIONS"]


def test_two_endpoints_at_one_address_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two endpoints"):
        Router([("GET", "/a", {}, 1), ("GET", "/a", {}, 2)])
