"""POST /user_groups/create (protocol/people.md#create-user-group)."""

import time

import pytest

from tests.contract.groups import SETTINGS, anonymous, group_of, heard, listening, make_group, refused, system
from tests.harness.talk import Speaker, unique


@pytest.mark.holds("create-user-group.answer", "user-group.members")
def test_the_answer_is_the_id_of_the_new_group(member: Speaker, other: Speaker) -> None:
    name = unique("group")
    before = int(time.time())
    reply = member.post("user_groups/create", name=name, description="What for", members=[other.id, member.id])
    assert set(reply) == {"result", "msg", "group_id"}
    record = group_of(member, reply["group_id"])
    assert before - 2 <= record.pop("date_created") <= time.time() + 2
    nobody, everyone = system(member, "nobody"), system(member, "everyone")
    assert record == {
        "id": reply["group_id"],
        "name": name,
        "description": "What for",
        "creator_id": member.id,
        "members": sorted([member.id, other.id]),
        "direct_subgroup_ids": [],
        "is_system_group": False,
        "can_add_members_group": anonymous([member.id], []),
        "can_join_group": nobody,
        "can_leave_group": everyone,
        "can_manage_group": anonymous([member.id], []),
        "can_mention_group": everyone,
        "can_remove_members_group": nobody,
        "deactivated": False,
    }


@pytest.mark.holds("create-user-group.name", "create-user-group.description", "create-user-group.members")
@pytest.mark.parametrize("missing", ["name", "description", "members"])
def test_name_description_and_members_are_required(member: Speaker, missing: str) -> None:
    fields: dict[str, object] = {"name": unique("group"), "description": "", "members": []}
    del fields[missing]
    assert missing in refused(member, "POST", "user_groups/create", **fields)


@pytest.mark.holds("create-user-group.members")
@pytest.mark.parametrize("wrong", ["1", "x", '["1"]', "[1.5]", "{}", "[true]"])
def test_members_are_a_list_of_integers(member: Speaker, wrong: str) -> None:
    assert "members" in refused(
        member, "POST", "user_groups/create", name=unique("group"), description="", members=wrong
    )


@pytest.mark.holds("create-user-group.unknown-user")
def test_a_user_who_does_not_exist_is_refused(member: Speaker) -> None:
    name = unique("group")
    for user_id in (0, -1, 999_999_999, 2**62):
        msg = refused(member, "POST", "user_groups/create", name=name, description="", members=[member.id, user_id])
        assert str(user_id) in msg
    make_group(member, name=name)  # nothing was left behind


@pytest.mark.holds("create-user-group.subgroups")
def test_a_group_that_does_not_exist_is_refused_as_a_subgroup(member: Speaker) -> None:
    assert "999999999" in refused(
        member, "POST", "user_groups/create", name=unique("group"), description="", members=[], subgroups=[999_999_999]
    )


@pytest.mark.holds("create-user-group.members")
def test_bots_can_be_members_and_repeats_count_once(member: Speaker, bot: Speaker) -> None:
    group_id = make_group(member, [bot.id, member.id, bot.id])
    assert group_of(member, group_id)["members"] == sorted([bot.id, member.id])


@pytest.mark.holds("create-user-group.subgroups", "user-group.subgroups")
def test_subgroups_may_be_added_irrespective_of_other_permissions(member: Speaker, owner: Speaker) -> None:
    theirs = make_group(owner)  # the member may do nothing to it
    nobody = system(member, "nobody")
    moderators = system(member, "moderators")
    closed = dict.fromkeys(SETTINGS, nobody)
    group_id = make_group(member, [], subgroups=[theirs, moderators], **closed)
    record = group_of(member, group_id)
    assert record["direct_subgroup_ids"] == sorted([theirs, moderators])
    assert {setting: record[setting] for setting in SETTINGS} == closed


@pytest.mark.holds("create-user-group.permissions", "group-setting.forms")
@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_is_an_integer_or_an_object(member: Speaker, other: Speaker, setting: str) -> None:
    moderators, named = system(member, "moderators"), make_group(member)
    for value in (moderators, named, anonymous([other.id], [moderators]), anonymous([], [moderators, named])):
        assert group_of(member, make_group(member, [], **{setting: value}))[setting] == value


@pytest.mark.holds("create-user-group.permissions")
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_form_of_a_change_is_not_the_form_of_a_new_value(member: Speaker, setting: str) -> None:
    fields = {"name": unique("group"), "description": "", "members": [], setting: {"new": system(member, "members")}}
    assert setting in refused(member, "POST", "user_groups/create", **fields)


@pytest.mark.holds("create-user-group.names")
def test_a_name_is_used_once_by_active_and_deactivated_groups(member: Speaker) -> None:
    name = unique("Group")
    group_id = make_group(member, name=name)
    taken = {"name": name, "description": "", "members": []}
    assert "already exists" in refused(member, "POST", "user_groups/create", **taken)
    member.post(f"user_groups/{group_id}/deactivate")
    assert "already exists" in refused(member, "POST", "user_groups/create", **taken)
    make_group(member, name=name.upper())
    make_group(member, name=f" {name} ")  # the spelling counts


@pytest.mark.holds("create-user-group.names")
@pytest.mark.parametrize("name", ["", "  ", "@x", "role:x", "user:x", "stream:x", "channel:x", "x" * 101])
def test_names_that_cannot_be(member: Speaker, name: str) -> None:
    refused(member, "POST", "user_groups/create", name=name, description="", members=[])


@pytest.mark.holds("create-user-group.names")
@pytest.mark.parametrize("form", ["{} ä * <b>", "{} @x role:", "Role:{}", " {}"])
def test_names_that_can_be(member: Speaker, form: str) -> None:
    name = form.format(unique("group"))
    assert group_of(member, make_group(member, name=name))["name"] == name
    longest = unique("group").ljust(100, "é")
    assert group_of(member, make_group(member, name=longest))["name"] == longest


@pytest.mark.holds("create-user-group.who")
def test_guests_make_no_groups_and_bots_do(guest: Speaker, bot: Speaker) -> None:
    fields = {"name": unique("group"), "description": "", "members": []}
    assert refused(guest, "POST", "user_groups/create", **fields) == "Not allowed for guest users"
    assert group_of(bot, make_group(bot))["creator_id"] == bot.id


@pytest.mark.holds("create-user-group.told")
def test_everybody_hears_of_the_group_and_then_of_its_subgroups(member: Speaker, guest: Speaker) -> None:
    with listening(guest) as queue:
        moderators = system(member, "moderators")
        group_id = make_group(member, [member.id], subgroups=[moderators])
        record = group_of(member, group_id)
        assert heard(queue, group_id) == [
            {"op": "add", "group": record | {"direct_subgroup_ids": []}},
            {"op": "add_subgroups", "group_id": group_id, "direct_subgroup_ids": [moderators]},
        ]


@pytest.mark.holds("conventions.ignored-parameters")
def test_unknown_parameters_are_named(member: Speaker) -> None:
    reply = member.post("user_groups/create", name=unique("group"), description="", members=[], direct_subgroup_ids=[])
    assert reply["ignored_parameters_unsupported"] == ["direct_subgroup_ids"]
