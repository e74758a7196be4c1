"""Group-setting values and user groups (protocol/records.md#user-group)."""

import pytest

from tests.contract.groups import (
    SETTINGS,
    anonymous,
    change,
    changed,
    group_of,
    groups_of,
    heard,
    listening,
    make_group,
    refused,
    system,
)
from tests.harness.talk import Json, Speaker, check_error, check_success

CHAIN = ("nobody", "owners", "administrators", "moderators", "fullmembers", "members", "everyone", "internet")
FORBIDDEN = {
    "can_add_members_group": ("internet", "everyone"),
    "can_join_group": ("internet", "everyone"),
    "can_leave_group": ("internet",),
    "can_manage_group": ("internet", "everyone"),
    "can_mention_group": ("internet", "owners"),
    "can_remove_members_group": ("internet", "everyone"),
}


@pytest.fixture
def group_id(member: Speaker) -> int:
    return make_group(member)


# Group-setting values


@pytest.mark.holds("group-setting.canonical", "group-setting.forms")
def test_an_object_that_says_the_same_as_an_integer_becomes_one(member: Speaker, group_id: int) -> None:
    moderators, nobody = system(member, "moderators"), system(member, "nobody")
    for sent, kept in ((anonymous([], [moderators]), moderators), (anonymous([], []), nobody)):
        assert changed(member, group_id, can_leave_group={"new": sent})["can_leave_group"] == kept


@pytest.mark.holds("group-setting.canonical", "group-setting.object")
def test_lists_are_sorted_and_repeats_count_once(member: Speaker, other: Speaker, group_id: int) -> None:
    low, high = sorted([member.id, other.id])
    moderators, members = system(member, "moderators"), system(member, "members")
    value = anonymous([high, low, high], [members, moderators, members])
    record = changed(member, group_id, can_leave_group={"new": value})
    assert record["can_leave_group"] == anonymous([low, high], [moderators, members])


@pytest.mark.holds("group-setting.nothing-else")
@pytest.mark.parametrize(
    "wrong",
    [
        "text",
        True,
        1.5,
        [1],
        {"direct_members": [1]},
        {"direct_subgroups": [1]},
        {"direct_members": ["1"], "direct_subgroups": []},
        {"direct_members": 1, "direct_subgroups": []},
    ],
)
def test_nothing_else_is_a_value(member: Speaker, group_id: int, wrong: object) -> None:
    assert "can_leave_group" in check_error(change(member, group_id, can_leave_group={"new": wrong}))
    fields = {"name": "x", "description": "", "members": [], "can_leave_group": wrong}
    assert "can_leave_group" in refused(member, "POST", "user_groups/create", **fields)


@pytest.mark.holds("group-setting.exists")
def test_a_value_names_groups_and_users_that_exist(member: Speaker, group_id: int) -> None:
    def msg(value: object) -> str:
        return check_error(change(member, group_id, can_leave_group={"new": value}))

    assert msg(999_999_999) == "Invalid user group"
    assert "999999999" in msg(anonymous([], [999_999_999, group_id]))
    assert "999999999" in msg(anonymous([999_999_999], []))
    hidden = group_id + 1  # the anonymous groups of a value have no id for anybody
    while any(group["id"] == hidden for group in groups_of(member, include_deactivated_groups=True)):
        hidden += 1
    assert msg(hidden) == "Invalid user group"


@pytest.mark.holds("user-group.can-manage-not", "user-group.can-mention-not", "group-setting.forbidden")
@pytest.mark.parametrize("setting", SETTINGS)
def test_which_system_groups_a_setting_may_be(owner: Speaker, setting: str) -> None:
    group_id = make_group(owner)
    for name in CHAIN:
        value = system(owner, name)
        if name in FORBIDDEN[setting]:
            msg = check_error(change(owner, group_id, **{setting: {"new": value}}))
            assert setting in msg
            assert f"role:{name}" in msg
            # The object with this one subgroup is the same value.
            check_error(change(owner, group_id, **{setting: {"new": anonymous([], [value])}}))
            for beside in (anonymous([owner.id], [value]), anonymous([], [value, system(owner, "moderators")])):
                assert f"role:{name}" in check_error(change(owner, group_id, **{setting: {"new": beside}}))
                new: Json = {"name": "x", "description": "", "members": [], setting: beside}
                assert setting in refused(owner, "POST", "user_groups/create", **new)
            fields: Json = {"name": "x", "description": "", "members": [], setting: value}
            assert setting in refused(owner, "POST", "user_groups/create", **fields)
        else:
            assert changed(owner, group_id, **{setting: {"new": value}})[setting] == value


