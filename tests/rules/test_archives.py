"""Archives that somebody else wrote: a good one is read, and whatever is wrong with one is said in a sentence."""

import copy
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.kinds import KINDS
from tertulia.archives.reading.archive import open_archive
from tertulia.archives.reading.checking import check_archive

Lines = dict[str, list[Any]]
Entries = list[tuple[tarfile.TarInfo, bytes]]
AT = "2026-11-17T06:00:00+00:00"
BLOB = b"the plan"
SUM = hashlib.sha256(BLOB).hexdigest()
LINES: Lines = {
    "organization": [{"id": 1, "subdomain": "", "name": "Ours", "created": AT}],
    "groups": [{"id": 1, "name": "crew", "members": [7]}],
    "people": [
        {"id": 7, "email": "ana@example.com", "full_name": "Ana", "role": 100, "joined": AT},
        {"id": 8, "email": "bea@example.com", "full_name": "Bea", "role": 400, "joined": AT},
    ],
    "channels": [{"id": 3, "name": "general", "is_private": False, "created": AT, "last_number": 2}],
    "directs": [{"id": 4, "participants": [7, 8], "last_number": 1}],
    "topics": [{"id": 5, "channel_id": 3, "name": "plans", "last_number": 2}],
    "subscriptions": [{"channel_id": 3, "user_id": 7}, {"channel_id": 3, "user_id": 8}],
    "files": [
        {"id": 2, "owner_id": 7, "path": "1/ab/c/plan.txt", "name": "plan.txt", "content_type": "text/plain",
         "created": AT, "content": {"bytes": len(BLOB), "sha256": SUM}}
    ],
    "messages": [
        {"id": 10, "conversation_id": 3, "number": 1, "topic_id": 5, "sender_id": 7, "sent": AT, "content": "Hello",
         "reactions": [{"user_id": 8, "emoji_name": "tada", "emoji_code": "1f389", "at": AT}], "files": [2]},
        {"id": 11, "conversation_id": 3, "number": 2, "topic_id": 5, "sender_id": 8, "sent": AT, "content": "Hi"},
        {"id": 12, "conversation_id": 4, "number": 1, "sender_id": 8, "sent": AT, "content": "To you"},
    ],
    "read_states": [{"conversation_id": 3, "user_id": 7, "read": [[1, 3]], "history": [[1, None]]}],
    "marks": [{"user_id": 7, "message_id": 11, "flag": "starred"}],
}  # fmt: skip


def entry(name: str, content: bytes, kind: bytes = tarfile.REGTYPE) -> tuple[tarfile.TarInfo, bytes]:
    about = tarfile.TarInfo(name)
    about.size, about.type = len(content), kind
    return about, content


def entries_of(lines: Lines) -> Entries:
    """As they should be, whatever is in the lines; bytes stand for a line that is written as they are."""
    found = [entry("blobs/file/2", BLOB)]
    parts = []
    for kind in [kind for kind in KINDS if lines.get(kind)]:
        texts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines[kind]]
        content = b"".join(text + b"\n" for text in texts)
        name = f"{kind}/000001.jsonl"
        digest = hashlib.sha256(content).hexdigest()
        parts.append({"name": name, "lines": content.count(b"\n"), "bytes": len(content), "sha256": digest})
        found.append(entry(name, content))
    counts = {str(part["name"]).split("/")[0]: part["lines"] for part in parts}
    manifest = {"format": 1, "made_by": "a test", "source": "test:1", "moment": AT, "scope": "everything",
                "counts": counts, "blobs": 1, "blob_bytes": len(BLOB), "parts": parts}  # fmt: skip
    return [*found, entry("manifest.json", json.dumps(manifest).encode())]


def packed(entries: Entries) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for about, content in entries:
            tar.addfile(about, io.BytesIO(content))
    return target.getvalue()


