"""A group that is out of use shows nobody anything, also where it is still a part of something that is in use."""

from tests.contract.groups import anonymous, make_group
from tests.contract.groups import change as change_group
from tests.harness.channels import change, heard, listening, make, seen
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import check_success


def test_who_is_in_a_group_out_of_use_hears_nothing_of_a_private_channel(realm: Realm) -> None:
    outside = realm.speaker()
    group = make_group(realm.owner, [outside.id])
    channel = make(realm, realm.member, kind="protected")
    change(realm.owner, channel, can_administer_channel_group={"new": anonymous([realm.moderator.id], [group])})
    assert seen(outside, channel) is not None
    realm.owner.delete(f"streams/{channel.stream_id}")
    with listening(outside, archived=True) as former:
        realm.owner.post(f"user_groups/{group}/deactivate")
        former.check_ends()
    assert seen(outside, channel, archived=True) is None
    with listening(outside) as queue, listening(realm.moderator) as knowing:
        change(realm.owner, channel, is_archived=False)
        change(realm.owner, channel, description="Whom we let go")
        assert seen(outside, channel) is None
        assert [event["op"] for event in heard(knowing)] == ["create", "update"]
        assert heard(queue) == []


def test_who_is_in_a_group_that_comes_back_registers_anew(realm: Realm) -> None:
    outside = realm.speaker()
    group, around, channel = inside_of_another(realm, outside.id)
    with listening(outside) as queue:
        change(realm.owner, channel, can_administer_channel_group={"new": around})
        assert seen(outside, channel) is None
        assert heard(queue) == []
        check_success(change_group(realm.owner, group, deactivated=False))
        assert seen(outside, channel) is not None
        queue.check_ends()


def test_who_is_in_a_group_out_of_use_is_not_mentioned(realm: Realm) -> None:
    outside = realm.speaker()
    _, around, channel = inside_of_another(realm, outside.id)
    realm.stage.add(channel, outside)
    [(name,)] = realm.stage.sql("select name from user_group where id = %s", around)
    with outside.register() as queue:
        sent = realm.member.send(channel.stream_id, "tea", f"@*{name}*")
        assert queue.message_event(sent)["flags"] == []
    assert outside.message(sent)["flags"] == []


def inside_of_another(realm: Realm, user_id: int) -> tuple[int, int, Channel]:
    """A group out of use inside of one in use, and a private channel."""
    group, around = make_group(realm.owner, [user_id]), make_group(realm.owner)
    realm.owner.post(f"user_groups/{around}/subgroups", add=[group])
    for one in (around, group):
        realm.owner.post(f"user_groups/{one}/deactivate")
    check_success(change_group(realm.owner, around, deactivated=False))
    return group, around, make(realm, realm.member, kind="protected")
