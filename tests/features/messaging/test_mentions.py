"""Whom a message concerns: mentions of people, groups and everybody, alert words, muted senders; and what it contains."""

import time
from collections.abc import Iterable

import pytest

from tertulia.content.markup import alert_key
from tertulia.people.alert_words.queries import MOST_WORDS, words_within
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique

WILDCARD = {"stream_wildcard_mentioned", "wildcard_mentioned"}
TOPIC_WILDCARD = {"topic_wildcard_mentioned", "wildcard_mentioned"}


class Listening:
    """People who listen for messages."""

    def __init__(self, *people: Speaker) -> None:
        self.queues = {one.id: Queue(one, event_types=["message"], fetch_event_types=[]) for one in people}

    def flags(self, message_id: int) -> dict[int, set[str]]:
        """The flags of a message for each of them, which are the same in the event and when it is fetched."""
        found = {}
        for user_id, queue in self.queues.items():
            event = queue.message_event(message_id)
            assert set(queue.speaker.message(message_id)["flags"]) == set(event["flags"])
            found[user_id] = set(event["flags"])
        return found


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.owner, realm.member, realm.guest, realm_id=realm.id)


def name(realm: Realm, one: Speaker, full_name: str) -> None:
    check_success(realm.owner.request("PATCH", f"users/{one.id}", full_name=full_name))


def group_of(realm: Realm, *people: Speaker, **settings: object) -> str:
    made = unique("crew")
    realm.owner.post("user_groups/create", name=made, description="", members=[one.id for one in people], **settings)
    return made


def crowded(realm: Realm, stage: Stage, count: int, *people: Speaker) -> Channel:
    """A channel with so many subscribers."""
    others = [realm.as_user(stage.user(realm_id=realm.id)) for _ in range(count - len(people))]
    return stage.channel(*people, *others, realm_id=realm.id)


def marks(stage: Stage, message_id: int) -> list[tuple[int, int]]:
    rows = stage.sql("select user_id, flag from message_mark where message_id = %s order by 1, 2", message_id)
    return [(row[0], row[1]) for row in rows]


# People


@pytest.mark.parametrize("form", ["@**{name}**", "@**{name}|{id}**", "@**|{id}**", "Hi (@**{name}**)"])
def test_who_is_mentioned_is_told_and_nobody_else(realm: Realm, stage: Stage, channel: Channel, form: str) -> None:
    full_name = unique("Ada Byron")
    name(realm, realm.guest, full_name)
    listening = Listening(realm.owner, realm.member, realm.guest)
    sent = realm.member.send(channel.stream_id, "t", form.format(name=full_name, id=realm.guest.id))
    assert listening.flags(sent) == {realm.owner.id: set(), realm.member.id: set(), realm.guest.id: {"mentioned"}}
    assert marks(stage, sent) == [(realm.guest.id, 3)]
    assert f'data-user-id="{realm.guest.id}"' in realm.member.message(sent)["content"]


def test_a_mention_reaches_only_those_who_receive_the_message(realm: Realm, stage: Stage, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "t", f"@**|{realm.moderator.id}** @**|{realm.owner.id}**")
    assert marks(stage, sent) == [(realm.owner.id, 3)]
    assert "mentioned" not in realm.moderator.get(f"messages/{sent}")["message"]["flags"]
    direct = realm.member.send([realm.guest.id], content=f"@**|{realm.guest.id}** @**|{realm.owner.id}**")
    assert marks(stage, direct) == [(realm.guest.id, 3)]


@pytest.mark.parametrize("text", ["@_**|{id}**", "> @**|{id}**", "`@**|{id}**`", "@**Nobody Of That Name**", "@{id}"])
def test_some_mentions_tell_nobody(realm: Realm, stage: Stage, channel: Channel, text: str) -> None:
    assert marks(stage, realm.member.send(channel.stream_id, "t", text.format(id=realm.owner.id))) == []


def test_a_deactivated_person_is_mentioned_in_silence(realm: Realm, stage: Stage, channel: Channel) -> None:
    realm.owner.delete(f"users/{realm.guest.id}")
    assert marks(stage, realm.member.send(channel.stream_id, "t", f"@**|{realm.guest.id}**")) == []


