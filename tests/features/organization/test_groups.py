"""User groups from inside and under strain: who hears what, what two at once can do, and what a request costs."""

import asyncio
import time
from functools import partial

import pytest

import tertulia.organization.groups.routes
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.actions import promote_members
from tertulia.organization.groups.roles import RoleMembers
from tests.contract.groups import (
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
from tests.harness.counting import counting
from tests.harness.realm import Realm
from tests.harness.server import ADMINISTRATOR, MEMBER, OWNER, Server
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique


@pytest.fixture
def realm(stage: Stage) -> Realm:
    return Realm(stage)


# People who come, go and change


def test_a_new_role_moves_somebody_between_system_groups(realm: Realm) -> None:
    ids = {name: system(realm.owner, name) for name in ("moderators", "fullmembers", "members", "everyone")}
    who = [realm.member.id]
    with listening(realm.guest) as queue:
        check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", role=300))
        check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", role=600))
        found = [event for event in queue.so_far() if event["type"] == "user_group"]
    assert [(event["op"], event["group_id"], event["user_ids"]) for event in found] == [
        ("remove_members", ids["fullmembers"], who),
        ("remove_members", ids["members"], who),
        ("add_members", ids["moderators"], who),
        ("remove_members", ids["moderators"], who),
        ("add_members", ids["everyone"], who),
    ]


def test_events_keep_the_state_current(realm: Realm) -> None:
    """Whatever happens to people and groups: the state a client started with, and the events, make the later state."""
    queues = {knows: listening(realm.guest, knows_deactivated=knows, fetch=True) for knows in (False, True)}
    who = realm.speaker(MEMBER)
    group_id = make_group(realm.member, [who.id, realm.guest.id], can_join_group=anonymous([who.id], []))
    other = make_group(who, can_leave_group=anonymous([who.id, realm.owner.id], [group_id]))
    check_success(realm.owner.request("PATCH", "realm", can_create_groups={"new": anonymous([who.id], [group_id])}))
    for role in (300, 600, 400):
        check_success(realm.owner.request("PATCH", f"users/{who.id}", role=role))
    check_success(realm.owner.request("DELETE", f"users/{who.id}"))
    check_success(realm.owner.request("POST", f"users/{who.id}/reactivate"))
    check_success(realm.owner.request("DELETE", f"users/{who.id}"))
    realm.owner.post(f"user_groups/{other}/deactivate")
    check_success(change(realm.owner, other, name=unique("asleep"), can_join_group={"new": group_id}))
    realm.owner.post(f"user_groups/{other}/members", add=[realm.owner.id])
    check_success(change(realm.owner, other, deactivated=False))
    realm.owner.post(f"user_groups/{group_id}/members", add_subgroups=[system(realm.owner, "owners")])
    for knows, queue in queues.items():
        state = {group["id"]: group for group in queue.state["realm_user_groups"]}
        for event in queue.so_far():
            apply(state, event)
        with listening(realm.guest, knows_deactivated=knows, fetch=True) as later:
            assert list(state.values()) == later.state["realm_user_groups"]


def apply(state: dict[int, Json], event: Json) -> None:
    """What a client does with an event of a group."""
    if event["type"] != "user_group":
        return
    if event["op"] == "add":
        state[event["group"]["id"]] = event["group"]
        return
    group = state[event["group_id"]]
    match event["op"]:
        case "remove":
            del state[event["group_id"]]
        case "update":
            group.update(event["data"])
        case "add_members":
            group["members"] = sorted({*group["members"], *event["user_ids"]})
        case "remove_members":
            group["members"] = [user for user in group["members"] if user not in event["user_ids"]]
        case "add_subgroups":
            group["direct_subgroup_ids"] = sorted({*group["direct_subgroup_ids"], *event["direct_subgroup_ids"]})
        case "remove_subgroups":
            gone = event["direct_subgroup_ids"]
            group["direct_subgroup_ids"] = [below for below in group["direct_subgroup_ids"] if below not in gone]
        case unknown:
            raise AssertionError(unknown)


def test_a_deactivated_user_keeps_their_places_but_is_not_shown(realm: Realm) -> None:
    who = realm.speaker(MEMBER)
    group_id = make_group(realm.member, [who.id], can_join_group=anonymous([who.id, realm.member.id], []))
    check_success(realm.owner.request("DELETE", f"users/{who.id}"))
    record = group_of(realm.member, group_id)
    assert (record["members"], record["can_join_group"]) == ([], anonymous([realm.member.id], []))
    assert realm.member.get(f"user_groups/{group_id}/members")["members"] == []
    assert who.id not in {user for group in groups_of(realm.member) for user in group["members"]}
    assert "deactivated" in refused(realm.member, "GET", f"user_groups/{group_id}/members/{who.id}")
    for fields in ({"add": [who.id]}, {"delete": [who.id]}):
        assert str(who.id) in refused(realm.member, "POST", f"user_groups/{group_id}/members", **fields)
    # What is shown is the current value: it can be expected, and putting it again changes nothing.
    shown = record["can_join_group"]
    check_success(change(realm.member, group_id, can_join_group={"new": shown, "old": shown}))
    check_success(realm.owner.request("POST", f"users/{who.id}/reactivate"))
    record = group_of(realm.member, group_id)
    assert (record["members"], record["can_join_group"]["direct_members"]) == (
        [who.id],
        sorted([who.id, realm.member.id]),
    )


# The waiting period


async def promote(server: Server) -> None:
    async with await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database:
        await promote_members(database)


async def test_members_become_full_members_when_they_are_judged_and_everybody_hears_of_it(
    realm: Realm, server: Server
) -> None:
    full = system(realm.owner, "fullmembers")
    with listening(realm.guest) as queue:
        check_success(realm.owner.request("PATCH", "realm", waiting_period_threshold=3))
        assert heard(queue, full) == [{"op": "remove_members", "group_id": full, "user_ids": [realm.member.id]}]
        check_success(realm.owner.request("PATCH", "realm", can_create_groups={"new": full}))
        fields = {"name": unique("group"), "description": "", "members": []}
        assert refused(realm.member, "POST", "user_groups/create", **fields) == "Insufficient permission"
        # As if all this had been four days ago.
        realm.stage.sql("update account set date_joined = now() - interval '4 days' where id = %s", realm.member.id)
        realm.stage.sql("update realm set judged_at = now() - interval '4 days' where id = %s", realm.id)
        assert refused(realm.member, "POST", "user_groups/create", **fields) == "Insufficient permission"
        await promote(server)
        await promote(server)
        assert heard(queue, full) == [{"op": "add_members", "group_id": full, "user_ids": [realm.member.id]}]
    make_group(realm.member)


# The organization's permissions


def test_permissions_of_the_organization_change_and_everybody_hears_of_it(realm: Realm) -> None:
    owners, members = system(realm.owner, "owners"), system(realm.owner, "members")
    group_id = make_group(realm.member, [realm.member.id])
    value = anonymous([realm.moderator.id], [group_id])
    with Queue(realm.guest, event_types=["realm", "message"], fetch_event_types=["realm"]) as queue:
        assert queue.state["realm_can_add_custom_emoji_group"] == members
        fields = {
            "can_add_custom_emoji_group": {"new": value, "old": members},
            "can_manage_all_groups": {"new": members},
        }
        check_success(realm.owner.request("PATCH", "realm", **fields))
        check_success(realm.owner.request("PATCH", "realm", can_add_custom_emoji_group={"new": value}))
        [event] = [event for event in queue.so_far() if event["type"] == "realm"]
        data = {"can_add_custom_emoji_group": value, "can_manage_all_groups": members}
        assert (event["op"], event["property"], event["data"]) == ("update_dict", "default", data)
    with Queue(realm.guest, event_types=[], fetch_event_types=["realm"]) as queue:
        assert queue.state["realm_can_add_custom_emoji_group"] == value
        assert queue.state["realm_can_manage_all_groups"] == members
    wrong = {"can_add_custom_emoji_group": {"new": owners, "old": members}}
    check_error(realm.owner.request("PATCH", "realm", **wrong), "EXPECTATION_MISMATCH", field_name="old")


def test_which_permissions_cannot_be_what(realm: Realm) -> None:
    nobody, internet = system(realm.owner, "nobody"), system(realm.owner, "internet")
    group_id = make_group(realm.owner)
    for setting, value in (
        ("can_manage_all_groups", nobody),
        ("can_create_groups", internet),
        ("can_create_groups", system(realm.owner, "everyone")),
        ("can_create_web_public_channel_group", system(realm.owner, "members")),
    ):
        assert setting in check_error(realm.owner.request("PATCH", "realm", **{setting: {"new": value}}))
    check_error(
        realm.owner.request("PATCH", "realm", can_access_all_users_group={"new": group_id}),
        "SYSTEM_GROUP_REQUIRED",
        setting_name="can_access_all_users_group",
    )


def test_who_changes_the_permissions_of_the_organization(realm: Realm) -> None:
    new = {"new": system(realm.owner, "administrators")}
    for speaker in (realm.moderator, realm.member, realm.guest):
        check_error(speaker.request("PATCH", "realm", can_add_custom_emoji_group=new), "UNAUTHORIZED_PRINCIPAL")
    check_success(realm.administrator.request("PATCH", "realm", can_add_custom_emoji_group=new))
    check_error(realm.administrator.request("PATCH", "realm", can_manage_all_groups=new), "UNAUTHORIZED_PRINCIPAL")
    check_success(realm.owner.request("PATCH", "realm", can_manage_all_groups=new))


# In use


def test_use_by_channels_and_the_organization_is_an_objection(realm: Realm) -> None:
    group_id = make_group(realm.owner)
    hidden = anonymous([realm.owner.id], [group_id])
    user = make_group(realm.owner, can_leave_group=hidden)
    check_success(realm.owner.request("PATCH", "realm", can_create_groups={"new": hidden}))
    channel, archived = realm.stage.channel(realm_id=realm.id), realm.stage.channel(realm_id=realm.id)
    sql = "update channel set can_send_message_group = %s, can_subscribe_group = %s where id = any(%s)"
    realm.stage.sql(sql, group_id, group_id, [channel.stream_id, archived.stream_id])
    realm.stage.sql("update channel set is_archived = true where id = %s", archived.stream_id)
    check_error(
        realm.owner.request("POST", f"user_groups/{group_id}/deactivate"),
        "CANNOT_DEACTIVATE_GROUP_IN_USE",
        objections=[
            {
                "type": "channel",
                "channel_id": channel.stream_id,
                "settings": ["can_send_message_group", "can_subscribe_group"],
            },
            {"type": "user_group", "group_id": user, "settings": ["can_leave_group"]},
            {"type": "realm", "settings": ["can_create_groups"]},
        ],
    )


def test_groups_of_another_organization_do_not_exist(realm: Realm, stage: Stage) -> None:
    theirs = make_group(realm.owner, [realm.member.id])
    stranger = stage.speaker(OWNER)
    own = make_group(stranger)
    assert theirs not in {group["id"] for group in groups_of(stranger)}
    assert refused(stranger, "PATCH", f"user_groups/{theirs}", name="x") == "Invalid user group"
    assert refused(stranger, "POST", f"user_groups/{theirs}/deactivate") == "Invalid user group"
    assert refused(stranger, "POST", f"user_groups/{theirs}/members", add=[stranger.id]) == "Invalid user group"
    assert refused(stranger, "GET", f"user_groups/{theirs}/members") == "Invalid user group"
    assert check_error(change(stranger, own, can_join_group={"new": theirs})) == "Invalid user group"
    for fields in ({"add": [realm.member.id]}, {"add_subgroups": [theirs]}):
        refused(stranger, "POST", f"user_groups/{own}/members", **fields)
    refused(stranger, "GET", f"user_groups/{own}/members/{realm.member.id}")


# Who may


def test_joining_and_leaving(realm: Realm) -> None:
    members, nobody = system(realm.owner, "members"), system(realm.owner, "nobody")
    group_id = make_group(realm.owner)
    path = f"user_groups/{group_id}/members"
    who = realm.member
    assert refused(who, "POST", path, add=[who.id]) == "Insufficient permission"
    check_success(change(realm.owner, group_id, can_join_group={"new": members}, can_leave_group={"new": members}))
    assert refused(who, "POST", path, add=[who.id, realm.moderator.id]) == "Insufficient permission"
    assert refused(who, "POST", path, add=[realm.moderator.id]) == "Insufficient permission"
    who.post(path, add=[who.id])
    realm.moderator.post(path, add=[realm.moderator.id])
    assert refused(who, "POST", path, delete=[realm.moderator.id]) == "Insufficient permission"
    who.post(path, delete=[who.id])
    check_success(change(realm.owner, group_id, can_leave_group={"new": nobody}))
    assert refused(realm.moderator, "POST", path, delete=[realm.moderator.id]) == "Insufficient permission"
    assert group_of(who, group_id)["members"] == [realm.moderator.id]


def test_adding_and_removing_others_are_rights_of_their_own(realm: Realm) -> None:
    only_member = {"new": anonymous([realm.member.id], [])}
    group_id, subgroup = make_group(realm.owner), make_group(realm.owner)
    path = f"user_groups/{group_id}/members"
    check_success(change(realm.owner, group_id, can_add_members_group=only_member))
    realm.member.post(path, add=[realm.guest.id, realm.member.id], add_subgroups=[subgroup])
    for fields in ({"delete": [realm.guest.id]}, {"delete_subgroups": [subgroup]}):
        assert refused(realm.member, "POST", path, **fields) == "Insufficient permission"
    assert refused(realm.member, "POST", f"user_groups/{group_id}/subgroups", delete=[subgroup]) == (
        "Insufficient permission"
    )
    check_success(change(realm.owner, group_id, can_remove_members_group=only_member))
    realm.member.post(path, delete=[realm.guest.id])
    assert refused(realm.member, "POST", path, delete_subgroups=[subgroup]) == "Insufficient permission"
    assert refused(realm.member, "PATCH", f"user_groups/{group_id}", name="x") == "Insufficient permission"


def test_administrators_have_no_right_of_their_own(realm: Realm) -> None:
    group_id = make_group(realm.member)
    assert refused(realm.administrator, "PATCH", f"user_groups/{group_id}", name="x") == "Insufficient permission"
    check_success(
        realm.owner.request("PATCH", "realm", can_manage_all_groups={"new": system(realm.owner, "administrators")})
    )
    name = unique("theirs")
    assert changed(realm.administrator, group_id, name=name)["name"] == name


def test_only_those_whom_the_channel_lets_send_send(stage: Stage) -> None:
    speakers = {role: stage.speaker(role) for role in (OWNER, ADMINISTRATOR, MEMBER)}
    owner, administrator, member = speakers.values()
    channel = stage.channel(owner, administrator, member)

    def let(value: object) -> None:
        stage.sql("update channel set can_send_message_group = %s where id = %s", value, channel.stream_id)

    def senders() -> list[int]:
        fields = {"type": "channel", "to": channel.stream_id, "topic": "t", "content": "x"}
        return [role for role, speaker in speakers.items() if speaker.request("POST", "messages", **fields).is_success]

    assert senders() == [OWNER, ADMINISTRATOR, MEMBER]
    let(system(owner, "administrators"))
    assert senders() == [OWNER, ADMINISTRATOR]
    let(system(owner, "nobody"))
    assert senders() == []
    let(make_group(owner, [member.id], subgroups=[system(owner, "owners")]))
    assert senders() == [OWNER, MEMBER]
    let(system(owner, "fullmembers"))
    assert senders() == [OWNER, ADMINISTRATOR, MEMBER]


# Two at once


def test_two_at_once_make_no_cycle(realm: Realm) -> None:
    for _ in range(10):
        one, two = make_group(realm.owner), make_group(realm.owner)
        pairs = [(one, two), (two, one)]
        works = [
            partial(realm.owner.request, "POST", f"user_groups/{above}/subgroups", add=[below])
            for above, below in pairs
        ]
        replies = at_once(works)
        assert sorted(reply.status_code for reply in replies) == [200, 400]


def test_a_ring_of_many_closes_nowhere(realm: Realm) -> None:
    ring = [make_group(realm.owner) for _ in range(8)]
    works = [
        partial(realm.owner.request, "POST", f"user_groups/{above}/members", add_subgroups=[below])
        for above, below in zip(ring, ring[1:] + ring[:1], strict=True)
    ]
    replies = at_once(works)
    assert sorted(reply.status_code for reply in replies) == [200] * 7 + [400]


def test_a_group_is_not_deactivated_while_a_value_comes_to_name_it(realm: Realm) -> None:
    for _ in range(10):
        named, user = make_group(realm.owner), make_group(realm.owner)
        put, off = at_once(
            [
                partial(change, realm.owner, user, can_join_group={"new": named}),
                partial(realm.owner.request, "POST", f"user_groups/{named}/deactivate"),
            ]
        )
        assert {put.status_code, off.status_code} == {200, 400}


@pytest.mark.timed
def test_groups_that_come_to_name_each_other_do_not_wait_for_ever(realm: Realm) -> None:
    one, two = make_group(realm.owner), make_group(realm.owner)
    began = time.monotonic()
    works = [
        partial(change, realm.owner, user, can_join_group={"new": named})
        for named, user in [(one, two), (two, one)] * 5
    ]
    assert {reply.status_code for reply in at_once(works)} == {200}
    assert time.monotonic() - began < 5


def test_the_same_member_is_added_once(realm: Realm) -> None:
    group_id = make_group(realm.owner)
    works = [partial(realm.owner.request, "POST", f"user_groups/{group_id}/members", add=[realm.member.id])] * 6
    assert sorted(reply.status_code for reply in at_once(works)) == [200] + [400] * 5


def test_whoever_comes_and_goes_at_the_same_time_is_in_the_state_that_events_make(realm: Realm) -> None:
    group_id = make_group(realm.owner)
    with listening(realm.guest, fetch=True) as queue:
        for who in [realm.speaker() for _ in range(8)]:
            add = partial(realm.owner.request, "POST", f"user_groups/{group_id}/members", add=[who.id])
            go = partial(realm.owner.request, "DELETE", f"users/{who.id}")
            assert at_once([add, go])[1].is_success
        state = {group["id"]: group for group in queue.state["realm_user_groups"]}
        for event in queue.so_far():
            apply(state, event)
    with listening(realm.guest, fetch=True) as later:
        assert list(state.values()) == later.state["realm_user_groups"]


# What it costs


async def test_the_number_of_statements_does_not_grow_with_the_groups(realm: Realm, server: Server) -> None:
    user, owner = realm.member.user, realm.owner.user
    group_id = make_group(realm.owner, can_join_group=anonymous([realm.member.id], [system(realm.owner, "owners")]))
    routes = tertulia.organization.groups.routes
    async with counting(server.postgres_url, routes, roles=lambda _database: RoleMembers()) as counter:
        await counter.cost(user, "GET", "/user_groups", realm.host)

        async def costs() -> dict[str, int]:
            found = {"list": await counter.cost(user, "GET", "/user_groups", realm.host)}
            for path in ("members", f"members/{user.user_id}", "subgroups"):
                found[path] = await counter.cost(user, "GET", f"/user_groups/{group_id}/{path}", realm.host)
            fields = {"name": unique("group"), "description": "", "members": f"[{user.user_id}]"}
            found["create"] = await counter.cost(owner, "POST", "/user_groups/create", realm.host, **fields)
            path = f"/user_groups/{group_id}"
            found["rename"] = await counter.cost(owner, "PATCH", path, realm.host, name=unique("renamed"))
            for word in ("add", "delete"):
                fields = {word: f"[{user.user_id}]"}
                found[word] = await counter.cost(owner, "POST", f"{path}/members", realm.host, **fields)
            return found

        few = await costs()
        add_groups(realm, 1_000)
        assert await costs() == few
    # Whose key, the groups, anonymous values, members, subgroups, system groups, whether people's roles are known.
    assert few["list"] <= 7
    # Making one also looks whose share it takes, in number and in bytes, and is noted in the audit log.
    assert max(few.values()) <= 19


async def test_people_are_read_by_role_again_when_anything_changed_it_and_not_before(
    realm: Realm, server: Server
) -> None:
    routes = tertulia.organization.groups.routes
    member, user = realm.member, realm.owner.user
    changes = [
        lambda: realm.owner.request("PATCH", f"users/{member.id}", role=300),
        lambda: realm.owner.request("DELETE", f"users/{member.id}"),
        lambda: realm.owner.request("POST", f"users/{member.id}/reactivate"),
        lambda: realm.owner.request("PATCH", "realm", waiting_period_threshold=3),
        lambda: realm.speaker(MEMBER).request("GET", "users/me"),
    ]
    async with counting(server.postgres_url, routes, roles=lambda _database: RoleMembers()) as counter:

        async def reads_people() -> bool:
            await counter.cost(user, "GET", "/user_groups", realm.host)
            return any("group by 1, 2" in statement for statement in counter.statements)

        assert [await reads_people(), await reads_people()] == [True, False]
        for change_people in changes:
            check_success(await asyncio.to_thread(change_people))
            assert [await reads_people(), await reads_people()] == [True, False]


def add_groups(realm: Realm, count: int) -> None:
    """Many groups, each with an anonymous value, members and a subgroup."""
    with realm.stage.session() as run:
        made = run(
            """
            insert into user_group (realm_id, name) select %s, null from generate_series(1, %s) returning id
            """,
            realm.id,
            count,
        )
        values = [row[0] for row in made]
        named = run(
            """
            insert into user_group (realm_id, name, can_add_members_group, can_join_group, can_leave_group,
                can_manage_group, can_mention_group, can_remove_members_group)
            select %s, 'many ' || value, value, value, value, value, value, value from unnest(%s) as value returning id
            """,
            realm.id,
            values,
        )
        sql = "insert into group_member (realm_id, group_id, user_id, is_anonymous) select %s, unnest(%s), %s, %s"
        run(sql, realm.id, values, realm.member.id, True)
        run(sql, realm.id, [row[0] for row in named], realm.member.id, False)


# Speaking of which


def test_a_group_of_many_thousands_is_told_in_several_events(realm: Realm) -> None:
    count = 12_000
    realm.stage.sql(
        """
        insert into account (realm_id, email, email_key, full_name)
        select %s, 'm' || n || '@example.com', 'm' || n || '@example.com', 'M' from generate_series(1, %s) as n
        """,
        realm.id,
        count,
    )
    ids = [
        row[0] for row in realm.stage.sql("select id from account where realm_id = %s and email like 'm%%'", realm.id)
    ]
    with listening(realm.owner) as queue:
        group_id = make_group(realm.owner, ids)
        first, second = heard(queue, group_id)
    assert (first["op"], second["op"]) == ("add", "add_members")
    assert first["group"]["members"] + second["user_ids"] == sorted(ids)
    assert group_of(realm.owner, group_id)["members"] == sorted(ids)
    assert speaker_count(realm.owner, group_id) == count


def speaker_count(speaker: Speaker, group_id: int) -> int:
    return len(speaker.get(f"user_groups/{group_id}/members")["members"])
