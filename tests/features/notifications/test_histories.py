"""Random histories: messages, reads, edits, moves, deletions, mutes, pauses, presence; against a plain account of what is told.

Nobody is told of what was read, deleted or hidden from them, and each batch that is due is one mail for each conversation.
What happened is drawn from a seed that a failure names, with what was done. A long run is made of pieces, and one history is a
piece of its own: TERTULIA_TEST_HISTORIES says how many, TERTULIA_TEST_HISTORIES_FROM the first seed.
"""

import asyncio
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.notifications.deciding.steps import Deciding
from tertulia.notifications.missed_mail.making import MissedMails
from tests.features.notifications.test_missed_mail import parts
from tests.harness.bot_server import BotServer, bot_server
from tests.harness.mails import mails_to
from tests.harness.push_service import Browser
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage
from tests.harness.talk import check_success, eventually

HISTORIES = int(os.environ.get("TERTULIA_TEST_HISTORIES", "6"))
FIRST = int(os.environ.get("TERTULIA_TEST_HISTORIES_FROM", "0"))
ACTS = 25
TOPICS = ("tea", "cake")
QUIET = {
    "automatically_follow_topics_policy": 4,
    "automatically_follow_topics_where_mentioned": False,
    "automatically_unmute_topics_in_muted_streams_policy": 4,
}


class Shown:
    """Says of itself what it holds and is not empty."""

    def __repr__(self) -> str:
        return str({name: value for name, value in vars(self).items() if value})


class Said(Shown):
    """A message, as the plain account knows it."""

    def __init__(self, sender: int, topic: str | None, *, mentions: bool, calls: bool) -> None:
        self.sender, self.topic, self.mentions, self.calls = sender, topic, mentions, calls
        self.word = ""
        self.is_read = self.is_deleted = self.is_lost = False
        self.was_active = False


class Account(Shown):
    """What one person's mails must be, told without any of the server's rules: only this file knows it this way."""

    def __init__(self) -> None:
        self.said: dict[int, Said] = {}
        self.policy: dict[str, int] = {}
        self.muted_people: set[int] = set()
        self.is_channel_muted = self.is_off = False
        self.is_active = self.is_paused = False
        self.waiting: set[int] = set()
        self.pushable: set[int] = set()

    def concerns(self, one: Said) -> bool:
        if one.is_read or one.is_deleted or one.is_lost or one.sender in self.muted_people:
            return False
        if one.topic is None or one.mentions:
            return True
        policy = self.policy.get(one.topic, 0)
        if policy == 3:
            return True
        is_quiet = policy == 1 or (self.is_channel_muted and policy != 2)
        return one.calls and not is_quiet

    def decide(self, message_id: int, *, was_told: bool = False) -> None:
        """When it is sent, or edited; who was told of the text before is not told again."""
        one = self.said[message_id]
        if self.concerns(one) and not was_told:
            if message_id not in self.waiting:
                one.was_active = self.is_active
            if not self.is_off:
                self.waiting.add(message_id)
            if not self.is_active and not self.is_paused:
                self.pushable.add(message_id)

    def carry(self, old: str, moved: Said) -> None:
        """With the last message of a topic goes what was decided about it; where two topics become one, the more visible."""
        left = {one.topic for one in self.said.values() if not one.is_deleted and one is not moved}
        if old in left or moved.topic is None:
            return
        gone, here = self.policy.pop(old, 0), self.policy.get(moved.topic, 0)
        visible = (1, 0, 2, 3)
        both = max(gone, here, key=visible.index)
        self.policy[moved.topic] = both if moved.topic in left else gone or here

    def due(self) -> dict[str, set[str]]:
        """The words of each mail, by topic, or by whom one talks to directly."""
        mails: defaultdict[str, set[str]] = defaultdict(set)
        for message_id in self.waiting:
            one = self.said[message_id]
            if not self.is_off and not one.was_active and self.concerns(one):
                mails[one.topic or str(one.sender)].add(one.word)
        self.waiting.clear()
        return dict(mails)


@pytest.fixture
def service() -> Iterator[BotServer]:
    with bot_server() as server:
        server.answer = lambda _posted: (201, "text/plain", b"")
        yield server


