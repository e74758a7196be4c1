"""How services sign what they post (integrations/incoming/signatures.py)."""

import base64
import hashlib
import hmac

import pytest

from tertulia.integrations.incoming.signatures import IsSigned, github, gitlab, grafana, sentry

NOW = 1_800_000_000.0
BODY = b'{"a":1}'
SECRET = "It's a Secret to Everybody"
HEX = "0" * 64


def digest(key: bytes, signed: bytes) -> bytes:
    """By the definition of HMAC (RFC 2104), not by the function that the server uses."""
    key = hashlib.sha256(key).digest() if len(key) > 64 else key
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + signed).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def test_github_signs_as_its_documentation_shows() -> None:
    # The values that GitHub's documentation gives for testing an implementation.
    expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert github(SECRET, {"x-hub-signature-256": expected}, b"Hello, World!", NOW)
    assert not github(SECRET, {"x-hub-signature-256": expected}, b"Hello, World?", NOW)
    assert not github("another secret", {"x-hub-signature-256": expected}, b"Hello, World!", NOW)
    assert not github(SECRET, {"x-hub-signature-256": expected.removeprefix("sha256=")}, b"Hello, World!", NOW)


@pytest.mark.parametrize("is_signed", [github, gitlab, grafana, sentry])
def test_nothing_signed_is_not_signed(is_signed: IsSigned) -> None:
    names = ("x-hub-signature-256", "x-gitlab-token", "x-grafana-alerting-signature", "sentry-hook-signature")
    for headers in ({}, dict.fromkeys(names, ""), dict.fromkeys(names, HEX), dict.fromkeys(names, "é\udcff")):
        assert not is_signed(SECRET, headers, BODY, NOW)


def test_sentry_and_grafana_sign_the_body() -> None:
    signature = digest(SECRET.encode(), BODY).hex()
    assert sentry(SECRET, {"sentry-hook-signature": signature}, BODY, NOW)
    assert grafana(SECRET, {"x-grafana-alerting-signature": signature}, BODY, NOW)
    assert not sentry(SECRET, {"sentry-hook-signature": signature}, BODY + b" ", NOW)
    assert not grafana(SECRET, {"x-grafana-alerting-signature": signature}, BODY + b" ", NOW)


@pytest.mark.parametrize(("age", "taken"), [(0, True), (299, True), (-299, True), (301, False), (-301, False)])
def test_grafana_signs_the_time_where_it_is_asked_to(age: int, taken: bool) -> None:
    sent_at = str(int(NOW) - age)
    signature = digest(SECRET.encode(), f"{sent_at}:".encode() + BODY).hex()
    headers = {"x-grafana-alerting-signature": signature, "x-grafana-alerting-signature-timestamp": sent_at}
    assert grafana(SECRET, headers, BODY, NOW) is taken
    assert not grafana(SECRET, {"x-grafana-alerting-signature": signature}, BODY, NOW), "the time cannot be left out"
    fresher = headers | {"x-grafana-alerting-signature-timestamp": str(int(NOW) - 1)}
    assert not grafana(SECRET, fresher, BODY, NOW), "nor be made younger"
    moved = f"{sent_at}:".encode() + BODY
    assert not grafana(SECRET, {"x-grafana-alerting-signature": signature}, moved, NOW), "nor go into the body"


def test_gitlab_shows_a_secret_token() -> None:
    assert gitlab(SECRET, {"x-gitlab-token": SECRET}, BODY, NOW)
    assert not gitlab(SECRET, {"x-gitlab-token": SECRET[:-1]}, BODY, NOW)


@pytest.mark.parametrize(("age", "taken"), [(0, True), (299, True), (301, False), (-301, False)])
def test_gitlab_signs_number_time_and_body_with_a_signing_token(age: int, taken: bool) -> None:
    key = bytes(range(32))
    token = "whsec_" + base64.b64encode(key).decode()
    sent_at = str(int(NOW) - age)
    signature = "v1," + base64.b64encode(hmac.new(key, f"7.{sent_at}.".encode() + BODY, "sha256").digest()).decode()
    headers = {"webhook-id": "7", "webhook-timestamp": sent_at, "webhook-signature": f"v1,AAAA {signature}"}
    assert gitlab(token, headers, BODY, NOW) is taken
    assert not gitlab(token, headers | {"webhook-id": "8"}, BODY, NOW)
    assert not gitlab(token, headers | {"webhook-timestamp": "soon"}, BODY, NOW)
    assert not gitlab(token, {"x-gitlab-token": token}, BODY, NOW), "the older way is no way around it"
