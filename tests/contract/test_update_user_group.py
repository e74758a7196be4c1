"""PATCH /user_groups/{id} (protocol/people.md#update-user-group)."""

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
from tests.harness.talk import Speaker, check_error, check_success, unique


@pytest.fixture
def group_id(member: Speaker) -> int:
    """A group the member made, and so manages."""
    return make_group(member)


@pytest.mark.holds("update-user-group.invalid", "update-user-group.path")
def test_an_invalid_id_is_an_invalid_user_group(member: Speaker) -> None:
    for wrong in (0, 999_999_999):
        assert refused(member, "PATCH", f"user_groups/{wrong}", name="x") == "Invalid user group"


@pytest.mark.holds("update-user-group.name", "update-user-group.optional", "user-group.name", "user-group.description")
def test_name_and_description_change_alone_and_together(member: Speaker, group_id: int) -> None:
    name = unique("renamed")
    before = group_of(member, group_id)
    assert changed(member, group_id, name=name) == before | {"name": name}
    assert changed(member, group_id, description="new") == before | {"name": name, "description": "new"}
    other_name = unique("renamed")
    assert changed(member, group_id, name=other_name, description="") == before | {"name": other_name}


@pytest.mark.holds("update-user-group.name")
def test_the_rules_of_names_hold_and_the_own_name_is_no_clash(member: Speaker, group_id: int) -> None:
    taken = group_of(member, make_group(member))["name"]
    assert "already exists" in check_error(change(member, group_id, name=taken))
    for wrong in ("", " ", "@x", "role:x", "x" * 101):
        check_error(change(member, group_id, name=wrong))
    own = group_of(member, group_id)
    assert changed(member, group_id, name=own["name"]) == own


@pytest.mark.holds("update-user-group.optional")
def test_a_request_that_names_nothing_is_refused(member: Speaker, group_id: int) -> None:
    check_error(change(member, group_id))
    check_error(change(member, group_id, colour="red"))


@pytest.mark.holds("update-user-group.permissions")
@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_takes_an_object_with_new(member: Speaker, other: Speaker, group_id: int, setting: str) -> None:
    moderators, members = system(member, "moderators"), system(member, "members")
    for value in (moderators, anonymous([member.id, other.id], [moderators]), anonymous([], [moderators, members])):
        # Whoever gives the management away must keep a part in it for the next change.
        kept = value if setting != "can_manage_group" else anonymous([member.id], [moderators])
        assert changed(member, group_id, **{setting: {"new": kept}})[setting] == kept


@pytest.mark.holds("update-user-group.object-only")
@pytest.mark.parametrize("setting", SETTINGS)
def test_only_the_object_form_is_accepted(member: Speaker, group_id: int, setting: str) -> None:
    members = system(member, "members")
    before = group_of(member, group_id)
    for bare in (members, anonymous([member.id], []), {"old": members}, [members], {"new": None}, {"new": "x"}):
        assert setting in check_error(change(member, group_id, **{setting: bare}))
    assert group_of(member, group_id) == before


@pytest.mark.holds("update-user-group.old")
@pytest.mark.parametrize("setting", SETTINGS)
def test_old_must_be_the_current_value(member: Speaker, group_id: int, setting: str) -> None:
    moderators = system(member, "moderators")
    new = anonymous([member.id], [moderators])
    wrong = {"new": new, "old": moderators}
    for body in (wrong, {"new": new, "old": anonymous([], [])} if setting != "can_join_group" else wrong):
        if setting == "can_remove_members_group" and body is not wrong:
            continue  # nobody holds it, so an empty object is right
        check_error(change(member, group_id, **{setting: body}), "EXPECTATION_MISMATCH", field_name="old")
    current = group_of(member, group_id)[setting]
    assert changed(member, group_id, **{setting: {"new": new, "old": current}})[setting] == new


@pytest.mark.holds("update-user-group.old", "group-setting.canonical")
def test_old_is_compared_by_what_it_means(member: Speaker, other: Speaker, group_id: int) -> None:
    moderators, nobody = system(member, "moderators"), system(member, "nobody")
    steps = [
        (nobody, anonymous([], []), moderators),
        (moderators, anonymous([], [moderators, moderators]), anonymous([other.id, member.id], [moderators])),
        (None, anonymous([member.id, other.id, member.id], [moderators]), nobody),
    ]
    for _, old, new in steps:
        check_success(change(member, group_id, can_join_group={"new": new, "old": old}))
    assert group_of(member, group_id)["can_join_group"] == nobody


@pytest.mark.holds("update-user-group.old", "errors.nothing-changes")
def test_a_mismatch_undoes_the_whole_request(member: Speaker, group_id: int) -> None:
    before = group_of(member, group_id)
    members = system(member, "members")
    with listening(member) as queue:
        reply = change(
            member,
            group_id,
            name=unique("renamed"),
            can_join_group={"new": members},
            can_leave_group={"new": members, "old": members},
        )
        check_error(reply, "EXPECTATION_MISMATCH", field_name="old")
        assert group_of(member, group_id) == before
        assert heard(queue, group_id) == []


@pytest.mark.holds("update-user-group.told")
def test_a_new_value_that_is_the_current_one_is_not_validated_and_not_told(member: Speaker, group_id: int) -> None:
    with listening(member) as queue:
        current = group_of(member, group_id)["can_manage_group"]
        check_success(change(member, group_id, can_manage_group={"new": current, "old": current}))
        assert heard(queue, group_id) == []


# Reactivation


