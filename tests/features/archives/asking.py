"""Asking a server for an export, and fetching what came of it."""

from pathlib import Path

from tests.features.archives.conftest import Archive
from tests.harness.files import fetch
from tests.harness.passwords import PASSWORD
from tests.harness.talk import Json, Speaker, eventually

PUBLIC, STANDARD = 1, 2


def ask(speaker: Speaker, kind: int = PUBLIC) -> int:
    """Ask for an export of the organization; its id."""
    asked = speaker.post("export/realm", export_type=kind, password=PASSWORD)["id"]
    assert isinstance(asked, int)
    return asked


def shown(speaker: Speaker, export_id: int, path: str = "export/realm") -> Json:
    """An export, as it is listed."""
    [found] = [one for one in speaker.get(path)["exports"] if one["id"] == export_id]
    entry: Json = found
    return entry


def when_ended(speaker: Speaker, export_id: int, path: str = "export/realm") -> Json:
    """The same, when nothing more is done for it."""
    eventually(lambda: not shown(speaker, export_id, path)["pending"], 60)
    return shown(speaker, export_id, path)


def fetched(speaker: Speaker, entry: Json, file: Path) -> Archive:
    """The archive itself."""
    reply = fetch(speaker, entry["export_url"])
    assert reply.status_code == 200, reply.text
    assert len(reply.content) == entry["size"]
    assert reply.headers["content-disposition"].startswith("attachment;")
    file.write_bytes(reply.content)
    return Archive.read(file)
