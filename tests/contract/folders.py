"""Channel folders in the contract tests: made and looked at through the front door."""

from typing import Any

from tests.harness.talk import Json, Queue, Speaker, unique


def make_folder(speaker: Speaker, **fields: Any) -> int:
    """A new folder's id."""
    asked = {"name": unique("folder"), "description": "", **fields}
    folder_id = speaker.post("channel_folders/create", **asked)["channel_folder_id"]
    assert isinstance(folder_id, int)
    return folder_id


def folders_of(speaker: Speaker, *, include_archived: bool = True) -> list[Json]:
    found: list[Json] = speaker.get("channel_folders", include_archived=include_archived)["channel_folders"]
    return found


def folder_of(speaker: Speaker, folder_id: int) -> Json:
    """The record of a folder, archived or not."""
    [found] = [folder for folder in folders_of(speaker) if folder["id"] == folder_id]
    return found


def listening(speaker: Speaker) -> Queue:
    """A queue that hears of folders."""
    return Queue(speaker, event_types=["channel_folder", "message"], fetch_event_types=["channel_folders"])


def heard(queue: Queue) -> list[Json]:
    """What the queue has heard of folders so far, without numbers and type."""
    found = [event for event in queue.so_far() if event["type"] == "channel_folder"]
    return [{key: value for key, value in event.items() if key not in ("id", "type")} for event in found]