@pytest.mark.holds("update-user-group.deactivated", "states.group-reactivate", "versioning.level-386")
def test_false_reactivates_and_other_changes_go_along(member: Speaker, group_id: int) -> None:
    member.post(f"user_groups/{group_id}/deactivate")
    assert group_of(member, group_id)["deactivated"]
    name, moderators = unique("back"), system(member, "moderators")
    record = changed(
        member, group_id, deactivated=False, name=name, description="back", can_mention_group={"new": moderators}
    )
    assert not record["deactivated"]
    assert (record["name"], record["description"], record["can_mention_group"]) == (name, "back", moderators)


@pytest.mark.holds("update-user-group.deactivated")
def test_true_has_no_effect_and_false_none_on_an_active_group(member: Speaker, group_id: int) -> None:
    before = group_of(member, group_id)
    with listening(member) as queue:
        assert changed(member, group_id, deactivated=True) == before
        assert changed(member, group_id, deactivated=False) == before
        assert heard(queue, group_id) == []


@pytest.mark.holds("update-user-group.deactivated")
def test_deactivated_is_a_boolean(member: Speaker, group_id: int) -> None:
    for wrong in ("0", "yes", '"false"'):
        assert "deactivated" in check_error(change(member, group_id, deactivated=wrong))


@pytest.mark.holds("update-user-group.deactivated-group")
def test_settings_name_and_description_of_deactivated_groups_can_be_edited(member: Speaker, group_id: int) -> None:
    member.post(f"user_groups/{group_id}/deactivate")
    name, moderators = unique("asleep"), system(member, "moderators")
    record = changed(member, group_id, name=name, description="zzz", can_join_group={"new": moderators})
    assert record["deactivated"]
    assert (record["name"], record["description"], record["can_join_group"]) == (name, "zzz", moderators)


@pytest.mark.holds("update-user-group.deactivated-group", "user-group.deactivated")
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_deactivated_group_is_in_no_value_until_it_is_reactivated(
    member: Speaker, group_id: int, setting: str
) -> None:
    asleep = make_group(member)
    member.post(f"user_groups/{asleep}/deactivate")
    forms = [asleep, anonymous([member.id], [asleep]), anonymous([], [asleep, system(member, "members")])]
    for value in forms:
        check_error(change(member, group_id, **{setting: {"new": value}}))
    check_success(change(member, asleep, deactivated=False))
    assert changed(member, group_id, **{setting: {"new": forms[1]}})[setting] == forms[1]


# Who may, and who hears


@pytest.mark.holds("update-user-group.who", "user-group.can-manage")
def test_only_those_who_manage_it_change_it(member: Speaker, other: Speaker, owner: Speaker, group_id: int) -> None:
    name = group_of(member, group_id)["name"]
    for fields in ({"name": unique("x")}, {"description": "x"}, {"deactivated": False}, {"can_join_group": {"new": 1}}):
        assert check_error(change(other, group_id, **fields)) == "Insufficient permission"
    assert changed(owner, group_id, description="by the owner")["name"] == name
    check_success(change(member, group_id, can_manage_group={"new": anonymous([member.id, other.id], [])}))
    assert changed(other, group_id, description="by the other")["description"] == "by the other"


@pytest.mark.holds("update-user-group.who", "user-group.system-groups")
def test_system_groups_do_not_change(owner: Speaker) -> None:
    for group in groups_of(owner):
        if group["is_system_group"]:
            for fields in ({"name": "x"}, {"description": "x"}, {"can_mention_group": {"new": group["id"]}}):
                assert check_error(change(owner, group["id"], **fields)) == "Insufficient permission"


@pytest.mark.holds("update-user-group.who")
def test_guests_are_refused_first(guest: Speaker) -> None:
    assert refused(guest, "PATCH", "user_groups/999999999", name="x") == "Not allowed for guest users"


@pytest.mark.holds("update-user-group.told")
def test_each_changed_property_is_an_event_of_its_own(member: Speaker, guest: Speaker, group_id: int) -> None:
    name, moderators = unique("renamed"), system(member, "moderators")
    only_member = anonymous([member.id], [moderators])
    with listening(guest) as queue:
        fields = {"can_leave_group": {"new": moderators}, "can_join_group": {"new": only_member}}
        check_success(change(member, group_id, name=name, description="new", **fields))
        assert heard(queue, group_id) == [
            {"op": "update", "group_id": group_id, "data": data}
            for data in (
                {"name": name},
                {"description": "new"},
                {"can_join_group": only_member},
                {"can_leave_group": moderators},
            )
        ]


@pytest.mark.holds("update-user-group.told", "user-group.state")
def test_clients_hear_of_deactivated_groups_by_what_they_know(member: Speaker, guest: Speaker, group_id: int) -> None:
    with listening(guest, knows_deactivated=True) as knowing, listening(guest) as other:
        member.post(f"user_groups/{group_id}/deactivate")
        name = unique("asleep")
        check_success(change(member, group_id, name=name))
        member.post(f"user_groups/{group_id}/members", add=[member.id])
        check_success(change(member, group_id, deactivated=False, description="awake"))
        assert heard(knowing, group_id) == [
            {"op": "update", "group_id": group_id, "data": {"deactivated": True}},
            {"op": "update", "group_id": group_id, "data": {"name": name}},
            {"op": "add_members", "group_id": group_id, "user_ids": [member.id]},
            {"op": "update", "group_id": group_id, "data": {"description": "awake"}},
            {"op": "update", "group_id": group_id, "data": {"deactivated": False}},
        ]
        assert heard(other, group_id) == [
            {"op": "remove", "group_id": group_id},
            {"op": "add", "group": group_of(member, group_id), "for_reactivation": True},
        ]