def test_a_limited_guest_mentions_nobody_out_of_sight(realm: Realm, stage: Stage) -> None:
    [(members,)] = stage.sql("select id from user_group where realm_id = %s and name = 'role:members'", realm.id)
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group={"new": members}))
    channel = stage.channel(realm.guest, realm.member, realm_id=realm.id)
    sent = realm.guest.send(channel.stream_id, "t", f"@**|{realm.member.id}** @**|{realm.owner.id}**")
    content = realm.guest.message(sent)["content"]
    assert f'data-user-id="{realm.member.id}"' in content
    assert f'data-user-id="{realm.owner.id}"' not in content


# Groups


def test_a_group_is_mentioned_by_one_row_and_its_members_are_told(realm: Realm, stage: Stage, channel: Channel) -> None:
    crew = group_of(realm, realm.guest, realm.moderator)
    listening = Listening(realm.owner, realm.member, realm.guest)
    sent = realm.member.send(channel.stream_id, "t", f"@*{crew}* look")
    both = {"mentioned", "group_mentioned"}
    assert listening.flags(sent) == {realm.owner.id: set(), realm.member.id: set(), realm.guest.id: both}
    assert stage.sql("select count(*) from message_group_mention where message_id = %s", sent) == [(1,)]
    assert marks(stage, sent) == []


def test_a_group_of_groups_and_roles_is_mentioned_as_a_whole(realm: Realm, stage: Stage, channel: Channel) -> None:
    [(members,)] = stage.sql("select id from user_group where realm_id = %s and name = 'role:members'", realm.id)
    outer = group_of(realm, subgroups=[members])
    listening = Listening(realm.owner, realm.member, realm.guest)
    flags = listening.flags(realm.owner.send(channel.stream_id, "t", f"@*{outer}*"))
    assert [bool(flags[one.id]) for one in (realm.owner, realm.member, realm.guest)] == [True, True, False]


def test_who_may_not_mention_a_group_sends_nothing(realm: Realm, stage: Stage, channel: Channel) -> None:
    [(administrators,)] = stage.sql(
        "select id from user_group where realm_id = %s and name = 'role:administrators'", realm.id
    )
    crew = group_of(realm, realm.guest, can_mention_group=administrators)
    fields = {"type": "channel", "to": channel.stream_id, "topic": "t"}
    check_error(realm.member.request("POST", "messages", content=f"@*{crew}*", **fields))
    check_error(realm.member.request("POST", "messages", content="@*role:members*", **fields))
    assert realm.member.send(channel.stream_id, "t", f"@_*{crew}*")
    assert realm.owner.send(channel.stream_id, "t", f"@*{crew}*")


def test_who_may_mention_a_group_by_roles_and_names_is_judged_by_their_own_role(
    realm: Realm, stage: Stage, channel: Channel
) -> None:
    [(administrators,)] = stage.sql(
        "select id from user_group where realm_id = %s and name = 'role:administrators'", realm.id
    )
    few = {"direct_members": [realm.moderator.id], "direct_subgroups": [administrators]}
    crew = group_of(realm, realm.guest, can_mention_group=few)
    fields = {"type": "channel", "to": channel.stream_id, "topic": "t"}
    check_error(realm.member.request("POST", "messages", content=f"@*{crew}*", **fields))
    for one in (realm.owner, realm.moderator):
        assert one.send(channel.stream_id, "t", f"@*{crew}*")


# Everybody


@pytest.mark.parametrize("word", ["all", "everyone", "channel", "stream"])
def test_a_channel_wildcard_tells_every_subscriber_without_a_row(
    realm: Realm, stage: Stage, channel: Channel, word: str
) -> None:
    listening = Listening(realm.owner, realm.member, realm.guest)
    sent = realm.guest.send(channel.stream_id, "t", f"@**{word}**")
    assert set(map(frozenset, listening.flags(sent).values())) == {frozenset(WILDCARD)}
    assert marks(stage, sent) == []
    assert realm.moderator.get(f"messages/{sent}")["message"]["flags"] == ["read", "historical"]