def refused(file: Path, data: bytes) -> str:
    file.write_bytes(data)
    with pytest.raises(ArchiveFailed) as found, open_archive(file) as archive:
        check_archive(archive, lambda _: None)
    sentence = str(found.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def test_a_good_archive_of_any_program_is_read(tmp_path: Path) -> None:
    file = tmp_path / "good.tar"
    file.write_bytes(packed(entries_of(LINES)))
    with open_archive(file) as archive:
        check_archive(archive, lambda _: None)
        assert [len(list(archive.lines(kind))) for kind in ("people", "messages", "drafts")] == [2, 3, 0]


LINE_CASES: dict[str, tuple[str, int, Callable[[dict[str, Any]], Any], str]] = {
    "a field that no kind has": ("messages", 0, lambda one: one | {"rendered": "<p>"}, "unknown field `rendered`"),
    "html of a sender": ("people", 0, lambda one: one | {"password_hash": "x"}, "unknown field `password_hash`"),
    "a field that is missing": ("messages", 0, lambda one: {"id": 10}, "missing required field"),
    "text for a number": ("messages", 0, lambda one: one | {"id": "10"}, "Expected `int`"),
    "a number below one": ("messages", 0, lambda one: one | {"id": 0}, ">= 1"),
    "a number above all": ("messages", 0, lambda one: one | {"id": 2**60}, "<="),
    "a number beyond any type": ("messages", 0, lambda one: one | {"id": 10**400}, "not as it should be"),
    "a time without a zone": ("messages", 0, lambda one: one | {"sent": "2026-11-17T06:00:00"}, "timezone"),
    "a time that is none": ("messages", 0, lambda one: one | {"sent": "NaN"}, "RFC3339"),
    "too long a text": ("messages", 0, lambda one: one | {"content": "x" * 10_001}, "10000"),
    "a text with NUL": ("messages", 0, lambda one: one | {"content": "a\0b"}, "NUL"),
    "half of a surrogate": ("messages", 0, lambda one: b'{"id": 10, "content": "\\ud800"}', "Line 1"),
    "bytes that are no UTF-8": ("messages", 0, lambda one: b'{"id": 10, "content": "\xff"}', "Line 1"),
    "no JSON": ("messages", 0, lambda one: b"Hello", "malformed"),
    "an empty line": ("messages", 0, lambda one: b"", "truncated"),
    "a line that was cut": ("messages", 0, lambda one: json.dumps(one).encode()[:-9], "not as it should be"),
    "a list for an object": ("messages", 0, lambda one: [one], "Expected `object`"),
    "values in values": ("organization", 0, lambda one: b'{"settings":{"a":' + b"[" * 200_000, "deeper"),
    "a huge line": ("organization", 0, lambda one: one | {"description": "x" * 17_000_000}, "the most that is read"),
    "a role that nobody has": ("people", 0, lambda one: one | {"role": 1}, "enum"),
    "an address for two": ("people", 1, lambda one: one | {"email": "ANA@example.com"}, "twice"),
    "a person twice": ("people", 1, lambda one: one | {"id": 7}, "person 7 is there twice"),
    "a member who is not there": ("groups", 0, lambda one: one | {"members": [99]}, "person 99 is not"),
    "a number for two conversations": ("directs", 0, lambda one: one | {"id": 3}, "conversation 3 is there twice"),
    "a path for a folder": ("organization", 0, lambda one: one | {"subdomain": "../etc"}, "matching regex"),
    "a sender who is not there": ("messages", 0, lambda one: one | {"sender_id": 99}, "person 99 is not"),
    "a topic of no channel": ("messages", 0, lambda one: one | {"topic_id": 6}, "topic 6"),
    "a topic in a direct message": ("messages", 2, lambda one: one | {"topic_id": 5}, "topic 5 is not one of"),
    "a message before another": ("messages", 1, lambda one: one | {"id": 9}, "order"),
    "one id in two conversations": ("messages", 2, lambda one: one | {"id": 10}, "message 10 is there twice"),
    "one number twice": ("messages", 1, lambda one: one | {"number": 1}, "number 1"),
    "a number above the last": ("messages", 1, lambda one: one | {"number": 9}, "last_number"),
    "a file that is not there": ("messages", 0, lambda one: one | {"files": [99]}, "file 99 is not"),
    "a reaction twice": ("messages", 0, lambda one: one | {"reactions": one["reactions"] * 2}, "reacted twice"),
    "a subscription twice": ("subscriptions", 1, lambda one: one | {"user_id": 7}, "twice, or not in its order"),
    "ranges that overlap": ("read_states", 0, lambda one: one | {"read": [[1, 3], [2, 4]]}, "ascending"),
    "a mark on nothing": ("marks", 0, lambda one: one | {"message_id": 99}, "message 99 is not"),
    "a flag with a line's end": ("marks", 0, lambda one: one | {"flag": "starred\n"}, "matching regex"),
    "a flag that nobody has": ("marks", 0, lambda one: one | {"flag": "owner"}, "matching regex"),
    "a blob of another size": ("files", 0, lambda one: one | {"content": {"bytes": 9, "sha256": SUM}}, "line says 9"),
    "a blob of another sum": ("files", 0, lambda one: one | {"content": {"bytes": 8, "sha256": "0" * 64}}, "sum of"),
    "a blob that is not there": ("files", 0, lambda one: one | {"id": 3}, "blobs/file/3 is not in the archive"),
    "a blob that nobody names": ("files", 0, lambda one: one | {"content": None}, "no line refers"),
}


@pytest.mark.parametrize("case", LINE_CASES)
def test_a_line_that_is_wrong_is_refused(case: str, tmp_path: Path) -> None:
    kind, number, spoil, expected = LINE_CASES[case]
    lines = copy.deepcopy(LINES)
    lines[kind][number] = spoil(lines[kind][number])
    sentence = refused(tmp_path / "bad.tar", packed(entries_of(lines)))
    assert expected in sentence
    assert kind in sentence or "blobs/" in sentence or "All lines" in sentence or "After the last" in sentence


def changed(name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Entries], Entries]:
    def spoil(entries: Entries) -> Entries:
        return [
            entry(about.name, json.dumps(change(json.loads(content))).encode())
            if about.name == name
            else (about, content)
            for about, content in entries
        ]

    return spoil