# System groups


@pytest.mark.holds("user-group.system-groups")
def test_system_groups_are_a_chain_with_members_by_role(
    owner: Speaker, member: Speaker, guest: Speaker, bot: Speaker
) -> None:
    found = [group for group in groups_of(member) if group["is_system_group"]]
    assert [group["name"] for group in found] == [f"role:{name}" for name in CHAIN]
    assert [group["id"] for group in groups_of(member)[: len(CHAIN)]] == sorted(group["id"] for group in found)
    nobody = found[0]["id"]
    for index, group in enumerate(found):
        assert group["direct_subgroup_ids"] == ([found[index - 1]["id"]] if index > 1 else [])
        assert {group[setting] for setting in SETTINGS} == {nobody}
        assert (group["creator_id"], group["date_created"], group["deactivated"]) == (None, None, False)
        assert group["members"] == sorted(group["members"])
    by_name = {group["name"]: group["members"] for group in found}
    assert by_name["role:nobody"] == by_name["role:internet"] == []
    assert owner.id in by_name["role:owners"]
    assert member.id in by_name["role:members"]
    assert member.id in by_name["role:fullmembers"]
    assert bot.id in by_name["role:members"]
    assert guest.id in by_name["role:everyone"]
    assert member.id not in by_name["role:everyone"]


# Reading


@pytest.mark.holds("user-group.state", "user-group.name", "user-group.description", "user-group.members")
def test_the_state_is_the_list_by_what_the_client_knows(member: Speaker, guest: Speaker) -> None:
    asleep, awake = make_group(member, [guest.id]), make_group(member)
    member.post(f"user_groups/{asleep}/deactivate")
    for speaker in (member, guest):
        with listening(speaker, fetch=True) as queue:
            assert queue.state["realm_user_groups"] == groups_of(member)
        with listening(speaker, fetch=True, knows_deactivated=True) as queue:
            assert queue.state["realm_user_groups"] == groups_of(member, include_deactivated_groups=True)
    ids = [group["id"] for group in groups_of(member)]
    assert awake in ids
    assert asleep not in ids
    assert ids == sorted(ids)


@pytest.mark.holds("user-group.membership", "user-group.members", "user-group.subgroups")
def test_members_and_subgroups_direct_and_through_subgroups(member: Speaker, other: Speaker, owner: Speaker) -> None:
    owners = system(member, "owners")
    bottom = make_group(member, [other.id], subgroups=[owners])
    middle = make_group(member, subgroups=[bottom])
    top = make_group(member, [member.id], subgroups=[middle])

    def members(group_id: int, **fields: object) -> list[int]:
        found: list[int] = member.get(f"user_groups/{group_id}/members", **fields)["members"]
        return found

    assert members(top, direct_member_only=True) == [member.id]
    assert members(middle, direct_member_only=True) == []
    assert set(members(top)) >= {member.id, other.id, owner.id}
    assert members(top) == sorted(set(members(top)))
    assert set(members(middle)) == set(members(bottom)) == {other.id, *members(owners)}
    for user, direct, through in ((member, True, True), (other, False, True), (owner, False, True)):
        path = f"user_groups/{top}/members/{user.id}"
        assert member.get(path, direct_member_only=True)["is_user_group_member"] is direct
        assert member.get(path)["is_user_group_member"] is through
    assert member.get(f"user_groups/{bottom}/members/{member.id}")["is_user_group_member"] is False
    subgroups = f"user_groups/{top}/subgroups"
    assert member.get(subgroups)["subgroups"] == sorted([owners, bottom, middle])
    assert member.get(subgroups, direct_subgroup_only=True)["subgroups"] == [middle]