def test_a_topic_wildcard_tells_those_who_take_part(realm: Realm, stage: Stage, channel: Channel) -> None:
    realm.guest.send(channel.stream_id, "t")
    realm.owner.send(channel.stream_id, "another")
    listening = Listening(realm.owner, realm.member, realm.guest)
    sent = realm.member.send(channel.stream_id, "t", "@**topic**")
    expected = {realm.owner.id: set(), realm.member.id: TOPIC_WILDCARD, realm.guest.id: TOPIC_WILDCARD}
    assert listening.flags(sent) == expected
    assert marks(stage, sent) == []


def test_more_than_15_subscribers_are_mentioned_only_by_those_who_may(realm: Realm, stage: Stage) -> None:
    few = crowded(realm, stage, 15, realm.member, realm.owner)
    many = crowded(realm, stage, 16, realm.member, realm.owner)
    assert realm.member.send(few.stream_id, "t", "@**all**")
    fields = {"type": "channel", "to": many.stream_id, "topic": "t"}
    for word in ("all", "everyone", "channel", "stream"):
        reply = realm.member.request("POST", "messages", content=f"@**{word}**", **fields)
        check_error(reply, "STREAM_WILDCARD_MENTION_NOT_ALLOWED")
    assert realm.member.send(many.stream_id, "t", "@_**all**")
    assert realm.owner.send(many.stream_id, "t", "@**all**")
    everyone = {"direct_members": [realm.member.id], "direct_subgroups": []}
    check_success(realm.owner.request("PATCH", "realm", can_mention_many_users_group={"new": everyone}))
    assert realm.member.send(many.stream_id, "t", "@**all**")


def test_more_than_15_participants_are_mentioned_only_by_those_who_may(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm.owner, realm_id=realm.id)
    realm.member.send(channel.stream_id, "t")
    [(topic,)] = stage.sql("select id from topic where conversation_id = %s", channel.stream_id)
    people = [stage.user(realm_id=realm.id).user_id for _ in range(15)]
    for user_id in people[:14]:
        stage.sql("insert into topic_participant values (%s, %s)", topic, user_id)
    assert realm.member.send(channel.stream_id, "t", "@**topic**")
    stage.sql("insert into topic_participant values (%s, %s)", topic, people[14])
    fields = {"type": "channel", "to": channel.stream_id, "topic": "T", "content": "@**topic**"}
    check_error(realm.member.request("POST", "messages", **fields), "TOPIC_WILDCARD_MENTION_NOT_ALLOWED")
    assert realm.member.send(channel.stream_id, "another", "@**topic**")
    assert realm.owner.send(channel.stream_id, "t", "@**topic**")


def test_in_direct_messages_wildcards_tell_all(realm: Realm) -> None:
    listening = Listening(realm.member, realm.guest)
    flags = listening.flags(realm.member.send([realm.guest.id], content="@**all** and @**topic**"))
    assert flags == dict.fromkeys((realm.member.id, realm.guest.id), WILDCARD | TOPIC_WILDCARD)


# Alert words and mutes


def test_alert_words_are_marked_for_their_owners_who_receive_the_message(
    realm: Realm, stage: Stage, channel: Channel
) -> None:
    word, phrase = unique("lantern").replace(" ", ""), unique("Old Mill").lower()
    for one in (realm.owner, realm.moderator):
        one.post("users/me/alert_words", alert_words=[word.upper(), "never said"])
    realm.guest.post("users/me/alert_words", alert_words=[phrase])
    listening = Listening(realm.owner, realm.member, realm.guest)
    sent = realm.member.send(channel.stream_id, "t", f"The {word}, by the {phrase}!")
    has_word = {"has_alert_word"}
    assert listening.flags(sent) == {realm.owner.id: has_word, realm.member.id: set(), realm.guest.id: has_word}
    assert marks(stage, sent) == sorted([(realm.owner.id, 4), (realm.guest.id, 4)])
    assert marks(stage, realm.member.send(channel.stream_id, "t", f"{word}s and un{word}")) == []


def test_messages_of_somebody_muted_are_born_read(realm: Realm, channel: Channel) -> None:
    realm.owner.post(f"users/me/muted_users/{realm.member.id}")
    listening = Listening(realm.owner, realm.guest)
    flags = listening.flags(realm.member.send(channel.stream_id, "t"))
    assert flags == {realm.owner.id: {"read"}, realm.guest.id: set()}


# What it contains


