"""Groups in the contract tests: made, changed and looked at through the front door."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

SETTINGS = (
    "can_add_members_group",
    "can_join_group",
    "can_leave_group",
    "can_manage_group",
    "can_mention_group",
    "can_remove_members_group",
)


def system(speaker: Speaker, name: str) -> int:
    """The id of a system group."""
    found = {group["name"]: group["id"] for group in groups_of(speaker)}
    group_id: int = found[f"role:{name}"]
    return group_id


def groups_of(speaker: Speaker, **fields: object) -> list[Json]:
    found: list[Json] = speaker.get("user_groups", **fields)["user_groups"]
    return found


def group_of(speaker: Speaker, group_id: int) -> Json:
    """The record of a group, deactivated or not."""
    [found] = [group for group in groups_of(speaker, include_deactivated_groups=True) if group["id"] == group_id]
    return found


def make_group(speaker: Speaker, members: list[int] | None = None, **fields: Any) -> int:
    """A new group's id."""
    asked = {"name": unique("group"), "description": "", "members": members or [], **fields}
    group_id = speaker.post("user_groups/create", **asked)["group_id"]
    assert isinstance(group_id, int)
    return group_id


def change(speaker: Speaker, group_id: int, **fields: object) -> httpx.Response:
    return speaker.request("PATCH", f"user_groups/{group_id}", **fields)


def changed(speaker: Speaker, group_id: int, **fields: object) -> Json:
    """The record after a change that succeeded."""
    check_success(change(speaker, group_id, **fields))
    return group_of(speaker, group_id)


def refused(speaker: Speaker, method: str, path: str, **fields: object) -> str:
    """The text of a 400 BAD_REQUEST without extra keys."""
    return check_error(speaker.request(method, path, **fields))


def anonymous(members: list[int], subgroups: list[int]) -> Json:
    """A value in its object form."""
    return {"direct_members": members, "direct_subgroups": subgroups}


@contextmanager
def reserved(owner: Speaker, *permissions: str) -> Iterator[None]:
    """Permissions of the organization that only the owner holds for a while."""
    state = owner.post("register", event_types=[], fetch_event_types=["realm"])
    own = {name: {"new": anonymous([owner.id], [])} for name in permissions}
    check_success(owner.request("PATCH", "realm", **own))
    try:
        yield
    finally:
        before = {name: {"new": state[f"realm_{name}"]} for name in permissions}
        check_success(owner.request("PATCH", "realm", **before))


def listening(speaker: Speaker, *, knows_deactivated: bool = False, fetch: bool = False) -> Queue:
    """A queue that hears of groups."""
    capabilities = {"notification_settings_null": True, "include_deactivated_groups": knows_deactivated}
    return Queue(
        speaker,
        event_types=["user_group", "realm", "message"],
        fetch_event_types=["realm_user_groups"] if fetch else [],
        client_capabilities=capabilities,
    )


def heard(queue: Queue, group_id: int) -> list[Json]:
    """What the queue has heard of the group so far, without numbers and type."""
    found = []
    for event in queue.so_far():
        if event["type"] == "user_group" and group_id == event.get("group_id", event.get("group", {}).get("id")):
            found.append({key: value for key, value in event.items() if key not in ("id", "type")})
    return found