@pytest.mark.holds("user-group.membership", "user-group.system-groups")
def test_system_groups_are_read_like_others(member: Speaker, owner: Speaker, guest: Speaker) -> None:
    ids = {name: system(member, name) for name in CHAIN}
    path = f"user_groups/{ids['moderators']}"
    assert member.get(f"{path}/subgroups")["subgroups"] == sorted([ids["owners"], ids["administrators"]])
    assert member.get(f"{path}/subgroups", direct_subgroup_only=True)["subgroups"] == [ids["administrators"]]
    assert member.get(f"{path}/members/{owner.id}")["is_user_group_member"] is True
    assert member.get(f"{path}/members/{owner.id}", direct_member_only=True)["is_user_group_member"] is False
    assert member.get(f"{path}/members/{member.id}")["is_user_group_member"] is False
    everybody = member.get(f"user_groups/{ids['internet']}/members")["members"]
    assert {owner.id, member.id, guest.id} <= set(everybody)
    assert member.get(f"user_groups/{ids['nobody']}/members")["members"] == []


@pytest.mark.holds("user-group.membership")
def test_what_cannot_be_read(member: Speaker, guest: Speaker, group_id: int) -> None:
    for path in ("members", f"members/{member.id}", "subgroups"):
        assert refused(member, "GET", f"user_groups/999999999/{path}") == "Invalid user group"
        assert refused(guest, "GET", f"user_groups/{group_id}/{path}") == "Not allowed for guest users"
    assert refused(guest, "GET", "user_groups") == "Not allowed for guest users"
    refused(member, "GET", f"user_groups/{group_id}/members/999999999")
    member.post(f"user_groups/{group_id}/deactivate")
    for path in ("members", f"members/{member.id}", "subgroups"):
        assert "deactivated" in refused(member, "GET", f"user_groups/{group_id}/{path}")


# Members and subgroups


@pytest.mark.holds("user-group.change-members")
def test_adding_and_removing_members_and_subgroups_in_one_request(
    member: Speaker, other: Speaker, owner: Speaker, guest: Speaker
) -> None:
    old, new = make_group(member), make_group(member)
    group_id = make_group(member, [member.id], subgroups=[old])
    with listening(guest) as queue:
        member.post(
            f"user_groups/{group_id}/members",
            add=[owner.id, other.id],
            delete=[member.id],
            add_subgroups=[new],
            delete_subgroups=[old],
        )
        assert heard(queue, group_id) == [
            {"op": "add_members", "group_id": group_id, "user_ids": sorted([owner.id, other.id])},
            {"op": "remove_members", "group_id": group_id, "user_ids": [member.id]},
            {"op": "add_subgroups", "group_id": group_id, "direct_subgroup_ids": [new]},
            {"op": "remove_subgroups", "group_id": group_id, "direct_subgroup_ids": [old]},
        ]
    record = group_of(member, group_id)
    assert (record["members"], record["direct_subgroup_ids"]) == (sorted([owner.id, other.id]), [new])


@pytest.mark.holds("user-group.change-members")
def test_all_or_nothing(member: Speaker, other: Speaker, group_id: int) -> None:
    path = f"user_groups/{group_id}/members"
    before = group_of(member, group_id)
    with listening(member) as queue:
        refused(member, "POST", path, add=[other.id], delete=[member.id])  # not a member
        refused(member, "POST", path, add=[other.id, 999_999_999])
        refused(member, "POST", path, add=[other.id], add_subgroups=[group_id])
        assert heard(queue, group_id) == []
    assert group_of(member, group_id) == before


@pytest.mark.holds("user-group.change-members")
def test_what_cannot_be_added_or_removed(member: Speaker, other: Speaker, group_id: int) -> None:
    path, subgroup = f"user_groups/{group_id}/members", make_group(member)
    member.post(path, add=[other.id], add_subgroups=[subgroup])
    cases: tuple[dict[str, object], ...] = (
        {},
        {"add": [], "delete": [], "add_subgroups": [], "delete_subgroups": []},
        {"add": [other.id]},
        {"add": [999_999_999]},
        {"delete": [member.id]},
        {"delete": [999_999_999]},
        {"add_subgroups": [subgroup]},
        {"add_subgroups": [999_999_999]},
        {"delete_subgroups": [system(member, "owners")]},
        {"delete_subgroups": [999_999_999]},
    )
    for fields in cases:
        refused(member, "POST", path, **fields)
    for add, delete in (([], []), ([subgroup], []), ([], [system(member, "owners")])):
        refused(member, "POST", f"user_groups/{group_id}/subgroups", add=add, delete=delete)
    refused(member, "POST", f"user_groups/{group_id}/subgroups")
    assert refused(member, "POST", "user_groups/999999999/members", add=[other.id]) == "Invalid user group"