def test_a_message_is_rendered(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "t", "**Hello** `x`")
    assert realm.member.message(sent)["content"] == "<p><strong>Hello</strong> <code>x</code></p>"
    assert realm.member.message(sent, apply_markdown=False)["content"] == "**Hello** `x`"
    assert realm.member.post("messages/render", content="**Hello** `x`")["rendered"] == (
        "<p><strong>Hello</strong> <code>x</code></p>"
    )


def test_links_to_channels_and_topics_are_made_where_the_sender_reads(
    realm: Realm, stage: Stage, channel: Channel
) -> None:
    secret = stage.channel(realm.owner, invite_only=True, realm_id=realm.id)
    newest = realm.owner.send(channel.stream_id, "Old Bugs")
    text = f"#**{channel.name}** #**{channel.name}>old bugs** #**{secret.name}**"
    content = realm.member.post("messages/render", content=text)["rendered"]
    assert content.count(f'data-stream-id="{channel.stream_id}"') == 2
    assert f"/with/{newest}" in content
    assert f'data-stream-id="{secret.stream_id}"' not in content


def test_linkifiers_of_the_realm_work_at_once_also_in_topics(realm: Realm, stage: Stage, channel: Channel) -> None:
    def links(topic: str) -> object:
        with Queue(realm.member, event_types=["message"], fetch_event_types=[]) as queue:
            sent = realm.member.send(channel.stream_id, topic, topic)
            message = queue.message_event(sent)["message"]
            fetched = realm.member.message(sent)
            assert fetched["topic_links"] == message["topic_links"]
            assert ("https://bugs.example/" in fetched["content"]) == bool(message["topic_links"])
            return message["topic_links"]

    assert links("see B17") == []
    sql = "insert into linkifier (realm_id, pattern, url_template, position) values (%s, %s, %s, 1)"
    stage.sql(sql, realm.id, "B(?P<number>[0-9]+)", "https://bugs.example/{number}")
    assert links("see B18") == [{"text": "B18", "url": "https://bugs.example/18"}]
    stage.sql("delete from linkifier where realm_id = %s", realm.id)
    assert links("see B19") == []


def test_a_poll_comes_with_its_first_submessage(realm: Realm, channel: Channel) -> None:
    with Queue(realm.guest, event_types=["message"], fetch_event_types=[]) as queue:
        sent = realm.member.send(channel.stream_id, "t", "/poll Lunch?\nSoup\nBread")
        [first] = queue.message_event(sent)["message"]["submessages"]
    assert (first["message_id"], first["sender_id"], first["msg_type"]) == (sent, realm.member.id, "widget")
    assert realm.guest.message(sent)["submessages"] == [first]
    assert realm.guest.message(realm.member.send(channel.stream_id, "t", "/pol"))["submessages"] == []


def test_what_a_message_has_is_noted(realm: Realm, stage: Stage, channel: Channel) -> None:
    def facts(content: str) -> tuple[object, ...]:
        sent = realm.member.send(channel.stream_id, "t", content)
        [row] = stage.sql("select has_link, has_image, has_attachment, wildcard from message where id = %s", sent)
        return row

    assert facts("nothing") == (False, False, False, 0)
    assert facts("https://a.example/x") == (True, False, False, 0)
    assert facts("https://a.example/x.png") == (True, True, False, 0)
    assert facts("@**all** @**topic**") == (False, False, False, 3)


def test_emoticons_are_translated_for_those_who_want_it(realm: Realm) -> None:
    def rendered() -> bool:
        return "emoji" in str(realm.member.post("messages/render", content="Well :)")["rendered"])

    assert not rendered()
    check_success(realm.member.request("PATCH", "settings", translate_emoticons=True))
    assert rendered()


# Policies


def policies(events: Iterable[Json]) -> list[tuple[str, int]]:
    return [(event["topic_name"], event["visibility_policy"]) for event in events if event["type"] == "user_topic"]


def say(speaker: Speaker, channel: Channel, topic: str, content: str = "Hello") -> object:
    fields = {"type": "channel", "to": channel.stream_id, "topic": topic, "content": content}
    return speaker.post("messages", **fields).get("automatic_new_visibility_policy")


