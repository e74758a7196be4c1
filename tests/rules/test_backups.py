"""Which archives are kept, what a manifest refuses, and which keys are taken."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tertulia.backups.encryption import new_identity, read_identities, read_recipients
from tertulia.backups.errors import BackupFailed, Damaged
from tertulia.backups.manifest import FORMAT, Manifest, Part, Table, check_form, decode_manifest, encode_manifest
from tertulia.backups.objects import number_of
from tertulia.backups.place import moment_of, name_of, open_place, split_archive
from tertulia.backups.retention import choose_kept
from tertulia.backups.verifying import compare
from tertulia.kernel.settings import Settings

NOW = datetime(2026, 11, 16, 2, 30, tzinfo=UTC)
MANIFEST = Manifest(
    name=name_of(NOW),
    begun_at=NOW,
    ended_at=NOW,
    program="0.1.0",
    form="0003",
    postgres=17,
    recipients=["age1x"],
    tables=1,
    rows=2,
    objects=3,
    object_bytes=4,
    copied=3,
    copied_bytes=5,
    parts={"database": Part(6, "00")},
)


def nightly(count: int) -> list[str]:
    """One archive each night, the oldest first."""
    return [name_of(NOW - timedelta(days=days)) for days in reversed(range(count))]


def test_the_newest_of_each_day_and_of_each_week_is_kept() -> None:
    names = nightly(60)
    assert choose_kept(names, 3, 0) == names[-3:]
    sundays = [name for name in names if (moment := moment_of(name)) and moment.isoweekday() == 7]
    assert choose_kept(names, 0, 3) == [*sundays[-2:], names[-1]]
    assert choose_kept(names, 3, 3) == sorted({*names[-3:], *sundays[-2:]})


def test_of_a_day_with_several_archives_the_newest_is_kept_and_days_without_any_do_not_count() -> None:
    hours = [name_of(NOW - timedelta(hours=hours)) for hours in (60, 59, 1, 0)]
    assert choose_kept(hours, 2, 0) == [hours[1], hours[3]]


def test_the_newest_archive_is_always_kept() -> None:
    assert choose_kept(nightly(5), 0, 0) == nightly(1)
    assert choose_kept([], 7, 7) == []


def test_a_manifest_comes_back_as_it_was_written() -> None:
    assert decode_manifest(encode_manifest(MANIFEST)) == MANIFEST


def test_no_bit_of_a_manifest_can_be_changed_and_nothing_cut_off() -> None:
    data = encode_manifest(MANIFEST)
    for place in range(0, len(data), 7):
        with pytest.raises(Damaged):
            decode_manifest(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(Damaged):
            decode_manifest(data[:place])


def test_an_archive_of_a_newer_format_or_form_is_refused() -> None:
    with pytest.raises(BackupFailed, match="newer Tertulia"):
        decode_manifest(encode_manifest(msgspec.structs.replace(MANIFEST, format=FORMAT + 1)))
    check_form(MANIFEST, "0003")
    check_form(MANIFEST, "0004")
    with pytest.raises(BackupFailed, match=r"version 0\.1\.0 or newer"):
        check_form(MANIFEST, "0002")


def test_tables_that_differ_are_named() -> None:
    written = {"public.a": Table(1, "x"), "public.b": Table(2, "y"), "public.gone": Table(0, "0")}
    compare(written, dict(written))
    with pytest.raises(Damaged, match=r"public\.b, public\.gone, public\.new\."):
        compare(written, {"public.a": Table(1, "x"), "public.b": Table(2, "z"), "public.new": Table(0, "0")})


def test_a_secret_key_is_no_recipient_and_a_public_one_no_identity(tmp_path: Path) -> None:
    text, public = new_identity()
    file = tmp_path / "key.txt"
    file.write_text(text)
    assert [str(one.to_public()) for one in read_identities(file)] == [public]
    assert [str(one) for one in read_recipients([f"{public}, {public}", ""])] == [public]
    with pytest.raises(BackupFailed, match="secret key"):
        read_recipients([text.splitlines()[-1]])
    with pytest.raises(BackupFailed, match="public key such as"):
        read_recipients(["age1nonsense"])
    file.write_text(public)
    with pytest.raises(BackupFailed, match="identity file"):
        read_identities(file)


def test_an_object_for_other_recipients_is_another_object() -> None:
    one, other = (read_recipients([new_identity()[1]]) for _ in range(2))
    assert len({number_of("1/ab", keys) for keys in (one, other, [*one, *other], [])}) == 4
    assert number_of("1/ab", [*one, *other]) == number_of("1/ab", [*other, *one])


@pytest.mark.parametrize("place", ["/srv/files", "/srv/files/backups", "/srv"])
def test_a_folder_for_backups_is_neither_in_nor_above_that_of_the_files(place: str) -> None:
    with pytest.raises(BackupFailed, match="same folder"):
        open_place(place, Settings(storage_folder="/srv/files"), must_exist=False)


@pytest.mark.parametrize("place", ["s3://chat", "s3://chat/files", "s3://chat/files/backups", "s3://"])
def test_a_bucket_for_backups_has_a_prefix_of_its_own(place: str) -> None:
    with pytest.raises(BackupFailed):
        open_place(place, Settings(s3_bucket="chat", s3_prefix="files"), must_exist=False)


def test_an_archive_is_named_by_its_place_and_its_name(tmp_path: Path) -> None:
    place, name = split_archive(f"{tmp_path}/2026-11-16T023000.000Z/", Settings())
    assert (place.text, name) == (str(tmp_path), "2026-11-16T023000.000Z")
    place, name = split_archive("s3://chat/backups/latest", Settings(backup_s3_region="eu"))
    assert (place.text, name, place.store.settings.s3_region) == ("s3://chat/backups", "latest", "eu")
    with pytest.raises(BackupFailed, match="names no archive"):
        split_archive("s3://chat", Settings())
