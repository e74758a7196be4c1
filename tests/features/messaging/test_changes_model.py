"""Random sends, edits, moves, renames, merges and deletions by several people, compared with a model in plain Python."""

import os
import random
from typing import Any

import pytest

from tertulia.conversations.channels.actions import subscribe, unsubscribe
from tests.harness.realm import Realm
from tests.harness.realm_model import Channel, Json, RealmModel
from tests.harness.stage import Stage
from tests.harness.talk import Speaker

# More of them: TERTULIA_CHANGES=1000 bin/test tests/features/messaging/test_changes_model.py
EXAMPLES = int(os.environ.get("TERTULIA_CHANGES", "8"))
FIRST = int(os.environ.get("TERTULIA_CHANGES_FROM", "0"))
STEPS = 45
TOPICS = ("", "tea", "Tea", "milk", "oat", "OAT")
MODES = ("change_one", "change_later", "change_all", "change_all")


class Play:
    """One random history, done to the server and to the model."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.random = random.Random(seed)
        self.realm = Realm(stage)
        self.stage = stage
        self.people = [self.realm.owner, self.realm.member, self.realm.moderator, self.realm.guest]
        self.host = self.realm.host
        channels = {}
        for name, private, protected in (
            ("one", False, False),
            ("two", False, False),
            ("shut", True, False),
            ("new", True, True),
        ):
            made = stage.channel(realm_id=self.realm.id, invite_only=private)
            stage.sql(
                "update channel set history_public_to_subscribers = %s where id = %s", not protected, made.stream_id
            )
            channels[made.stream_id] = Channel(name, is_public=not private, is_protected=protected)
        self.model = RealmModel(channels, {self.realm.guest.id})
        self.story: list[str] = []
        for channel in channels:
            for person in self.people:
                if self.random.random() < 0.7:
                    self._join(person, channel)

    def run(self) -> None:
        for step in range(STEPS):
            self._step()
            if step % 15 == 14:
                self.check()

    def _step(self) -> None:
        who = self.random.choice(self.people)
        act = self.random.choices(
            [self._say, self._edit, self._move, self._delete, self._mark, self._join_or_leave], [9, 3, 9, 2, 4, 2]
        )[0]
        act(who)

    # What they do

    def _say(self, who: Speaker) -> None:
        channels = [number for number in self.model.channels if self.model.may_read(who.id, number)]
        if not channels:
            return
        channel, topic = self.random.choice(channels), self.random.choice(TOPICS)
        read = self.random.random() < 0.5
        content = f"said {len(self.story)}"
        sent = who.send(channel, topic, content, read_by_sender=read)
        self.model.send(sent, who.id, channel, topic, content, read=read)
        self._told(f"{who.id} says {sent} in {channel} {topic!r}")

    def _edit(self, who: Speaker) -> None:
        if (number := self._any()) is not None:
            content = f"edited {len(self.story)}"
            self._call(who, "PATCH", f"messages/{number}", self.model.edit(who.id, number, content), content=content)

    def _move(self, who: Speaker) -> None:
        if (number := self._any()) is None:
            return
        here = self.model.messages[number].channel
        channel = self.random.choice(list(self.model.channels)) if self.random.random() < 0.5 else None
        channel = None if channel == here else channel
        topic = self.random.choice(TOPICS) if channel is None or self.random.random() < 0.5 else None
        mode = self.random.choice(MODES)
        quiet = {"send_notification_to_new_thread": False, "propagate_mode": mode}
        fields: Json = {"topic": topic, "stream_id": channel, **quiet}
        may = self.model.move(who.id, number, topic, channel, mode)
        self._call(who, "PATCH", f"messages/{number}", may, **fields)

    def _delete(self, who: Speaker) -> None:
        if (number := self._any()) is not None:
            may = self.model.delete(who.id, number, any_=who is self.realm.owner)
            self._call(who, "DELETE", f"messages/{number}", may)

    def _mark(self, who: Speaker) -> None:
        read = self.random.random() < 0.6
        known = [number for number in sorted(self.model.messages)[-12:] if self.random.random() < 0.4]
        known = [number for number in known if read or who.id in self.model.messages[number].received]
        self.model.mark(who.id, known, read=read)
        op = "add" if read else "remove"
        self._call(who, "POST", "messages/flags", True, messages=known, op=op, flag="read")

    def _join_or_leave(self, who: Speaker) -> None:
        channel = self.random.choice(list(self.model.channels))
        (self._leave if who.id in self.model.channels[channel].inside else self._join)(who, channel)

    def _join(self, who: Speaker, channel: int) -> None:
        self.stage.write(lambda tx: subscribe(tx, self.realm.id, [channel], [who.id]))
        self.model.join(who.id, channel)
        self._told(f"{who.id} joins {channel}")

    def _leave(self, who: Speaker, channel: int) -> None:
        self.stage.write(lambda tx: unsubscribe(tx, self.realm.id, [channel], [who.id]))
        self.model.leave(who.id, channel)
        self._told(f"{who.id} leaves {channel}")

    def _any(self) -> int | None:
        known = sorted(self.model.messages)
        return self.random.choice(known) if known else None

    def _call(self, who: Speaker, method: str, path: str, may: bool, **fields: Any) -> None:
        reply = who.request(method, path, **fields)
        self._told(f"{who.id} {method} {path} {fields}: {reply.status_code} {reply.text[:80]}")
        assert reply.status_code == (200 if may else 400), self.tell()

    def _told(self, what: str) -> None:
        self.story.append(what)

    def tell(self) -> str:
        return "\n".join(self.story)

    # Comparing

    def check(self) -> None:
        for who in self.people:
            for channel in self.model.channels:
                if self.model.may_read(who.id, channel):
                    assert self._seen(who, channel) == self.model.seen(who.id, channel), f"{who.id}\n{self.tell()}"
            state = self._state(who)
            assert _unread(state) == self.model.unread(who.id), f"{who.id}\n{self.tell()}"
            assert state["max_message_id"] == self.model.newest(who.id), f"{who.id}\n{self.tell()}"
        self._check_topics()

    def _seen(self, who: Speaker, channel: int) -> list[Json]:
        narrow = [{"operator": "channel", "operand": channel}]
        shown = {"apply_markdown": False, "allow_empty_topic_name": True}
        found = who.window("newest", before=1000, narrow=narrow, **shown)["messages"]
        keys = ("id", "sender_id", "stream_id", "subject", "content", "flags")
        return [{key: one[key] for key in keys} | {"edit_history": _changes(one)} for one in found]

    def _state(self, who: Speaker) -> Json:
        types = ["message", "update_message_flags"]
        capabilities = {"notification_settings_null": True, "empty_topic_name": True}
        state = who.post("register", event_types=[], fetch_event_types=types, client_capabilities=capabilities)
        who.delete("events", queue_id=state["queue_id"])
        return state

    def _check_topics(self) -> None:
        """The newest message of each topic, and who takes part in it."""
        rows = self.stage.sql(
            """
            select topic.conversation_id, name_key, message.id, array(
                select user_id from topic_participant where topic_id = topic.id order by user_id
            ) from topic
            left join message on message.conversation_id = topic.conversation_id and message.seq = topic.last_seq
            where topic.conversation_id = any(%s) and topic.last_seq > 0
            """,
            list(self.model.channels),
        )
        found = {(channel, key): (newest, people) for channel, key, newest, people in rows}
        expected: dict[tuple[int, str], tuple[int, list[int]]] = {}
        for _, one in sorted(self.model.messages.items()):
            _, people = expected.get((one.channel, one.topic), (0, []))
            expected[one.channel, one.topic] = one.id, sorted({*people, one.sender})
        assert found == expected, self.tell()


def _changes(message: Json) -> list[Json]:
    """Without what the model does not know: when, and the HTML."""
    left_out = ("timestamp", "prev_rendered_content")
    history = message.get("edit_history", [])
    return [{key: value for key, value in entry.items() if key not in left_out} for entry in history]


def _unread(state: Json) -> dict[tuple[int, str], list[int]]:
    parts = state["unread_msgs"]["streams"]
    return {(part["stream_id"], part["topic"]): part["unread_message_ids"] for part in parts}


@pytest.mark.parametrize("seed", range(FIRST, FIRST + EXAMPLES))
def test_what_everybody_sees_is_what_a_plain_model_says(stage: Stage, seed: int) -> None:
    play = Play(stage, seed)
    play.run()
    play.check()