def decided(speaker: Speaker, channel: Channel) -> dict[str, int]:
    state = speaker.post("register", event_types=[], fetch_event_types=["user_topic"])
    found = [topic for topic in state["user_topics"] if topic["stream_id"] == channel.stream_id]
    return {topic["topic_name"]: topic["visibility_policy"] for topic in found}


def test_who_starts_a_topic_follows_it(realm: Realm, channel: Channel) -> None:
    with Queue(realm.member, event_types=["message", "user_topic"], fetch_event_types=[]) as queue:
        assert say(realm.member, channel, "Mine") == 3
        assert say(realm.member, channel, "mine") is None
        assert policies(queue.so_far()) == [("Mine", 3)]
    assert say(realm.guest, channel, "Mine") is None
    assert decided(realm.member, channel) == {"Mine": 3}
    assert decided(realm.guest, channel) == {}


@pytest.mark.parametrize(("hidden", "policy"), [(5, None), (25, 3)])
def test_of_a_protected_topic_only_the_newest_messages_are_looked_at(
    realm: Realm, hidden: int, policy: int | None
) -> None:
    """All of a long one would be read while everybody who sends waits: it looks new where the newest are hidden."""
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id, invite_only=True)
    realm.stage.sql("update channel set history_public_to_subscribers = false where id = %s", channel.stream_id)
    subscriptions = {"subscriptions": [channel.name], "principals": [realm.member.id]}
    say(realm.owner, channel, "Theirs")
    check_success(realm.owner.request("DELETE", "users/me/subscriptions", **subscriptions))
    for _ in range(hidden):
        say(realm.owner, channel, "Theirs")
    added = {"subscriptions": [{"name": channel.name}], "principals": [realm.member.id]}
    realm.owner.post("users/me/subscriptions", **added)
    assert say(realm.member, channel, "Theirs") == policy
    assert say(realm.member, channel, "Theirs") is None


@pytest.mark.parametrize(("follow", "starts", "answers"), [(1, 3, 3), (2, 3, 3), (3, 3, None), (4, None, None)])
def test_the_setting_decides_when_a_topic_is_followed(
    realm: Realm, channel: Channel, follow: int, starts: int | None, answers: int | None
) -> None:
    check_success(realm.member.request("PATCH", "settings", automatically_follow_topics_policy=follow))
    say(realm.owner, channel, "Theirs")
    assert say(realm.member, channel, "Own") == starts
    assert say(realm.member, channel, "Theirs") == answers
    assert say(realm.member, channel, "Theirs") is None


def test_in_a_muted_channel_a_topic_is_unmuted_by_sending(realm: Realm, channel: Channel) -> None:
    say(realm.owner, channel, "Theirs")
    data = [{"stream_id": channel.stream_id, "property": "is_muted", "value": True}]
    realm.member.post("users/me/subscriptions/properties", subscription_data=data)
    assert say(realm.member, channel, "Own") == 3
    assert say(realm.member, channel, "Theirs") == 2
    assert say(realm.member, channel, "Theirs") is None
    assert decided(realm.member, channel) == {"Own": 3, "Theirs": 2}


def test_a_muted_topic_is_followed_by_whoever_follows_by_sending(realm: Realm, channel: Channel) -> None:
    check_success(realm.member.request("PATCH", "settings", automatically_follow_topics_policy=2))
    say(realm.owner, channel, "Theirs")
    fields = {"stream_id": channel.stream_id, "topic": "Theirs"}
    realm.member.post("user_topics", visibility_policy=1, **fields)
    types = ["message", "muted_topics"]
    with Queue(realm.member, event_types=types, fetch_event_types=[]) as queue:
        assert say(realm.member, channel, "Theirs") == 3
        assert [event["muted_topics"] for event in queue.so_far() if event["type"] == "muted_topics"] == [[]]


