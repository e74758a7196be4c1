"""Who may change, move and delete messages, until when, and what others at the same time see of it."""

import pytest

from tertulia.conversations.channels.actions import subscribe
from tertulia.messaging.reading.revisions import MAX_SHOWN
from tests.contract.changes import TYPES, edit, events, history, listen, one, refused, topic_ids
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, at_once, holds_up, later
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, unique

QUIET = {"send_notification_to_new_thread": False}


@pytest.fixture
def channel(realm: Realm) -> Channel:
    """A public channel with everybody in it."""
    return realm.stage.channel(*realm.all, realm_id=realm.id)


def age(stage: Stage, seconds: int, *messages: int) -> None:
    sql = "update message set sent_at = now() - make_interval(secs => %s) where id = any(%s)"
    stage.sql(sql, seconds, list(messages))


def change_realm(realm: Realm, **settings: object) -> None:
    assert realm.owner.request("PATCH", "realm", **settings).status_code == 200


def set_holder(realm: Realm, channel: Channel, setting: str, group: str) -> None:
    sql = f"""
    update channel set {setting} = (select id from user_group where realm_id = %s and name = %s) where id = %s
    """
    realm.stage.sql(sql, realm.id, group, channel.stream_id)


def group_id(realm: Realm, name: str) -> int:
    [(found,)] = realm.stage.sql("select id from user_group where realm_id = %s and name = %s", realm.id, name)
    return int(found)


def forbid(realm: Realm, setting: str, group: str = "role:nobody") -> None:
    change_realm(realm, **{setting: {"new": group_id(realm, group)}})


# Texts


