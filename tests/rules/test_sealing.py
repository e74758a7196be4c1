"""Sealing secrets (kernel/sealing.py)."""

import base64
from pathlib import Path

import pytest

from tertulia.kernel.sealing import NO_KEYS, CannotOpen, SealedColumn, Sealer, new_key, sealer_of
from tertulia.kernel.settings import Settings, SettingsError

TOKEN = SealedColumn("bot_service", "token", row="user_id", is_text=True)
OTHER = SealedColumn("push_key", "private_key", row="only_one::int")
OLD, NEW = bytes(32), bytes(range(32))


def test_what_is_sealed_shows_nothing_and_opens_to_what_it_was() -> None:
    sealer = Sealer([OLD])
    sealed = sealer.seal(TOKEN, b"hush")
    assert b"hush" not in sealed
    assert sealer.open(TOKEN, sealed) == b"hush"
    assert sealed != sealer.seal(TOKEN, b"hush")


def test_the_first_key_seals_and_all_open() -> None:
    by_old = Sealer([OLD]).seal_text(TOKEN, "hush")
    both = Sealer([NEW, OLD])
    assert both.open_text(TOKEN, by_old) == "hush"
    resealed = both.resealed(TOKEN, by_old)
    assert isinstance(resealed, str)
    assert resealed.startswith(both.current_prefix)
    assert Sealer([NEW]).open_text(TOKEN, resealed) == "hush"


@pytest.mark.parametrize("keys", [[], [NEW]], ids=["no key", "another key"])
def test_what_no_key_opens_is_an_error_that_names_the_key(keys: list[bytes]) -> None:
    sealed = Sealer([OLD]).seal_text(TOKEN, "hush")
    with pytest.raises(CannotOpen, match=sealed.split(".")[1]):
        Sealer(keys).open_text(TOKEN, sealed)
    assert Sealer(keys).find_text(TOKEN, sealed) == ""


def test_a_value_of_another_column_or_with_a_changed_byte_does_not_open() -> None:
    sealer = Sealer([OLD])
    sealed = sealer.seal(TOKEN, b"hush")
    with pytest.raises(CannotOpen):
        sealer.open(OTHER, sealed)
    head, _, tail = sealed.rpartition(b".")
    raw = bytearray(base64.urlsafe_b64decode(tail))
    raw[-1] ^= 1
    with pytest.raises(CannotOpen):
        sealer.open(TOKEN, head + b"." + base64.urlsafe_b64encode(raw))
    with pytest.raises(CannotOpen):
        sealer.open(TOKEN, head + b".AAAA")


def test_without_a_key_secrets_are_stored_as_they_are_and_read_later_with_one() -> None:
    assert NO_KEYS.seal(TOKEN, b"hush") == b"hush"
    assert Sealer([OLD]).open(TOKEN, b"hush") == b"hush"


def test_keys_come_from_the_value_and_the_file(tmp_path: Path) -> None:
    first, second, third = new_key(), new_key(), new_key()
    file = tmp_path / "keys"
    file.write_text(f"{third}\n")
    sealer = sealer_of(Settings(sealing_keys=f"{first}, {second}", sealing_key_file=str(file)))
    alone = [sealer_of(Settings(sealing_keys=key)) for key in (first, second, third)]
    assert sealer.current_prefix == alone[0].current_prefix
    assert {sealer.open_text(TOKEN, one.seal_text(TOKEN, "hush")) for one in alone} == {"hush"}


@pytest.mark.parametrize("key", ["short", "AAAA", "!" * 44])
def test_what_is_no_key_is_refused_at_start(key: str) -> None:
    with pytest.raises(SettingsError, match="new-key"):
        sealer_of(Settings(sealing_keys=key))


def test_a_file_that_is_not_there_is_refused_at_start() -> None:
    with pytest.raises(SettingsError, match="sealing_key_file"):
        sealer_of(Settings(sealing_key_file="/nowhere/keys"))
