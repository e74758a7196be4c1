"""Engines on other machines are reached with TLS that is checked, unless the settings say otherwise."""

import pytest

from tertulia.kernel.engine_addresses import checked_postgres_url, is_on_this_machine, postgres_trust
from tertulia.kernel.settings import Settings, SettingsError


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@127.0.0.1:5432/db",
        "postgresql://u:p@localhost/db",
        "postgresql://u:p@[::1]:5432/db",
        "postgresql://u:p@/db",
        "postgresql://u:p@/db?host=/run/postgresql",
        "postgresql://u:p@db.example.com/db?sslmode=disable",
        "postgresql://u:p@db.example.com/db?sslmode=require",
        "postgresql://u:p@127.0.0.1:1,127.0.0.1:2/db",
    ],
)
def test_what_stays_here_or_says_what_it_wants_is_left_alone(url: str) -> None:
    assert checked_postgres_url(url) == url
    assert Settings(postgres_url=url).postgres_url == url


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("postgresql://u:p@db.example.com/db", "postgresql://u:p@db.example.com/db?sslmode=verify-full"),
        ("postgresql://u:p@10.0.0.1/db?a=b", "postgresql://u:p@10.0.0.1/db?a=b&sslmode=verify-full"),
        ("postgresql://u:p@127.0.0.1,10.0.0.1/db", "postgresql://u:p@127.0.0.1,10.0.0.1/db?sslmode=verify-full"),
        ("postgresql://u:p@/db?host=db.example.com", "postgresql://u:p@/db?host=db.example.com&sslmode=verify-full"),
    ],
)
def test_what_leads_elsewhere_is_checked(url: str, checked: str) -> None:
    assert Settings(postgres_url=url).postgres_url == checked
    assert Settings(postgres_url=checked).postgres_url == checked


def test_the_doctor_can_tell_what_is_checked() -> None:
    assert postgres_trust("postgresql://u@h/db?sslmode=verify-full") == "TLS, certificate checked"
    assert postgres_trust("postgresql://u@127.0.0.1/db") == "on this machine"
    assert postgres_trust("postgresql://u@h/db?sslmode=require") == "sslmode=require"


def test_nats_elsewhere_needs_tls_or_a_word_that_it_does_not() -> None:
    for url in (
        "nats://127.0.0.1:4222",
        "nats://localhost,nats://[::1]:1",
        "tls://nats.example.com",
        "tls://a,tls://b",
    ):
        assert Settings(nats_url=url).nats_url == url
    for url in ("nats://nats.example.com:4222", "tls://a,nats://b", "ws://127.0.0.1", "127.0.0.1:4222"):
        with pytest.raises(SettingsError, match="nats_url"):
            Settings(nats_url=url)
    assert Settings(nats_url="nats://nats.example.com", nats_plaintext=True).nats_plaintext


def test_names_are_elsewhere_whatever_they_stand_for() -> None:
    assert not is_on_this_machine("localhost.example.com")
    assert not is_on_this_machine("postgres")
    assert is_on_this_machine("127.9.9.9")