@pytest.mark.holds("user-group.change-members")
def test_subgroups_have_an_endpoint_of_their_own(member: Speaker) -> None:
    group_id, subgroup = make_group(member), make_group(member)
    moderators = system(member, "moderators")
    member.post(f"user_groups/{group_id}/subgroups", add=[subgroup, moderators])
    assert group_of(member, group_id)["direct_subgroup_ids"] == sorted([moderators, subgroup])
    member.post(f"user_groups/{group_id}/subgroups", delete=[subgroup])
    assert group_of(member, group_id)["direct_subgroup_ids"] == [moderators]


@pytest.mark.holds("user-group.no-cycle")
def test_a_group_is_never_a_part_of_itself(member: Speaker) -> None:
    bottom = make_group(member)
    middle = make_group(member, subgroups=[bottom])
    top = make_group(member, subgroups=[middle])
    for group_id, wrong in ((top, top), (middle, top), (bottom, top), (bottom, middle)):
        refused(member, "POST", f"user_groups/{group_id}/subgroups", add=[wrong])
        refused(member, "POST", f"user_groups/{group_id}/members", add_subgroups=[make_group(member), wrong])
    assert group_of(member, bottom)["direct_subgroup_ids"] == []


@pytest.mark.holds("user-group.deactivated")
def test_deactivated_groups_have_members_but_are_no_subgroups(member: Speaker, other: Speaker, group_id: int) -> None:
    asleep = make_group(member)
    member.post(f"user_groups/{asleep}/deactivate")
    assert "deactivated" in refused(member, "POST", f"user_groups/{group_id}/subgroups", add=[asleep])
    assert "deactivated" in refused(
        member, "POST", "user_groups/create", name="x", description="", members=[], subgroups=[asleep]
    )
    member.post(f"user_groups/{asleep}/members", add=[other.id])
    assert group_of(member, asleep)["members"] == [other.id]


# Deactivating


@pytest.mark.holds("user-group.deactivate")
def test_a_group_in_use_is_not_deactivated(member: Speaker, group_id: int) -> None:
    above = [make_group(member, subgroups=[group_id]), make_group(member, subgroups=[group_id])]
    user = make_group(
        member, can_join_group=group_id, can_leave_group=anonymous([member.id], [group_id]), can_mention_group=group_id
    )
    msg = check_error(
        member.request("POST", f"user_groups/{group_id}/deactivate"),
        "CANNOT_DEACTIVATE_GROUP_IN_USE",
        objections=[
            {"type": "subgroup", "supergroup_ids": sorted(above)},
            {
                "type": "user_group",
                "group_id": user,
                "settings": ["can_join_group", "can_leave_group", "can_mention_group"],
            },
        ],
    )
    assert msg
    for using in (*above, user):
        member.post(f"user_groups/{using}/deactivate")  # what is not in use itself is no objection
    member.post(f"user_groups/{group_id}/deactivate")
    assert group_of(member, group_id)["deactivated"]


@pytest.mark.holds("user-group.deactivate", "states.group-deactivate", "states.group-reactivate")
def test_a_group_that_manages_itself_can_be_deactivated_and_comes_back(member: Speaker, other: Speaker) -> None:
    group_id = make_group(member, [other.id])
    check_success(change(member, group_id, can_manage_group={"new": group_id}))
    assert refused(member, "POST", f"user_groups/{group_id}/deactivate") == "Insufficient permission"
    other.post(f"user_groups/{group_id}/deactivate")
    assert not changed(other, group_id, deactivated=False)["deactivated"]


@pytest.mark.holds("user-group.deactivate")
def test_what_cannot_be_deactivated(
    member: Speaker, other: Speaker, owner: Speaker, guest: Speaker, group_id: int
) -> None:
    path = f"user_groups/{group_id}/deactivate"
    assert refused(other, "POST", path) == "Insufficient permission"
    assert refused(guest, "POST", path) == "Insufficient permission"
    assert refused(owner, "POST", "user_groups/999999999/deactivate") == "Invalid user group"
    for name in CHAIN:
        assert refused(owner, "POST", f"user_groups/{system(owner, name)}/deactivate") == "Insufficient permission"
    member.post(path)
    assert "deactivated" in refused(member, "POST", path)