def test_who_is_mentioned_follows_unless_they_muted_the_topic_or_do_not_want_to(realm: Realm, channel: Channel) -> None:
    say(realm.member, channel, "News")
    realm.guest.post("user_topics", stream_id=channel.stream_id, topic="News", visibility_policy=1)
    with Queue(realm.owner, event_types=["message", "user_topic"], fetch_event_types=[]) as queue:
        say(realm.member, channel, "News", f"@**|{realm.owner.id}** @**|{realm.guest.id}** @**|{realm.moderator.id}**")
        assert policies(queue.so_far()) == [("News", 3)]
    assert decided(realm.guest, channel) == {"News": 1}
    assert decided(realm.moderator, channel) == {}
    check_success(realm.owner.request("PATCH", "settings", automatically_follow_topics_where_mentioned=False))
    say(realm.member, channel, "More", f"@**|{realm.owner.id}**")
    assert decided(realm.owner, channel) == {"News": 3}


def test_bots_follow_nothing_and_direct_messages_have_no_policy(realm: Realm, stage: Stage) -> None:
    bot = realm.bot(realm.member)
    channel = stage.channel(bot, realm.member, realm_id=realm.id)
    assert say(bot, channel, "News", f"@**|{bot.id}**") is None
    assert "automatic_new_visibility_policy" not in realm.member.post(
        "messages", type="direct", to=[realm.member.id], content="x"
    )


def test_starting_is_judged_by_what_the_sender_can_see(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.owner, invite_only=True, realm_id=realm.id)
    stage.sql("update channel set history_public_to_subscribers = false where id = %s", channel.stream_id)
    say(realm.owner, channel, "Old")
    stage.write(lambda tx: _subscribe(tx, realm, channel))
    assert say(realm.member, channel, "Old") == 3
    assert say(realm.member, channel, "Old") is None


async def _subscribe(tx: object, realm: Realm, channel: Channel) -> None:
    from tertulia.conversations.channels.actions import subscribe

    await subscribe(tx, realm.id, [channel.stream_id], [realm.member.id])  # type: ignore[arg-type]


def test_a_repeat_is_answered_as_the_first_request_was(realm: Realm, channel: Channel) -> None:
    fields = {"type": "channel", "to": str(channel.stream_id), "topic": "Mine", "content": "Hello"}
    key = {"Idempotency-Key": unique("key")}
    first = realm.member.http.post("messages", data=fields, headers=key).json()
    assert first["automatic_new_visibility_policy"] == 3
    assert realm.member.http.post("messages", data=fields, headers=key).json() == first


def test_of_many_alert_words_that_begin_alike_those_in_the_text_are_tried_and_no_others(realm: Realm) -> None:
    first = unique("tea")
    words = [f"{first} {number}x" for number in range(200)]
    realm.member.post("users/me/alert_words", alert_words=[first, *words, unique("elsewhere")])
    texts = [f"a {first} 7x, and {first} 19", f"some {first[:3]} for all", "nothing"]
    tried = realm.stage.write(lambda tx: words_within(tx, [(realm.id, text) for text in texts]))
    assert [sorted(found) for found in tried] == [sorted([first, f"{first} 7x"]), [], []]


def test_of_very_many_alert_words_that_begin_alike_so_many_are_looked_at(realm: Realm) -> None:
    """An organization with a thousand people may have a million, and whoever sends waits for what is read of them."""
    first = unique("tea")
    realm.stage.sql(
        """insert into alert_word (user_id, realm_id, word, word_key, first_word)
        select %s, %s, word, word, %s from (select %s || ' ' || n as word from generate_series(1, %s) as n) as alike""",
        *(realm.member.id, realm.id, alert_key(first), first, MOST_WORDS + 500),
    )
    texts = [f"{first} {'x' * 300}", f"{first} 7", "nothing"]
    tried = realm.stage.write(lambda tx: words_within(tx, [(realm.id, text) for text in texts]))
    assert [len(found) for found in tried] == [MOST_WORDS, 1, 0]


def test_alert_words_that_are_long_like_a_text_to_their_beginning_keep_nobody_waiting(realm: Realm) -> None:
    first, others = unique("tea"), "\N{GRINNING FACE}" * 80
    realm.member.post("users/me/alert_words", alert_words=[f"{first} {number} {others}" for number in range(1000)])
    channel = realm.stage.channel(realm.member, realm.owner, realm_id=realm.id)
    began = time.monotonic()
    sent = realm.owner.send(channel.stream_id, "tea", f"{first} 7 {others} {others * 115} {first}")
    assert time.monotonic() - began < 0.8
    assert "has_alert_word" in realm.member.get(f"messages/{sent}")["message"]["flags"]
