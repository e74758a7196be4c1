"""A small organization with everything a narrow can ask about, and the plain-Python answer to each narrow.

The world is made at random and written into the database; the same facts are kept here. `World.matches` says the rules of
narrows a second time and shares no code with the server.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.harness.realm import Realm
from tests.harness.server import GUEST
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, unique

PAST_THE_END = 10_000_000_000_000_000
WORDS = ("apple", "bridge", "cloud", "dragon", "engine")
TOPICS = ("Lunch", "dinner", "", "✔ done", "Bridge works")
START = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass
class Place:
    """A conversation."""

    id: int
    kind: str
    """`public`, `web`, `shared`, `protected` or `dm`."""
    name: str = ""
    participants: frozenset[int] = frozenset()
    is_archived: bool = False
    opened_to: set[int] = field(default_factory=set)
    """Whom a group of a private channel lets in."""
    size: int = 0


@dataclass
class Message:
    id: int
    place: Place
    seq: int
    topic: str | None
    topic_id: int | None
    sender: int
    sent_at: datetime
    content: str
    wildcard: int
    has: set[str]
    marks: set[tuple[int, int]]
    groups: set[int]


@dataclass
class Reader:
    """Somebody who asks."""

    speaker: Speaker
    is_guest: bool
    subscribed: set[int] = field(default_factory=set)
    mutes: set[int] = field(default_factory=set)
    """Channels, also those they left."""
    history: dict[int, set[int]] = field(default_factory=dict)
    read: dict[int, set[int]] = field(default_factory=dict)
    policies: dict[int, int] = field(default_factory=dict)
    muted: set[int] = field(default_factory=set)
    groups: set[int] = field(default_factory=set)
    talks: set[int] = field(default_factory=set)
    """Topics they take part in."""

    @property
    def id(self) -> int:
        return self.speaker.id


class World:
    """The organization."""

    def __init__(self, stage: Stage, seed: int = 11) -> None:
        self.random = random.Random(seed)
        self.realm = Realm(stage)
        self.stage = stage
        self.others = [self.realm.speaker() for _ in range(2)]
        people = [self.realm.speaker(), self.realm.speaker(), self.realm.speaker(GUEST)]
        self.readers = [Reader(speaker, is_guest=speaker.user.role == GUEST) for speaker in people]
        self.people = [*(speaker.id for speaker in people), *(speaker.id for speaker in self.others)]
        self.messages: list[Message] = []
        with stage.session() as self.sql:
            self._make_groups()
            self._make_places()
            self._make_messages(160)
            self._make_states()

    # Making it

    def _make_groups(self) -> None:
        nobody, everyone = (self._system(name) for name in ("role:nobody", "role:everyone"))
        self.system = {"nobody": nobody, "everyone": everyone}
        columns = "realm_id, name, can_add_members_group, can_join_group, can_leave_group, can_manage_group, "
        columns += "can_mention_group, can_remove_members_group"
        self.groups = []
        for reader in self.readers[:2]:
            sql = f"insert into user_group ({columns}) values (%s, %s, %s, %s, %s, %s, %s, %s) returning id"
            [(group,)] = self.sql(sql, self.realm.id, unique("group"), *[nobody] * 6)
            self.sql("insert into group_member (realm_id, group_id, user_id) values (%s, %s, %s)",
                     self.realm.id, group, reader.id)  # fmt: skip
            reader.groups.add(group)
            self.groups.append(group)

    def _system(self, name: str) -> int:
        [(found,)] = self.sql("select id from user_group where realm_id = %s and name = %s", self.realm.id, name)
        return int(found)

    def _make_places(self) -> None:
        first, second, guest = self.readers
        kinds = ["public", "public", "public", "web", "shared", "shared", "shared", "protected", "protected", "public"]
        self.channels = [self._channel(kind, number) for number, kind in enumerate(kinds)]
        self.channels[6].opened_to = {first.id}  # by its group, without being subscribed
        self.sql("update channel set can_subscribe_group = %s where id = %s", self.groups[0], self.channels[6].id)
        self.channels[8].opened_to = {first.id}  # who was subscribed and left: what they received is not theirs now
        self.sql("update channel set can_subscribe_group = %s where id = %s", self.groups[0], self.channels[8].id)
        self.channels[9].is_archived = True
        self.sql("update channel set is_archived = true where id = %s", self.channels[9].id)
        groups = [{first.id}, {first.id, second.id}, {first.id, guest.id}, {first.id, second.id, self.others[0].id}]
        groups.append({second.id, self.others[0].id})
        self.directs = [self._direct(people) for people in groups]
        self.places = [*self.channels, *self.directs]

    def _channel(self, kind: str, number: int) -> Place:
        name = f"{kind} {number}"
        [(id,)] = self.sql("insert into conversation (realm_id) values (%s) returning id", self.realm.id)
        settings = [
            "can_add_subscribers_group", "can_administer_channel_group", "can_create_topic_group",
            "can_delete_any_message_group", "can_delete_own_message_group", "can_move_messages_out_of_channel_group",
            "can_move_messages_within_channel_group", "can_remove_subscribers_group", "can_resolve_topics_group",
            "can_send_message_group", "can_subscribe_group",
        ]  # fmt: skip
        columns = "id, realm_id, name, name_key, invite_only, is_web_public, history_public_to_subscribers, "
        values = [id, self.realm.id, name, name, kind in ("shared", "protected"), kind == "web", kind != "protected"]
        places = ", ".join(["%s"] * (len(values) + len(settings)))
        self.sql(f"insert into channel ({columns}{', '.join(settings)}) values ({places})",
                 *values, *[self.system["nobody"]] * len(settings))  # fmt: skip
        return Place(id, kind, name)

    def _direct(self, people: set[int]) -> Place:
        sql = "insert into conversation (realm_id, participants) values (%s, %s) returning id"
        [(id,)] = self.sql(sql, self.realm.id, sorted(people))
        for person in people:
            self.sql("insert into read_state (conversation_id, user_id, history) values (%s, %s, '{[1,)}')", id, person)
        return Place(id, "dm", participants=frozenset(people))

    def _make_messages(self, count: int) -> None:
        topics: dict[tuple[int, str], int] = {}
        for number in range(count):
            place = self.random.choice(self.places)
            place.size += 1
            sender = self.random.choice(sorted(place.participants) if place.participants else self.people)
            topic = topic_id = None
            if place.kind != "dm":
                topic = self.random.choice(TOPICS)
                if (place.id, topic) not in topics:
                    sql = "insert into topic (conversation_id, name, name_key) values (%s, %s, %s) returning id"
                    [(topics[place.id, topic],)] = self.sql(sql, place.id, topic, topic.lower())
                topic_id = topics[place.id, topic]
            content = " ".join(self.random.choices(WORDS, k=self.random.randint(1, 3)))
            has = {what for what in ("link", "image", "attachment") if self.random.random() < 0.2}
            wildcard = self.random.choice([0] * 6 + [1, 2])
            sent_at = START + timedelta(minutes=number)
            values = [self.realm.id, place.id, place.size, topic_id, sender, sent_at, content, f"<p>{content}</p>"]
            flags = [wildcard, "link" in has, "image" in has, "attachment" in has]
            [(id,)] = self.sql(_INSERT, *values, *flags)
            message = Message(
                id, place, place.size, topic, topic_id, sender, sent_at, content, wildcard, has, set(), set()
            )
            self._decorate(message)
            self.messages.append(message)
        for place in self.places:
            self.sql("update conversation set last_seq = %s where id = %s", place.size, place.id)
        self.topics = {id: name for (_, name), id in topics.items()}
        self.topic_place = {id: place for (place, _), id in topics.items()}

    def _decorate(self, message: Message) -> None:
        for reader in self.readers:
            for flag in (1, 3, 4):
                if self.random.random() < 0.12:
                    message.marks.add((reader.id, flag))
                    sql = "insert into message_mark (user_id, flag, message_id) values (%s, %s, %s)"
                    self.sql(sql, reader.id, flag, message.id)
        if self.random.random() < 0.15:
            group = self.random.choice(self.groups)
            message.groups.add(group)
            self.sql("insert into message_group_mention (message_id, group_id) values (%s, %s)", message.id, group)
        if self.random.random() < 0.2:
            message.has.add("reaction")
            sql = "insert into reaction (message_id, user_id, emoji_name, emoji_code, reaction_type) values "
            self.sql(sql + "(%s, %s, 'tada', '1f389', 'unicode_emoji')", message.id, self.people[0])

    def _make_states(self) -> None:
        for reader in self.readers:
            for place in self.places:
                if place.kind == "dm":
                    if reader.id in place.participants:
                        reader.history[place.id] = set(range(1, place.size + 1))
                        self._set_read(reader, place)
                    continue
                chance = 0.35 if reader.is_guest else 0.7
                if place is self.channels[8] and reader.id in place.opened_to:
                    self._join(reader, place, left=True)
                elif self.random.random() <= chance and not place.opened_to:
                    self._join(reader, place)
            for topic_id in self.topics:
                if self.random.random() < 0.3:
                    reader.policies[topic_id] = self.random.choice([1, 2, 3])
                    sql = "insert into topic_policy (user_id, topic_id, policy) values (%s, %s, %s)"
                    self.sql(sql, reader.id, topic_id, reader.policies[topic_id])
                if self.random.random() < 0.4:
                    reader.talks.add(topic_id)
                    self.sql("insert into topic_participant (topic_id, user_id) values (%s, %s)", topic_id, reader.id)
        muted = self.others[1].id
        self.readers[0].muted.add(muted)
        self.sql("insert into muted_user (user_id, muted_id) values (%s, %s)", self.readers[0].id, muted)

    def _join(self, reader: Reader, place: Place, *, left: bool = False) -> None:
        start = 1 if left else self.random.randint(1, place.size + 1)
        is_active = not left and self.random.random() < 0.75
        end = None if is_active else self.random.randint(start, place.size + 1)
        reader.history[place.id] = set(range(start, place.size + 1 if end is None else end))
        is_muted = self.random.random() < 0.3
        if is_muted:
            reader.mutes.add(place.id)
        if is_active:
            reader.subscribed.add(place.id)
        sql = "insert into subscription (user_id, channel_id, is_active, color, is_muted) values (%s, %s, %s, '#aabbcc', %s)"
        self.sql(sql, reader.id, place.id, is_active, is_muted)
        self.sql("insert into read_state (conversation_id, user_id, history) values (%s, %s, %s::int8multirange)",
                 place.id, reader.id, f"{{[{start},{'' if end is None else end})}}")  # fmt: skip
        self._set_read(reader, place)

    def _set_read(self, reader: Reader, place: Place) -> None:
        read = {seq for seq in range(1, place.size + 1) if self.random.random() < 0.5}
        reader.read[place.id] = read
        ranges = "{" + ",".join(f"[{seq},{seq + 1})" for seq in sorted(read)) + "}"
        sql = "update read_state set read = %s::int8multirange where user_id = %s and conversation_id = %s"
        self.sql(sql, ranges, reader.id, place.id)

    # What is true

    def may_read(self, reader: Reader, place: Place) -> bool:
        if place.kind == "dm":
            return reader.id in place.participants
        is_inside = place.id in reader.subscribed
        is_open = place.kind == "public" or reader.id in place.opened_to
        return is_inside or place.kind == "web" or (is_open and not reader.is_guest)

    def is_received(self, reader: Reader, message: Message) -> bool:
        place = message.place
        keeps = place.kind != "protected" or place.id in reader.subscribed
        return message.seq in reader.history.get(place.id, ()) and self.may_read(reader, place) and keeps

    def is_reached(self, reader: Reader, message: Message) -> bool:
        is_shared = message.place.kind != "protected"
        return self.may_read(reader, message.place) and (is_shared or self.is_received(reader, message))

    def in_scope(self, reader: Reader, terms: list[Json], message: Message) -> bool:
        named = [term for term in terms if not term.get("negated")]
        personal = [term for term in terms if term["operator"] == "is" and term["operand"] != "resolved"]
        if any(term in named and term["operand"] == "starred" for term in personal):
            return self.is_reached(reader, message)
        if personal:
            return self.is_received(reader, message)
        if any(term["operator"] == "channel" for term in named):
            return self.is_reached(reader, message)
        kinds = {term["operand"] for term in named if term["operator"] == "channels"}
        if kinds and "archived" not in kinds and not reader.is_guest:
            return message.place.kind == "web" or (message.place.kind == "public" and "web-public" not in kinds)
        return self.is_received(reader, message)

    def is_hidden(self, reader: Reader, message: Message, *, in_channel: bool = False) -> bool:
        if message.topic_id is None:
            return False
        policy = reader.policies.get(message.topic_id, 0)
        is_muted = message.place.id in reader.mutes and not in_channel
        return policy == 1 or (is_muted and policy == 0)

    def is_unread(self, reader: Reader, message: Message) -> bool:
        is_read = message.seq in reader.read.get(message.place.id, ()) or message.sender in reader.muted
        belongs = message.place.kind == "dm" or message.place.id in reader.subscribed
        return belongs and self.is_received(reader, message) and not is_read

    def is_mentioned(self, reader: Reader, message: Message) -> bool:
        by_topic = bool(message.wildcard & 2) and (message.topic_id is None or message.topic_id in reader.talks)
        return (
            (reader.id, 3) in message.marks
            or bool(message.wildcard & 1)
            or by_topic
            or bool(message.groups & reader.groups)
        )

    def holds(self, reader: Reader, term: Json, message: Message) -> bool:
        operator, operand, place = term["operator"], term["operand"], message.place
        simple: dict[str, Any] = {
            "channel": lambda: operand in (place.id, place.name) and place.kind != "dm",
            "channels": lambda: {
                "public": place.kind in ("public", "web"),
                "web-public": place.kind == "web",
                "archived": place.is_archived,
            }[operand],
            "topic": lambda: message.topic is not None and message.topic.lower() == operand.lower(),
            "sender": lambda: message.sender == operand,
            "dm": lambda: place.participants == {*operand, reader.id},
            "dm-including": lambda: {operand, reader.id} <= place.participants,
            "mentions": lambda: (operand, 3) in message.marks,
            "has": lambda: operand in message.has,
            "id": lambda: message.id == operand,
            "in": lambda: operand == "all" or not self.is_hidden(reader, message),
            "search": lambda: all(
                word in f"{message.topic or ''} {message.content}".lower().split() for word in operand.split()
            ),
            "is": lambda: self._is(reader, operand, message),
        }
        held = bool(simple[operator]())
        is_fixed = operator == "search" or (operator, operand) == ("in", "all")
        return held if is_fixed or not term.get("negated") else not held

    def _is(self, reader: Reader, operand: str, message: Message) -> bool:
        policy = reader.policies.get(message.topic_id or 0, 0)
        return {
            "dm": message.place.kind == "dm",
            "starred": (reader.id, 1) in message.marks,
            "alerted": (reader.id, 4) in message.marks,
            "unread": self.is_unread(reader, message),
            "mentioned": self.is_mentioned(reader, message),
            "resolved": (message.topic or "").startswith("✔ "),
            "followed": policy == 3,
            "muted": self.is_hidden(reader, message),
        }[operand]

    def matching(self, reader: Reader, terms: list[Json]) -> list[Message]:
        """The messages of a narrow, by id."""
        return [
            message
            for message in self.messages
            if self.in_scope(reader, terms, message) and all(self.holds(reader, term, message) for term in terms)
        ]

    def is_mixed(self, terms: list[Json]) -> bool:
        """Whether the narrow asks for channel messages and direct messages at once."""
        plain = {term["operator"] for term in terms if not term.get("negated")}
        dms = [term.get("negated", False) for term in terms if (term["operator"], term["operand"]) == ("is", "dm")]
        in_channels = bool(plain & {"channel", "channels", "topic"}) or True in dms
        return in_channels and (bool(plain & {"dm", "dm-including"}) or False in dms)

    def window(self, reader: Reader, terms: list[Json], anchor: Any, before: int, after: int) -> Json:
        """What GET /messages answers, as far as numbers go."""
        found = self.matching(reader, terms)
        is_one_channel = {
            term["operand"] for term in terms if term["operator"] == "channel" and not term.get("negated")
        }
        at = PAST_THE_END
        if anchor == "first_unread":
            shown = [m for m in found if self.is_unread(reader, m)]
            shown = [m for m in shown if not self.is_hidden(reader, m, in_channel=bool(is_one_channel))]
            at = min((m.id for m in shown), default=PAST_THE_END)
        elif isinstance(anchor, datetime):
            if not found:
                return {"ids": [], "anchor": PAST_THE_END, "anchored": False, "oldest": False, "newest": False}
            at = min((m.id for m in found if m.sent_at >= anchor), default=found[-1].id)
        elif anchor != "newest":
            at = 0 if anchor == "oldest" else anchor
        ids = [m.id for m in found]
        older, newer = [id for id in ids if id < at], [id for id in ids if id > at]
        if at == PAST_THE_END:
            after = after if not before else 0
        chosen = [*(older[-before:] if before else []), *([at] if at in ids else []), *newer[:after]]
        return {
            "ids": chosen,
            "anchor": at,
            "anchored": at in ids,
            "oldest": at == 0 or len(older[-before:] if before else []) < before,
            "newest": at == PAST_THE_END or len(newer[:after]) < after,
        }


_INSERT = """
insert into message (realm_id, conversation_id, seq, topic_id, sender_id, sent_at, client, content, rendered, wildcard,
    has_link, has_image, has_attachment)
values (%s, %s, %s, %s, %s, %s, 'world', %s, %s, %s, %s, %s, %s) returning id
"""