class History:
    """Acts on the server and in the account alike."""

    def __init__(self, realm: Realm, folder: Path, hands: "Hands", chance: random.Random) -> None:
        self.realm, self.folder, self.hands, self.chance = realm, folder, hands, chance
        self.me, self.others = realm.member, (realm.owner, realm.moderator)
        self.channel = realm.stage.channel(self.me, *self.others, realm_id=realm.id)
        self.account = Account()
        self.number = self.mails = 0
        check_success(self.me.request("PATCH", "settings", **QUIET))

    def act(self) -> None:
        weighted = [(self.send, 9), (self.read, 2), (self.edit, 2), (self.delete, 2), (self.mute_person, 1)]
        weighted += [
            (self.choose_topic, 2),
            (self.mute_channel, 1),
            (self.be_there, 2),
            (self.switch, 1),
            (self.move, 2),
            (self.mention, 3),
            (self.pause, 1),
            (self.end, 2),
        ]
        acts, weights = zip(*weighted, strict=True)
        chosen = self.chance.choices(acts, weights)[0]
        chosen()
        print(f"{chosen.__name__}: {self.account}")  # shown of what fails

    def send(self) -> None:
        sender = self.chance.choice(self.others)
        self.number += 1
        word, kind = f"word{self.number}x", self.chance.choice(("plain", "direct", "mention", "all"))
        mention = {"mention": f"@**|{self.me.id}** ", "all": "@**all** "}.get(kind, "")
        if mention == "@**all** ":
            sender = self.realm.owner
        topic = None if kind == "direct" else self.chance.choice(TOPICS)
        one = Said(sender.id, topic, mentions=kind == "mention", calls=kind == "all")
        one.word = word
        to = [self.me.id] if topic is None else self.channel.stream_id
        sent = sender.send(to, topic, f"{mention}{word}")
        self.account.said[sent] = one
        self.decided(sent)
        self.account.decide(sent)

    def some(self) -> tuple[int, Said] | None:
        left = [(number, one) for number, one in self.account.said.items() if not one.is_deleted]
        return self.chance.choice(left) if left else None

    def read(self) -> None:
        if found := self.some():
            self.me.post("messages/flags", messages=[found[0]], op="add", flag="read")
            found[1].is_read = True

    def edit(self) -> None:
        if found := self.some():
            message_id, one = found
            speaker = next(person for person in self.others if person.id == one.sender)
            old = re.escape(one.word)
            self.number += 1
            one.word = f"word{self.number}x"
            text = speaker.message(message_id, apply_markdown=False)["content"]
            check_success(speaker.request("PATCH", f"messages/{message_id}", content=re.sub(old, one.word, text)))

    def mention(self) -> None:
        """An edit that mentions me besides, or no longer."""
        found = self.some()
        if found is None or found[1].topic is None:
            return
        message_id, one = found
        speaker = next(person for person in self.others if person.id == one.sender)
        was_told = self.account.concerns(one)
        one.mentions ^= True
        call = "@**all** " if one.calls else ""
        name = f"@**|{self.me.id}** " if one.mentions else ""
        check_success(speaker.request("PATCH", f"messages/{message_id}", content=f"{call}{name}{one.word}"))
        if one.mentions:
            self.decided(message_id)
            self.account.decide(message_id, was_told=was_told)

    def move(self) -> None:
        """To the other topic: it is told there, or not, as that is muted or followed."""
        if (found := self.some()) and found[1].topic is not None:
            message_id, one = found
            old, one.topic = found[1].topic, next(topic for topic in TOPICS if topic != one.topic)
            self.account.carry(old, one)
            moved = {"topic": one.topic, "propagate_mode": "change_one", "send_notification_to_new_thread": False}
            check_success(self.realm.owner.request("PATCH", f"messages/{message_id}", **moved))

    def pause(self) -> None:
        self.account.is_paused ^= True
        until = 2_000_000_000 if self.account.is_paused else 0
        check_success(self.me.request("PATCH", "settings", notifications_paused_until=until))

    def decided(self, message_id: int) -> None:
        self.hands.decide()
        eventually(lambda: self.realm.stage.sql("select 1 from push_due where message_id = %s", message_id) == [])

    def delete(self) -> None:
        if found := self.some():
            speaker = next(person for person in self.others if person.id == found[1].sender)
            done = speaker.request("DELETE", f"messages/{found[0]}")
            if done.status_code == 200:  # who may not delete does not
                found[1].is_deleted = True

    def mute_person(self) -> None:
        person = self.chance.choice(self.others).id
        if person in self.account.muted_people:
            self.me.delete(f"users/me/muted_users/{person}")
            self.account.muted_people.remove(person)
            for one in self.account.said.values():  # what somebody muted has sent counts as read
                one.is_read |= one.sender == person
        else:
            self.me.post(f"users/me/muted_users/{person}")
            self.account.muted_people.add(person)

    def choose_topic(self) -> None:
        topic, policy = self.chance.choice(TOPICS), self.chance.choice((0, 1, 2, 3))
        place = {"stream_id": self.channel.stream_id, "topic": topic}
        self.me.post("user_topics", **place, visibility_policy=policy)
        self.account.policy[topic] = policy

    def mute_channel(self) -> None:
        self.account.is_channel_muted ^= True
        change = {"stream_id": self.channel.stream_id, "property": "is_muted", "value": self.account.is_channel_muted}
        self.me.post("users/me/subscriptions/properties", subscription_data=[change])

    def be_there(self) -> None:
        self.account.is_active ^= True
        self.me.post("users/me/presence", status="active", new_user_input=True, ping_only=True)
        # There: until after whatever comes. Away: since long ago.
        moment = "now() + interval '1 hour'" if self.account.is_active else "now() - interval '1 hour'"
        self.realm.stage.sql(f"update presence set active_at = {moment} where user_id = %s", self.me.id)
        if not self.account.is_active:
            # Whether they were there when a message came shows from when they were last active, which is gone now.
            self.end(is_there=True)

    def switch(self) -> None:
        self.account.is_off ^= True
        value = not self.account.is_off
        check_success(self.me.request("PATCH", "settings", enable_offline_email_notifications=value))

    def end(self, *, is_there: bool = False) -> None:
        """The time of the batch is over."""
        stage = self.realm.stage
        if is_there:
            stage.sql("update presence set active_at = now() + interval '1 hour' where user_id = %s", self.me.id)
        if self.account.is_paused:
            self.pass_time()
            sql = "select 1 from mail_batch where user_id = %s and due <= now()"
            eventually(lambda: stage.sql(sql, self.me.id) == [])
            assert mails_to(self.folder, self.me.email, 0)[self.mails :] == []
            self.pause()  # it ends, and what waited is told
        expected = self.account.due()
        self.pass_time()
        eventually(lambda: stage.sql("select 1 from mail_batch where user_id = %s", self.me.id) == [])
        eventually(lambda: stage.sql("select 1 from mail_outbox where recipient = %s", self.me.email) == [])
        new = mails_to(self.folder, self.me.email, 0)[self.mails :]
        self.mails += len(new)
        found = [(place(mail["Subject"], parts(mail)[1]), parts(mail)[1]) for mail in new]
        assert {topic: told(html)[0] for topic, html in found} == expected
        assert len(found) == len(expected)
        allowed = {
            one.word
            for one in self.account.said.values()
            if not one.is_deleted and one.sender not in self.account.muted_people
        }
        for _, html in found:
            assert told(html)[1] <= allowed
        if is_there:
            stage.sql("update presence set active_at = now() - interval '1 hour' where user_id = %s", self.me.id)

    def pass_time(self) -> None:
        stage = self.realm.stage
        stage.sql("update mail_batch set due = now() - interval '1 second' where user_id = %s", self.me.id)
        self.hands.make_mails()