def test_a_text_can_be_changed_for_ten_minutes_and_a_little(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic", "a")
    age(realm.stage, 615, sent)
    edit(realm.owner, sent, content="b")
    age(realm.stage, 625, sent)
    assert "time limit" in refused(realm.owner, sent, content="c")


def test_without_a_limit_a_text_can_always_be_changed(realm: Realm, channel: Channel) -> None:
    realm.stage.sql(
        "update realm set settings = settings || '{\"message_content_edit_limit_seconds\": null}' where id = %s",
        realm.id,
    )
    sent = realm.member.send(channel.stream_id, "topic", "a")
    age(realm.stage, 10**8, sent)
    edit(realm.member, sent, content="b")


def test_when_editing_is_off_nothing_changes(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "topic", "a")
    change_realm(realm, allow_message_editing=False)
    refused(realm.member, sent, content="b")
    refused(realm.owner, sent, topic="b")


def test_changes_at_the_same_time_come_one_after_the_other(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "topic", "0")
    texts = [f"{number}" for number in range(1, 9)]
    at_once([lambda text=text: edit(realm.member, sent, content=text) for text in texts])  # type: ignore[misc]
    seen = [version["content"] for version in history(realm.member, sent)]
    assert seen[0] == "0"
    assert sorted(seen) == ["0", *texts]
    assert [version["prev_content"] for version in history(realm.member, sent)[1:]] == seen[:-1]


def test_history_is_shown_as_the_organization_wants(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "old", "a")
    edit(realm.member, sent, content="b")
    edit(realm.member, sent, topic="new", content="c", **QUIET)
    change_realm(realm, message_edit_history_visibility_policy="moves")
    [entry] = one(realm.member, sent)["edit_history"]
    assert set(entry) == {"user_id", "timestamp", "prev_topic", "topic"}
    first, second = history(realm.member, sent)
    assert set(first) == {"user_id", "timestamp", "topic"}
    assert set(second) == {"user_id", "timestamp", "topic", "prev_topic"}
    change_realm(realm, message_edit_history_visibility_policy="none")
    message = one(realm.member, sent)
    assert "edit_history" not in message
    assert {"last_edit_timestamp", "last_moved_timestamp"} <= set(message)
    check_error(realm.member.request("GET", f"messages/{sent}/history"))


# Moves


@pytest.mark.parametrize("who", ["member", "moderator"])
def test_members_move_for_a_week_and_moderators_without_end(realm: Realm, channel: Channel, who: str) -> None:
    mover: Speaker = getattr(realm, who)
    sent = realm.owner.send(channel.stream_id, "topic")
    age(realm.stage, 604_815, sent)
    edit(mover, sent, topic="second", **QUIET)
    age(realm.stage, 604_830, sent)
    other = realm.stage.channel(*realm.all, realm_id=realm.id)
    for fields in ({"topic": "third"}, {"stream_id": other.stream_id}):
        reply = mover.request("PATCH", f"messages/{sent}", **fields, **QUIET)
        assert reply.status_code == (200 if who == "moderator" else 400), reply.text


def test_of_a_topic_that_is_too_old_in_part_the_rest_can_be_moved(realm: Realm, channel: Channel) -> None:
    sent = [realm.owner.send(channel.stream_id, "topic") for _ in range(5)]
    age(realm.stage, 700_000, *sent[:3])
    fields: Json = {"topic": "new", "propagate_mode": "change_all"}
    check_error(
        realm.member.request("PATCH", f"messages/{sent[4]}", **fields),
        "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED",
        first_message_id_allowed_to_move=sent[3],
        total_messages_in_topic=5,
        total_messages_allowed_to_move=2,
    )
    age(realm.stage, 700_000, *sent)
    refused(realm.member, sent[4], **fields)
    age(realm.stage, 10, *sent[3:])
    edit(realm.member, sent[3], topic="new", propagate_mode="change_later", **QUIET)
    assert topic_ids(realm.member, channel.stream_id, "new") == sent[3:]


def test_resolving_has_no_limit_but_a_permission_of_its_own(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic")
    age(realm.stage, 10**7, sent)
    resolve: Json = {"topic": "✔ topic", "propagate_mode": "change_all"}
    forbid(realm, "can_move_messages_between_topics_group")
    edit(realm.member, sent, **resolve)
    edit(realm.member, sent, topic="topic", propagate_mode="change_all")
    forbid(realm, "can_resolve_topics_group")
    refused(realm.member, sent, **resolve)
    set_holder(realm, channel, "can_resolve_topics_group", "role:members")
    edit(realm.member, sent, **resolve)
    refused(realm.guest, sent, topic="topic", propagate_mode="change_all")


def test_who_moves_inside_a_channel_is_decided_by_realm_and_channel(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic")
    forbid(realm, "can_move_messages_between_topics_group")
    refused(realm.member, sent, topic="new")
    refused(realm.moderator, sent, topic="new")
    edit(realm.administrator, sent, topic="new", **QUIET)
    set_holder(realm, channel, "can_move_messages_within_channel_group", "role:members")
    edit(realm.member, sent, topic="newer", **QUIET)
    refused(realm.guest, sent, topic="newest")


def test_who_moves_out_of_a_channel_is_decided_by_realm_and_channel(realm: Realm, channel: Channel) -> None:
    other = realm.stage.channel(*realm.all, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "topic")
    assert "move" in refused(realm.guest, sent, stream_id=other.stream_id)
    forbid(realm, "can_move_messages_between_channels_group")
    refused(realm.moderator, sent, stream_id=other.stream_id)
    set_holder(realm, channel, "can_move_messages_out_of_channel_group", "role:moderators")
    edit(realm.moderator, sent, stream_id=other.stream_id, **QUIET)
    edit(realm.administrator, sent, stream_id=channel.stream_id, **QUIET)


def test_a_message_goes_only_where_the_mover_may_send(realm: Realm, channel: Channel) -> None:
    other = realm.stage.channel(*realm.all, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "topic")
    set_holder(realm, other, "can_send_message_group", "role:administrators")
    refused(realm.member, sent, stream_id=other.stream_id)
    set_holder(realm, other, "can_send_message_group", "role:everyone")
    set_holder(realm, other, "can_create_topic_group", "role:administrators")
    assert "new topics" in refused(realm.member, sent, stream_id=other.stream_id)
    realm.owner.send(other.stream_id, "Topic")
    edit(realm.member, sent, stream_id=other.stream_id, **QUIET)
    assert one(realm.member, sent)["subject"] == "Topic"


def test_the_topics_policy_of_the_channel_holds_for_moves(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic")
    policy = "update channel set topics_policy = %s where id = %s"
    realm.stage.sql(policy, "disable_empty_topic", channel.stream_id)
    refused(realm.member, sent, topic="")
    realm.stage.sql(policy, "empty_topic_only", channel.stream_id)
    refused(realm.member, sent, topic="new")
    edit(realm.member, sent, topic="", **QUIET)


def test_renaming_a_whole_topic_touches_no_message(realm: Realm, channel: Channel) -> None:
    for number in range(20):
        realm.owner.send(channel.stream_id, "topic", f"{number}")
    rows = "select id, xmin::text from message where conversation_id = %s order by id"
    before = realm.stage.sql(rows, channel.stream_id)
    edit(realm.member, before[7][0], topic="new", propagate_mode="change_all", **QUIET)
    assert realm.stage.sql(rows, channel.stream_id) == before
    counted = "select count(*) from message_revision join topic on topic.id = topic_id where conversation_id = %s"
    assert realm.stage.sql(counted, channel.stream_id) == [(1,)]
    assert [version["topic"] for version in history(realm.member, before[0][0])] == ["topic", "new"]


# Protected history


@pytest.fixture
def protected(realm: Realm) -> Channel:
    """Owner and moderator were there first, the member came later."""
    made = realm.stage.channel(realm.owner, realm.moderator, realm_id=realm.id, invite_only=True)
    realm.stage.sql("update channel set history_public_to_subscribers = false where id = %s", made.stream_id)
    return made


def add(realm: Realm, channel: Channel, speaker: Speaker) -> None:
    realm.stage.write(lambda tx: subscribe(tx, realm.id, [channel.stream_id], [speaker.id]))


def test_what_somebody_cannot_see_they_neither_move_nor_hear_of(realm: Realm, protected: Channel) -> None:
    before = realm.owner.send(protected.stream_id, "topic", "before")
    add(realm, protected, realm.member)
    after = realm.owner.send(protected.stream_id, "topic", "after")
    refused(realm.member, before, topic="new")
    with listen(realm.member) as newcomer, listen(realm.moderator) as old:
        edit(realm.member, after, topic="new", propagate_mode="change_all", **QUIET)
        edit(realm.owner, before, content="changed")
        assert [event["message_ids"] for event in events(newcomer)] == [[after]]
        assert [event["message_ids"] for event in events(old)] == [[after], [before]]
    assert one(realm.owner, before)["subject"] == "topic"
    with listen(realm.member) as newcomer:
        edit(realm.owner, before, topic="new", **QUIET)
        edit(realm.owner, before, topic="all", propagate_mode="change_all", **QUIET)
        realm.owner.delete(f"messages/{before}")
        heard = [event for event in newcomer.so_far() if event["type"] in ("update_message", "delete_message")]
    assert [event["message_ids"] for event in heard] == [[after]]


def test_messages_that_come_into_a_protected_channel_are_seen_by_those_who_are_there(
    realm: Realm, channel: Channel, protected: Channel
) -> None:
    sent = realm.member.send(channel.stream_id, "topic")
    with listen(realm.member) as loser:
        edit(realm.owner, sent, stream_id=protected.stream_id, **QUIET)
        [gone] = events(loser, "delete_message")
    assert (gone["message_ids"], gone["stream_id"]) == ([sent], channel.stream_id)
    assert one(realm.moderator, sent)["stream_id"] == protected.stream_id
    add(realm, protected, realm.member)
    check_error(realm.member.request("GET", f"messages/{sent}"))
    edit(realm.owner, sent, stream_id=channel.stream_id, **QUIET)
    assert one(realm.member, sent)["subject"] == "topic"


def test_marks_go_with_the_access(realm: Realm, channel: Channel, protected: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic")
    for speaker in (realm.member, realm.moderator):
        realm.stage.sql("insert into message_mark values (%s, 1, %s)", speaker.id, sent)
    edit(realm.owner, sent, stream_id=protected.stream_id, **QUIET)
    left = realm.stage.sql("select user_id from message_mark where message_id = %s", sent)
    assert left == [(realm.moderator.id,)]


# Numbers and order


def test_the_first_unread_message_is_the_one_with_the_lowest_id(realm: Realm, channel: Channel) -> None:
    other = realm.stage.channel(*realm.all, realm_id=realm.id)
    old, newer = realm.owner.send(channel.stream_id, "a"), realm.owner.send(other.stream_id, "b")
    edit(realm.owner, old, stream_id=other.stream_id, **QUIET)
    narrow = [{"operator": "channel", "operand": other.stream_id}]
    assert realm.member.window("first_unread", after=5, narrow=narrow)["anchor"] == old
    [unread] = [
        part
        for part in realm.member.unread()["streams"]
        if part["stream_id"] == other.stream_id and part["topic"] == "a"
    ]
    assert unread["unread_message_ids"] == [old]
    assert newer > old


def test_moves_and_sends_at_the_same_time_leave_nothing_behind(realm: Realm, channel: Channel) -> None:
    other = realm.stage.channel(*realm.all, realm_id=realm.id)
    sent = [realm.owner.send(channel.stream_id, "topic") for _ in range(6)]

    def move(number: int) -> int:
        target = other if number % 2 else channel
        fields: Json = {"stream_id": target.stream_id, "propagate_mode": "change_all", **QUIET}
        return -realm.owner.request("PATCH", f"messages/{number}", **fields).status_code

    def say(number: int) -> int:
        return realm.member.send([channel, other][number % 2].stream_id, "topic")

    works = [lambda number=number: move(number) for number in sent for _ in range(3)]
    works += [lambda number=number: say(number) for number in range(12)]
    done = at_once(works)
    assert {number for number in done if number < 0} <= {-200, -400}
    said = [number for number in done if number > 0]
    seen = [*topic_ids(realm.owner, channel.stream_id, "topic"), *topic_ids(realm.owner, other.stream_id, "topic")]
    assert sorted(seen) == sorted([*sent, *said])
    unread = realm.guest.unread()
    assert sorted(number for part in unread["streams"] for number in part["unread_message_ids"]) == sorted(seen)


def test_topics_exchange_messages_at_the_same_time(realm: Realm, channel: Channel) -> None:
    sent = [realm.owner.send(channel.stream_id, f"topic {number % 3}") for number in range(9)]
    names = [unique(f"topic {number % 4}") for number in range(24)]

    def move(index: int) -> int:
        mode = ("change_one", "change_later", "change_all")[index % 3]
        fields: Json = {"topic": names[index % 5], "propagate_mode": mode, **QUIET}
        return realm.member.request("PATCH", f"messages/{sent[index % 9]}", **fields).status_code

    done = at_once([lambda index=index: move(index) for index in range(24)])  # type: ignore[misc]
    assert set(done) <= {200, 400}
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    found = realm.member.window("newest", before=100, narrow=narrow)["messages"]
    assert [message["id"] for message in found] == sent
    for message in found:
        places = [version["topic"] for version in history(realm.member, message["id"])]
        assert places[-1] == message["subject"]
        told = [entry["prev_topic"] for entry in reversed(message.get("edit_history", []))]
        assert len(told) == min(len(places) - 1, MAX_SHOWN)
        assert [*told, message["subject"]] == places[-len(told) - 1 :]


# Deleting


def test_ones_own_message_can_be_deleted_for_ten_minutes(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "topic")
    age(realm.stage, 601, sent)
    assert "time limit" in check_error(realm.member.request("DELETE", f"messages/{sent}"))
    realm.administrator.delete(f"messages/{sent}")


def test_who_may_delete_is_decided_by_realm_and_channel(realm: Realm, channel: Channel) -> None:
    sent = [realm.member.send(channel.stream_id, "topic") for _ in range(4)]
    forbid(realm, "can_delete_own_message_group")
    check_error(realm.member.request("DELETE", f"messages/{sent[0]}"))
    set_holder(realm, channel, "can_delete_own_message_group", "role:everyone")
    realm.member.delete(f"messages/{sent[0]}")
    check_error(realm.guest.request("DELETE", f"messages/{sent[1]}"))
    set_holder(realm, channel, "can_delete_any_message_group", "role:everyone")
    realm.guest.delete(f"messages/{sent[1]}")
    forbid(realm, "can_delete_any_message_group")
    set_holder(realm, channel, "can_delete_any_message_group", "role:nobody")
    check_error(realm.owner.request("DELETE", f"messages/{sent[2]}"))


def test_the_owner_of_a_bot_deletes_what_it_said(realm: Realm, channel: Channel) -> None:
    bot = realm.bot(realm.member)
    sent = [bot.send([realm.member.id, realm.guest.id]) for _ in range(2)]
    check_error(realm.guest.request("DELETE", f"messages/{sent[0]}"))
    realm.member.delete(f"messages/{sent[0]}")
    bot.delete(f"messages/{sent[1]}")


def test_a_message_is_deleted_once(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "topic")
    works = [lambda: realm.member.request("DELETE", f"messages/{sent}").status_code for _ in range(6)]
    assert sorted(at_once(works)) == [200, 400, 400, 400, 400, 400]


def test_a_deleted_topic_takes_along_what_people_decided_about_it(realm: Realm, channel: Channel) -> None:
    for number in range(3):
        realm.owner.send(channel.stream_id, "topic", f"{number}")
    realm.member.post("user_topics", stream_id=channel.stream_id, topic="topic", visibility_policy=1)
    with listen(realm.member) as queue:
        realm.owner.post(f"streams/{channel.stream_id}/delete_topic", topic_name="topic")
        told = [(event["topic_name"], event["visibility_policy"]) for event in events(queue, "user_topic")]
    assert told == [("topic", 0)]


def test_an_older_topic_that_nobody_could_name_so_now_is_read_and_deleted(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic")
    name = "gone\u200bquiet"
    check_error(realm.owner.request("POST", "messages", type="stream", to=channel.stream_id, topic=name, content="a"))
    rename = "update topic set name = %s, name_key = %s where conversation_id = %s"
    realm.stage.sql(rename, name, name, channel.stream_id)
    realm.member.post("mark_topic_as_read", stream_id=channel.stream_id, topic_name=name)
    assert "read" in one(realm.member, sent)["flags"]
    realm.owner.post(f"streams/{channel.stream_id}/delete_topic", topic_name=name)
    check_error(realm.owner.request("GET", f"messages/{sent}"))


def test_a_large_topic_is_deleted_in_portions(realm: Realm, channel: Channel) -> None:
    realm.owner.send(channel.stream_id, "topic")
    realm.stage.sql(
        """
        with counted as (update conversation set last_seq = last_seq + 230 where id = %s returning last_seq - 230 as seq)
        insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
        select realm_id, conversation_id, counted.seq + number, topic_id, sender_id, client, content, rendered
        from message, counted, generate_series(1, 230) as number where conversation_id = %s
        """,
        channel.stream_id,
        channel.stream_id,
    )
    with listen(realm.member) as queue:
        answer = realm.owner.post(f"streams/{channel.stream_id}/delete_topic", topic_name="topic")
        told = [len(event["message_ids"]) for event in events(queue, "delete_message")]
    assert answer["complete"] is True
    assert told == [100, 100, 31]


def test_who_is_no_administrator_any_more_deletes_no_topic(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic", "stays")
    with realm.stage.session() as execute:
        execute("select from conversation where id = %s for no key update", channel.stream_id)
        path = f"streams/{channel.stream_id}/delete_topic"
        asked = later(realm.administrator.request, "POST", path, topic_name="topic")
        eventually(lambda: holds_up(execute))
        check_success(realm.owner.request("PATCH", f"users/{realm.administrator.id}", role=400))
    assert asked.result().status_code == 400
    assert one(realm.owner, sent)["content"] == "<p>stays</p>"


# Mentions


def test_a_group_is_mentioned_by_an_edit_if_the_sender_may(realm: Realm, channel: Channel) -> None:
    made = realm.owner.post("user_groups/create", name=unique("crew"), description="", members=[realm.moderator.id])
    [name] = [one["name"] for one in realm.owner.get("user_groups")["user_groups"] if one["id"] == made["group_id"]]
    sent = realm.member.send(channel.stream_id, "topic", "Hello")
    edit(realm.member, sent, content=f"Hello @*{name}*")
    assert one(realm.moderator, sent)["flags"] == ["mentioned", "group_mentioned"]
    assert one(realm.owner, sent)["flags"] == []
    edit(realm.member, sent, content="Hello")
    assert one(realm.moderator, sent)["flags"] == []
    nobody = {"new": group_id(realm, "role:nobody")}
    path = f"user_groups/{made['group_id']}"
    assert realm.owner.request("PATCH", path, can_mention_group=nobody).status_code == 200
    refused(realm.member, sent, content=f"Hello @*{name}*")


def test_many_are_mentioned_by_an_edit_only_if_the_sender_may(realm: Realm, channel: Channel) -> None:
    add_many = [realm.speaker() for _ in range(12)]
    for speaker in add_many:
        add(realm, channel, speaker)
    sent, own = realm.member.send(channel.stream_id, "topic", "a"), realm.owner.send(channel.stream_id, "topic", "a")
    refused(realm.member, sent, "STREAM_WILDCARD_MENTION_NOT_ALLOWED", content="@**all**")
    edit(realm.owner, own, content="@**all**")
    assert "stream_wildcard_mentioned" in one(realm.member, own)["flags"]


def test_alert_words_follow_the_text(realm: Realm, channel: Channel) -> None:
    realm.moderator.post("users/me/alert_words", alert_words=["tea"])
    sent = realm.member.send(channel.stream_id, "topic", "coffee")
    edit(realm.member, sent, content="tea, then")
    assert one(realm.moderator, sent)["flags"] == ["has_alert_word"]
    edit(realm.member, sent, content="coffee")
    assert one(realm.moderator, sent)["flags"] == []


def test_an_edit_tells_everybody_the_flags_that_a_fetch_shows(realm: Realm, channel: Channel) -> None:
    sent = realm.owner.send(channel.stream_id, "topic", f"Hello @**|{realm.moderator.id}**")
    realm.member.post("messages/flags", messages=[sent], op="add", flag="starred")
    assert realm.member.request("DELETE", "users/me/subscriptions", subscriptions=[channel.name]).status_code == 200
    options: Json = {"event_types": TYPES, "all_public_streams": True}
    with realm.member.register(**options) as outside, realm.moderator.register(**options) as inside:
        edit(realm.owner, sent, content=f"@**all** @**|{realm.member.id}** @**|{realm.moderator.id}**")
        told = {queue.speaker.id: events(queue)[0]["flags"] for queue in (outside, inside)}
    assert told == {speaker.id: one(speaker, sent)["flags"] for speaker in (realm.member, realm.moderator)}
    wildcard = ["stream_wildcard_mentioned", "wildcard_mentioned"]
    assert told[realm.member.id] == ["read", "starred", "mentioned", *wildcard]
    assert told[realm.moderator.id] == ["mentioned", *wildcard]


def test_whoever_starred_a_message_hears_that_it_is_gone_wherever_they_are(realm: Realm, channel: Channel) -> None:
    other = realm.stage.channel(realm.owner, realm_id=realm.id)
    sent = [realm.owner.send(other.stream_id, "topic") for _ in range(2)]
    realm.member.post("messages/flags", messages=sent, op="add", flag="starred")
    secret = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    with listen(realm.member) as queue:
        realm.owner.delete(f"messages/{sent[0]}")
        edit(realm.owner, sent[1], stream_id=secret.stream_id, **QUIET)
        told = [event["message_ids"] for event in events(queue, "delete_message")]
    assert told == [[sent[0]], [sent[1]]]
    state = realm.member.post("register", event_types=[], fetch_event_types=["starred_messages"])
    assert state["starred_messages"] == []
