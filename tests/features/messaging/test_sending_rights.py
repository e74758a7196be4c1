"""Who may send where: direct messages, new topics, channels that change while a message is on its way."""

import pytest

from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, later
from tests.harness.talk import Queue, Speaker, check_error, check_success, eventually, unique


def system_group(stage: Stage, realm_id: int, name: str) -> int:
    [(found,)] = stage.sql("select id from user_group where realm_id = %s and name = %s", realm_id, name)
    return int(found)


def permit(realm: Realm, setting: str, group: object) -> None:
    check_success(realm.owner.request("PATCH", "realm", **{setting: {"new": group}}))


def hold(stage: Stage, channel: Channel, setting: str, group: int) -> None:
    stage.sql(f"update channel set {setting} = %s where id = %s", group, channel.stream_id)


def refused(speaker: Speaker, to: object, **fields: object) -> str:
    return check_error(speaker.request("POST", "messages", type="direct", to=to, content="Hello", **fields))


def wait_for_lock(stage: Stage) -> None:
    """Until somebody waits for a conversation."""
    sql = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%%from conversation%%'"
    eventually(lambda: stage.sql(sql))


# Direct messages


def test_nobody_writes_to_who_is_deactivated(realm: Realm) -> None:
    assert realm.member.send([realm.guest.id])
    realm.owner.delete(f"users/{realm.guest.id}")
    assert realm.guest.email in refused(realm.member, [realm.guest.id])
    refused(realm.member, [realm.owner.id, realm.guest.id])


def test_direct_messages_can_be_turned_off_except_with_bots_and_oneself(realm: Realm, stage: Stage) -> None:
    permit(realm, "direct_message_permission_group", system_group(stage, realm.id, "role:nobody"))
    bot = realm.bot(realm.member)
    refused(realm.member, [realm.owner.id])
    refused(realm.owner, [realm.member.id])
    refused(realm.member, [realm.owner.id, bot.id])
    assert realm.member.send([bot.id])
    assert realm.member.send([realm.member.id])
    assert bot.send([realm.owner.id])


def test_one_who_may_is_enough_for_a_direct_conversation(realm: Realm, stage: Stage) -> None:
    permit(realm, "direct_message_permission_group", system_group(stage, realm.id, "role:administrators"))
    refused(realm.member, [realm.guest.id])
    assert realm.member.send([realm.owner.id])
    assert realm.member.send([realm.guest.id, realm.administrator.id])
    assert realm.owner.send([realm.member.id])


def test_who_may_not_begin_may_answer(realm: Realm, stage: Stage) -> None:
    permit(realm, "direct_message_initiator_group", system_group(stage, realm.id, "role:moderators"))
    refused(realm.member, [realm.moderator.id])
    refused(realm.member, [realm.moderator.id])  # the first attempt did not begin anything
    assert realm.moderator.send([realm.member.id])
    assert realm.member.send([realm.moderator.id])
    assert realm.member.send([realm.member.id])


def test_the_permission_may_be_given_to_some_people(realm: Realm) -> None:
    permit(realm, "direct_message_permission_group", {"direct_members": [realm.guest.id], "direct_subgroups": []})
    assert realm.member.send([realm.guest.id])
    refused(realm.member, [realm.owner.id])


def test_people_elsewhere_are_unknown(realm: Realm, stage: Stage) -> None:
    stranger = Realm(stage).member
    refused(realm.member, [stranger.id])
    refused(realm.member, [stranger.email])


# Topics


def test_who_may_not_start_topics_writes_in_those_that_are_there(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm.owner, realm_id=realm.id)
    hold(stage, channel, "can_create_topic_group", system_group(stage, realm.id, "role:administrators"))
    fields = {"type": "channel", "to": channel.stream_id, "topic": "News", "content": "x"}
    check_error(realm.member.request("POST", "messages", **fields))
    realm.member.post("user_topics", stream_id=channel.stream_id, topic="News", visibility_policy=1)
    check_error(realm.member.request("POST", "messages", **fields))  # a topic known only by a policy is none yet
    realm.owner.send(channel.stream_id, "News")
    assert realm.member.send(channel.stream_id, "news")


def test_a_bot_starts_topics_where_its_owner_may(realm: Realm, stage: Stage) -> None:
    bot, other = realm.bot(realm.owner), realm.bot(realm.member)
    channel = stage.channel(bot, other, realm_id=realm.id)
    hold(stage, channel, "can_create_topic_group", system_group(stage, realm.id, "role:owners"))
    fields = {"type": "channel", "to": channel.stream_id, "topic": "News", "content": "x"}
    check_error(other.request("POST", "messages", **fields))
    assert bot.send(channel.stream_id, "News")


@pytest.mark.parametrize(
    ("policy", "topic", "allowed"),
    [
        ("disable_empty_topic", "", False),
        ("disable_empty_topic", "(no topic)", False),
        ("disable_empty_topic", "general chat", False),
        ("disable_empty_topic", "named", True),
        ("empty_topic_only", "named", False),
        ("empty_topic_only", "(no topic)", True),
        ("allow_empty_topic", "", True),
        ("inherit", "", True),
    ],
)
def test_the_policy_of_a_channel_decides_about_the_empty_topic(
    realm: Realm, stage: Stage, policy: str, topic: str, allowed: bool
) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    stage.sql("update channel set topics_policy = %s where id = %s", policy, channel.stream_id)
    fields = {"type": "channel", "to": channel.stream_id, "topic": topic, "content": "x"}
    reply = realm.member.request("POST", "messages", **fields)
    if allowed:
        check_success(reply)
    else:
        check_error(reply)


# Changes at the same moment


def test_a_message_is_judged_again_when_its_channel_changed_on_the_way(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    name = unique("renamed")
    change = "update channel set name = %s, topics_policy = %s, invite_only = true where id = %s"
    outcomes = []
    for topics_policy in ("allow_empty_topic", "disable_empty_topic"):
        with stage.session() as execute:
            execute("select from conversation where id = %s for no key update", channel.stream_id)
            execute(change, name, topics_policy, channel.stream_id)
            waiting = later(
                realm.member.request, "POST", "messages", type="channel", to=channel.stream_id, topic="", content="x"
            )
            wait_for_lock(stage)
        outcomes.append(waiting.result(30))
    sent = check_success(outcomes[0])["id"]
    assert realm.member.message(sent)["display_recipient"] == name
    check_error(outcomes[1])


def test_listeners_of_all_public_channels_do_not_hear_a_channel_that_became_private_on_the_way(
    realm: Realm, stage: Stage
) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    with Queue(realm.owner, event_types=["message"], fetch_event_types=[], all_public_streams=True) as queue:
        with stage.session() as execute:
            execute("select from conversation where id = %s for no key update", channel.stream_id)
            execute("update channel set invite_only = true where id = %s", channel.stream_id)
            waiting = later(realm.member.send, channel.stream_id, "secret")
            wait_for_lock(stage)
        assert waiting.result(30)
        assert queue.so_far() == []