def link(name: str, kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, "/etc/passwd"
    return about, b""


ENTRY_CASES: dict[str, tuple[Callable[[Entries], Entries], str]] = {
    "a way out": (lambda found: [entry("../people/000001.jsonl", b""), *found], "is no name"),
    "a way from the root": (lambda found: [entry("/etc/passwd", b""), *found], "is no name"),
    "a way with backslashes": (lambda found: [entry("blobs\\file\\2", b""), *found], "is no name"),
    "another file": (lambda found: [entry("run.sh", b"x"), *found], "is no name"),
    "a symbolic link": (lambda found: [link("blobs/file/9", tarfile.SYMTYPE), *found], "plain files only"),
    "a hard link": (lambda found: [link("people/000002.jsonl", tarfile.LNKTYPE), *found], "plain files only"),
    "a device": (lambda found: [link("blobs/file/9", tarfile.CHRTYPE), *found], "plain files only"),
    "a folder": (lambda found: [link("blobs/file/9", tarfile.DIRTYPE), *found], "plain files only"),
    "a sparse file": (lambda found: [entry("blobs/file/9", b"", tarfile.GNUTYPE_SPARSE), *found], "plain files only"),
    "an entry twice": (lambda found: [found[0], *found], "twice"),
    "a part twice": (lambda found: [*found[:2], *found[1:]], "twice"),
    "a part left out": (lambda found: [*found[:2], *found[3:]], "do not agree about groups"),
    "parts in another order": (lambda found: [found[0], found[2], found[1], *found[3:]], "do not agree about"),
    "no manifest": (lambda found: found[:-1], "no manifest at its end"),
    "a manifest that is not last": (lambda found: [found[-1], *found[:-1]], "after the manifest"),
    "a part after it": (lambda found: [*found, entry("drafts/000001.jsonl", b"{}\n")], "after the manifest"),
    "a newer format": (changed("manifest.json", lambda one: one | {"format": 2}), "newer Tertulia"),
    "a manifest of another kind": (changed("manifest.json", lambda one: {"name": "x"}), "manifest"),
    "a field too many in it": (changed("manifest.json", lambda one: one | {"more": 1}), "unknown field `more`"),
    "counts that are wrong": (changed("manifest.json", lambda one: one | {"counts": {}}), "counts"),
    "blobs that are not counted": (changed("manifest.json", lambda one: one | {"blobs": 7}), "manifest says 7"),
    "a part that was changed": (
        lambda found: [(a, c.replace(b"Hello", b"Jello")) for a, c in found],
        "sum of messages/000001.jsonl",
    ),
    "a blob that was changed": (lambda found: [entry("blobs/file/2", b"the plot"), *found[1:]], "sum of blobs/file/2"),
}


@pytest.mark.parametrize("case", ENTRY_CASES)
def test_a_tar_that_is_wrong_is_refused(case: str, tmp_path: Path) -> None:
    spoil, expected = ENTRY_CASES[case]
    assert expected in refused(tmp_path / "bad.tar", packed(spoil(entries_of(LINES))))


def with_size(data: bytes, size: int) -> bytes:
    """The first entry says another size, in a header that is right otherwise."""
    about = tarfile.TarInfo("blobs/file/2")
    about.size = size
    return about.tobuf(tarfile.GNU_FORMAT) + data[512:]


def with_pax(data: bytes, **headers: str) -> bytes:
    about = tarfile.TarInfo("blobs/file/2")
    about.size, about.pax_headers = len(BLOB), headers
    return about.tobuf(tarfile.PAX_FORMAT) + data[512:]


FILE_CASES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "an empty file": (lambda data: b"", "ends in the middle"),
    "something else": (lambda data: b"x" * 4096, "is no tar"),
    "compressed": (gzip.compress, "compressed"),
    "cut in a header": (lambda data: data[: 512 + 512 + 100], "ends in the middle"),
    "cut in an entry": (lambda data: data[: 512 + 4], "ends in the middle of blobs/file/2"),
    "cut before its end": (lambda data: data[:4096] + bytes(1024), "no manifest"),
    "a size beyond the file": (lambda data: with_size(data, 10**12), "ends in the middle of blobs/file/2"),
    "a negative size": (lambda data: with_size(data, -5), "negative"),
    "a header that is damaged": (lambda data: data[:1024] + b"\xff" * 512 + data[1536:], "damaged at byte 1,024"),
    "a longer name than a header has": (lambda data: with_pax(data, path="../x"), "more than a size"),
    "a long extended header": (lambda data: with_pax(data, comment="x" * 5000), "long extended header"),
}


@pytest.mark.parametrize("case", FILE_CASES)
def test_a_file_that_is_wrong_is_refused(case: str, tmp_path: Path) -> None:
    spoil, expected = FILE_CASES[case]
    assert expected in refused(tmp_path / "bad.tar", spoil(packed(entries_of(LINES))))


def test_a_part_or_a_manifest_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    for name in ("people/000001.jsonl", "manifest.json"):
        file = tmp_path / "large.tar"
        about = tarfile.TarInfo(name)
        about.size = 65 * 1024 * 1024
        with file.open("wb") as target:
            target.write(about.tobuf(tarfile.PAX_FORMAT))
            target.truncate(about.size + 2048)  # sparse: it takes no room
        with pytest.raises(ArchiveFailed, match="the most that is read"), open_archive(file):
            pass
