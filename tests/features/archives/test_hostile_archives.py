"""An archive whose sums are right may say anything: it costs or shows nothing of the other organizations."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.moving import kinds_in
from tertulia.archives.loading.actions import read_plan
from tertulia.archives.reading.archive import open_archive
from tests.features.archives.conftest import Archive, World, repacked
from tests.features.archives.test_imports import command, environment, fresh_name, imported
from tests.harness.command import said_once, tertulia
from tests.harness.talk import check_success

Lines = dict[str, list[dict[str, Any]]]
Change = Callable[[Lines], object]
FAR = 2**53 - 1
LARGE = "#x%d(?P<n>[0-9]{1,900})"


def rewritten(archive: Archive, file: Path, change: Change) -> Path:
    """The archive with other lines, and sums that are right."""
    lines: Lines = {kind: archive.lines(kind) for kind in kinds_in(archive.manifest["scope"])}
    change(lines)
    entries = {name: content for name, content in archive.entries.items() if name.startswith("blobs/")}
    parts = []
    for kind, found in lines.items():
        content = b"".join(json.dumps(line).encode() + b"\n" for line in found)
        name, digest = f"{kind}/000001.jsonl", hashlib.sha256(content).hexdigest()
        if found:
            entries[name] = content
            parts.append({"name": name, "lines": len(found), "bytes": len(content), "sha256": digest})
    counts = {kind: len(found) for kind, found in lines.items() if found}
    manifest = archive.manifest | {"parts": parts, "counts": counts}
    return repacked(entries | {"manifest.json": json.dumps(manifest).encode()}, file)


def setting(name: str, value: object) -> Change:
    return lambda lines: lines["organization"][0]["settings"].update({name: value})


def of_person(name: str, value: object) -> Change:
    return lambda lines: lines["people"][1]["private"]["settings"].update({name: value})


def in_first(kind: str, **changes: object) -> Change:
    return lambda lines: lines[kind][0].update(changes)


def field(type: int, data: str) -> Change:
    return lambda lines: lines["profile_fields"].append(
        {"id": 900, "type": type, "name": "New", "field_data": data, "position": 9}
    )


def own_bot(lines: Lines) -> None:
    for one in lines["people"]:
        if one["bot"] and not one["bot"]["system"]:
            one["bot"]["owner_id"] = one["id"]


REFUSED: dict[str, tuple[Change, str]] = {
    "messages that are kept for millions of years": (setting("message_retention_days", 2**31 - 1), "retention_days"),
    "a retention that is no integer there": (setting("message_retention_days", 2**40), "retention_days"),
    "no log at all": (setting("audit_log_retention_days", 1), "audit_log_retention_days"),
    "calls at a script": (setting("jitsi_server_url", "javascript:alert(1)"), "jitsi_server_url"),
    "a language that is a path": (of_person("default_language", "../.."), "Person"),
    "a channel's retention": (in_first("channels", message_retention_days=2**31 - 1), "message_retention_days"),
    "a channel's numbers": (in_first("channels", last_number=2**50), "last_number"),
    "what everybody gets with each registration": (in_first("groups", description="x" * 10_001), "groups"),
    "choices of a field as well": (field(3, " " * 20_000 + "{}"), "profile_fields"),
    "a draft that no draft can be": (in_first("drafts", content="x" * 10_001), "drafts"),
    "a zone that is nowhere": (in_first("people", timezone="Mars/Olympus"), "Invalid timezone"),
    "an address that is none": (
        lambda lines: next(one for one in lines["people"] if not one["bot"]).update(email="nobody"),
        "no mail address",
    ),
    "a permission of a newer program": (
        lambda lines: lines["organization"][0]["permissions"].update(can_fly_group=lines["groups"][0]["id"]),
        "does not know: can_fly_group",
    ),
    "a playground that is none": (in_first("playgrounds", url_template="javascript:{code}"), "Playground"),
    "a file that no text links": (in_first("files", path="../../etc/passwd"), "no path of a file"),
    "a channel of two lines": (in_first("channels", name="a\nb"), "Channel"),
    "a time before time": (in_first("people", joined="0001-01-01T00:00:00+14:00"), "UTC"),
    "a time after time": (in_first("messages", sent="9999-12-31T23:59:59-14:00"), "UTC"),
    "a bot that is its own": (own_bot, "no bot"),
    "a field that is no JSON": (field(3, "choices"), "no JSON"),
    "a field with a script": (
        field(7, '{"subtype": "custom", "url_pattern": "javascript:%(username)s"}'),
        "not a URL",
    ),
    "linkifiers that are too large together": (
        lambda lines: lines["linkifiers"].extend(
            {"id": 90 + number, "pattern": LARGE % number, "url_template": "https://example.com/{n}", "position": 9}
            for number in range(60)
        ),
        "too large together",
    ),
    "ids that nobody has between them": (lambda lines: lines["groups"].append({"id": FAR, "name": "far"}), "apart"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_cost_others_is_refused_when_the_archive_is_read(
    everything: Archive, folder: Path, what: str
) -> None:
    change, said = REFUSED[what]
    with (
        open_archive(rewritten(everything, folder / "bad.tar", change)) as archive,
        pytest.raises(ArchiveFailed, match=said),
    ):
        read_plan(archive, lambda *_: None)


def test_nothing_was_written_then(world: World, everything: Archive, folder: Path) -> None:
    file = rewritten(everything, folder / "bad.tar", REFUSED["calls at a script"][0])
    subdomain = fresh_name()
    assert "jitsi_server_url" in said_once(tertulia(*command(file, subdomain), env=environment(world.server)))
    assert world.realm.stage.sql("select count(*) from realm where subdomain = %s", subdomain) == [(0,)]


def test_a_web_of_more_groups_in_groups_than_may_be_made_here_is_refused(
    world: World, everything: Archive, folder: Path
) -> None:
    """Whoever sends climbs through it, and others wait."""

    def change(lines: Lines) -> None:
        first = 1 + max(one["id"] for one in lines["groups"])
        web = range(first, first + 70)
        lines["groups"] += [{"id": id, "name": f"web {id}", "subgroups": list(range(first, id))} for id in web]

    file, subdomain = rewritten(everything, folder / "web.tar", change), fresh_name()
    assert "(subgroups)" in said_once(tertulia(*command(file, subdomain), env=environment(world.server)))
    assert world.realm.stage.sql("select count(*) from realm where subdomain = %s", subdomain) == [(0,)]


def test_more_alert_words_of_somebody_and_their_bots_than_may_be_had_here_are_refused(
    world: World, everything: Archive, folder: Path
) -> None:
    """Each send looks in them, and others wait."""

    def change(lines: Lines) -> None:
        bot = next(one for one in lines["people"] if one["bot"] and one["bot"]["owner_id"])
        for one in lines["people"]:
            if one is bot or one["id"] == bot["bot"]["owner_id"]:
                one["private"] = {"alert_words": [f"a {number}" for number in range(501)]}

    file, subdomain = rewritten(everything, folder / "words.tar", change), fresh_name()
    assert "(alert_words)" in said_once(tertulia(*command(file, subdomain), env=environment(world.server)))
    assert world.realm.stage.sql("select count(*) from realm where subdomain = %s", subdomain) == [(0,)]


CONVERSATIONS = {"conversation_id", "channel_id", "new_channel_id"}


def test_very_high_ids_are_not_kept_and_no_id_names_what_is_anothers(
    world: World, everything: Archive, folder: Path
) -> None:
    """The next id of everybody here comes after those that are kept; and where ids are kept any id could be named."""
    stage, secret = world.realm.stage, world.shared.stream_id

    def raised(found: Any) -> Any:
        if isinstance(found, list):
            return [raised(one) for one in found]
        if isinstance(found, dict):
            return {
                key: value + 10**9 if key in CONVERSATIONS and value else raised(value) for key, value in found.items()
            }
        return found

    def change(lines: Lines) -> None:
        for kind in ("subscriptions", "topics", "messages", "topic_changes", "read_states", "drafts"):
            lines[kind] = raised(lines[kind])
        lines["scheduled_messages"] = []
        for one in (*lines["channels"], *lines["directs"]):
            one["id"] += 10**9
        lines["organization"][0]["id"] = lines["linkifiers"][0]["id"] = FAR
        lines["organization"][0]["settings"]["signup_announcements_stream_id"] = secret
        for one in lines["people"]:
            if one["bot"]:
                one["bot"].update(sending_channel_id=secret, register_channel_id=FAR)

    here = imported(world.server, stage, rewritten(everything, folder / "high.tar", change), fresh_name())
    assert here.report["realm_id"] < 2**31
    assert "conversation" not in here.report["shifts"]  # kept, so ids in the archive are ids of this server
    sql = "select count(*) from bot_default join account on account.id = user_id where realm_id = %s"
    assert stage.sql(sql, here.report["realm_id"]) == [(0,)]
    [(settings,)] = stage.sql("select settings from realm where id = %s", here.report["realm_id"])
    assert "signup_announcements_stream_id" not in settings
    made = world.realm.owner.post("realm/filters", pattern=r"##(?P<n>[0-9]+)", url_template="https://example.com/{n}")
    check_success(world.realm.owner.request("DELETE", f"realm/filters/{made['id']}"))
    assert made["id"] < 10**12


def test_texts_as_long_as_they_may_be_come_in_where_ids_in_them_become_longer(
    world: World, everything: Archive, folder: Path
) -> None:
    stage = world.realm.stage

    def change(lines: Lines) -> None:
        lines["channels"][0]["description"] = ("@**A|9** /#narrow/channel/9 " * 99)[:1024]
        lines["reminders"][0]["note"] = ("@**A|9** " * 200)[:1000]

    arrived = imported(world.server, stage, rewritten(everything, folder / "long.tar", change), fresh_name())
    assert arrived.report["shifts"]["person"] > 0
    realm_id = arrived.report["realm_id"]
    sql = "select max(length(description)) from channel where realm_id = %s"
    assert stage.sql(sql, realm_id) == [(1024,)]
    assert stage.sql("select length(note) from reminder where realm_id = %s", realm_id) == [(1000,)]
