"""What the permissions of a user group permit, and what a deactivated one is good for (protocol/records.md#user-group)."""

import pytest

from tests.contract.groups import anonymous, change, group_of, make_group, refused
from tests.contract.subscribing import make
from tests.harness.server import Channel
from tests.harness.talk import Speaker, check_error, check_success


def flags(reader: Speaker, message_id: int) -> set[str]:
    return set(reader.message(message_id)["flags"])


def settings_of(speakers: dict[str, Speaker]) -> dict[str, object]:
    return {setting: anonymous([one.id], []) for setting, one in speakers.items()}


@pytest.mark.holds(
    "user-group.can-add-members",
    "user-group.can-join",
    "user-group.can-leave",
    "user-group.can-manage",
    "user-group.can-remove-members",
)
@pytest.mark.parametrize(
    ("setting", "adds", "itself"),
    [
        ("can_add_members_group", True, False),
        ("can_join_group", True, True),
        ("can_remove_members_group", False, False),
        ("can_leave_group", False, True),
    ],
)
def test_a_permission_permits_what_it_says(
    member: Speaker, other: Speaker, owner: Speaker, setting: str, adds: bool, itself: bool
) -> None:
    whom = other.id if itself else owner.id
    inside = [] if adds else [whom]
    closed = settings_of(dict.fromkeys(("can_leave_group", setting), member))
    path = f"user_groups/{make_group(member, inside, **closed)}/members"
    fields = {"add" if adds else "delete": [whom]}
    assert refused(other, "POST", path, **fields) == "Insufficient permission"
    group_id = make_group(member, inside, **closed | settings_of({setting: other}))
    other.post(f"user_groups/{group_id}/members", **fields)
    assert group_of(member, group_id)["members"] == ([whom] if adds else [])
    assert refused(other, "PATCH", f"user_groups/{group_id}", description="x") == "Insufficient permission"


@pytest.mark.holds("user-group.can-mention")
def test_a_group_is_mentioned_by_those_who_may(
    member: Speaker, other: Speaker, owner: Speaker, channel: Channel
) -> None:
    group_id = make_group(member, [owner.id], **settings_of({"can_mention_group": other}))
    name = group_of(member, group_id)["name"]
    fields = {"type": "channel", "to": channel.stream_id, "topic": "groups", "content": f"@*{name}*"}
    assert name in check_error(member.request("POST", "messages", **fields))
    silent = member.post("messages", **fields | {"content": f"@_*{name}*"})["id"]
    sent = other.post("messages", **fields)["id"]
    assert "mentioned" in flags(owner, sent)
    assert "mentioned" not in flags(owner, silent) | flags(member, sent)


@pytest.mark.holds("user-group.deactivated", "group-setting.exists")
def test_a_deactivated_group_is_neither_mentioned_nor_in_a_permission(
    member: Speaker, other: Speaker, owner: Speaker, channel: Channel
) -> None:
    group_id, place = make_group(member, [other.id]), make(owner)
    text = f"@*{group_of(member, group_id)['name']}*"
    member.post(f"user_groups/{group_id}/deactivate")
    assert "mentioned" not in flags(other, member.send(channel.stream_id, "groups", text))
    for value in (group_id, anonymous([owner.id], [group_id])):
        refused(owner, "PATCH", "realm", can_create_groups={"new": value})
        refused(owner, "PATCH", f"streams/{place['stream_id']}", can_send_message_group={"new": value})
    check_success(change(member, group_id, deactivated=False))
    assert "mentioned" in flags(other, member.send(channel.stream_id, "groups", text))
    check_success(owner.request("PATCH", f"streams/{place['stream_id']}", can_send_message_group={"new": group_id}))