def place(subject: str, html: str) -> str:
    """The topic of a mail, or whom one talks to directly."""
    direct = re.search(r"#narrow/dm/(\d+)/near/", html)
    return direct[1] if direct else subject.rpartition(" > ")[2]


def told(html: str) -> tuple[set[str], set[str]]:
    """The words that a mail is about, and those that were only said before."""
    about: set[str] = set()
    before: set[str] = set()
    for message in html.split('<div class="text" style="font-size:15px')[1:]:
        (before if "opacity" in message.partition('"')[0] else about).update(re.findall(r"word\d+x", message))
    return about, before


class Hands:
    """Do what the worker does, at once and beside it. To connect anew each time would take most of the time of a history."""

    def __init__(self, server: Server) -> None:
        settings = Settings(mail_folder="unused", external_host="localhost")
        self._runner = asyncio.Runner()
        self._database = self._runner.run(Database.connect(server.postgres_url, shards=settings.shards, size=1))
        self._deciding, self._mails = Deciding(self._database, settings), MissedMails(self._database, settings)

    def decide(self) -> None:
        self._runner.run(self._deciding.decide_due())

    def make_mails(self) -> None:
        self._runner.run(self._mails.make_due())

    def close(self) -> None:
        self._runner.run(self._database.close())
        self._runner.close()


@pytest.fixture(scope="module")
def hands(server: Server) -> Iterator[Hands]:
    with closing(Hands(server)) as both:
        yield both


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, FIRST + HISTORIES))
def test_people_are_told_of_what_they_missed_and_of_nothing_else(
    stage: Stage, folder_of_mails: Path, service: BotServer, hands: Hands, seed: int
) -> None:
    history = History(Realm(stage), folder_of_mails, hands, random.Random(seed))
    browser = Browser(service).subscribe(history.me)
    for _ in range(ACTS):
        history.act()
    history.end()
    pushed = set()
    while not service.posted.empty():
        pushed.add(browser.next().payload["message_id"])
    assert pushed <= history.account.pushable
    for mail in folder_of_mails.glob(f"*{history.me.email}.eml"):
        mail.unlink()  # each history looks through the whole folder
