"""Nothing that anybody asks for or hears tells more of a channel than the table says (privacy_table.py).

Whoever may not know of a channel is answered as if it did not exist: each reply is compared with the reply to the same
question about a channel, or a message, that nobody has made.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tertulia.conversations.channels.actions import subscribe, unsubscribe
from tests.features.tables.privacy_table import (
    CHANNEL_PROBES,
    DANGEROUS,
    KEPT,
    KINDS,
    LISTS,
    MESSAGE_PROBES,
    RECEIVED,
    TABLE,
    Target,
)
from tests.harness.channels import make
from tests.harness.realm import Realm
from tests.harness.server import GUEST, Channel, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Queue, Speaker, check_success, unique

NOBODY_MADE = Target(987_654_321, "no such channel", 987_654_322, "no such topic")
MOMENTS = ("early", "middle", "late")


class Scene:
    """Four channels, one of each kind; in each the same was said while the same people came and went."""

    def __init__(self, stage: Stage) -> None:
        realm = self.realm = Realm(stage)
        member = realm.speaker
        self.author = member()
        self.people = {
            "owner": realm.owner,
            "administrator": realm.administrator,
            "moderator": realm.moderator,
            "subscribed member": member(),
            "member": realm.member,
            "former member": member(),
            "member who may subscribe": member(),
            "member who may add others": member(),
            "member who administers the channel": member(),
            "subscribed guest": realm.speaker(GUEST),
            "guest": realm.guest,
            "former guest": realm.speaker(GUEST),
            "bot": realm.bot(realm.member),
            "member of another organization": Realm(stage).member,
        }
        self.gone = member()
        self.channels: dict[str, Channel] = {}
        self.words: dict[tuple[str, str], str] = {}
        self.messages: dict[tuple[str, str], int] = {}
        self.topics: dict[str, str] = {}
        for kind in KINDS:
            self._play(kind)
        realm.owner.delete(f"users/{self.gone.id}")

    def _play(self, kind: str) -> None:
        channel = self.channels[kind] = make(self.realm, self.author, kind=kind)
        self.topics[kind] = unique("topic")
        self._open(channel)
        self.say(kind, "early")
        names = ("subscribed member", "former member", "subscribed guest", "former guest")
        people = [self.people[name].id for name in names]
        self.realm.stage.write(lambda tx: subscribe(tx, self.realm.id, [channel.stream_id], [*people, self.gone.id]))
        self.say(kind, "middle")
        former = [self.people[name].id for name in names if "former" in name]
        self.realm.stage.write(lambda tx: unsubscribe(tx, self.realm.id, [channel.stream_id], former))
        self.say(kind, "late")

    def _open(self, channel: Channel) -> None:
        """Name those whom settings of the channel name. The owner does it before the channel is closed to them."""
        stage, owner = self.realm.stage, self.realm.owner
        stage.write(lambda tx: subscribe(tx, self.realm.id, [channel.stream_id], [owner.id]))
        for setting, name in (
            ("can_subscribe_group", "member who may subscribe"),
            ("can_add_subscribers_group", "member who may add others"),
            ("can_administer_channel_group", "member who administers the channel"),
        ):
            value = {"direct_members": [self.people[name].id], "direct_subgroups": []}
            check_success(owner.request("PATCH", f"streams/{channel.stream_id}", **{setting: {"new": value}}))
        # As if the owner had never been there.
        stage.write(lambda tx: unsubscribe(tx, self.realm.id, [channel.stream_id], [owner.id]))
        stage.sql("delete from subscription where user_id = %s and channel_id = %s", owner.id, channel.stream_id)
        stage.sql("delete from read_state where user_id = %s and conversation_id = %s", owner.id, channel.stream_id)

    def say(self, kind: str, moment: str) -> None:
        self.words[kind, moment] = unique(moment).replace(" ", "")
        sent = self.author.send(self.channels[kind].stream_id, self.topics[kind], self.words[kind, moment])
        self.messages[kind, moment] = sent

    def target(self, kind: str, moment: str = "middle") -> Target:
        channel = self.channels[kind]
        return Target(channel.stream_id, channel.name, self.messages[kind, moment], self.topics[kind])

    def readable(self, person: str, kind: str) -> set[str]:
        """What the table says they may read."""
        letters = TABLE[person][KINDS.index(kind)]
        return set(MOMENTS) if "c" in letters else RECEIVED[person] if "r" in letters else set()


@pytest.fixture(scope="module")
def scene(server: Server, backstage: Backstage) -> Iterator[Scene]:
    stage = Stage(server, backstage)
    try:
        yield Scene(stage)
    finally:
        stage.close()


@pytest.mark.parametrize("key", CHANNEL_PROBES)
def test_what_is_asked_about_a_channel(scene: Scene, key: str) -> None:
    probe = CHANNEL_PROBES[key]
    for person, speaker in scene.people.items():
        blank = probe.ask(speaker, NOBODY_MADE)
        for kind, letters in zip(KINDS, TABLE[person], strict=True):
            if "m" in letters and key in DANGEROUS:
                continue
            target = scene.target(kind)
            reply = probe.ask(speaker, target)
            told = f"{person}, {kind}: {reply.status_code} {reply.text[:300]}"
            if not letters:
                assert reply.status_code == blank.status_code, told
                assert target.hide(reply.text) == NOBODY_MADE.hide(blank.text), told
            elif probe.opens:
                is_open = bool(set(letters) & {"c", "r"}) if probe.opens == "c" else probe.opens in letters
                # Whoever sees the channel and may not read it may be told so, or get nothing.
                assert reply.status_code == 200 or not is_open, told
                assert is_open or probe.opens == "c" or reply.status_code == 400, told
            check_content(scene, person, reply.text)


@pytest.mark.parametrize("key", MESSAGE_PROBES)
def test_what_is_asked_about_a_message(scene: Scene, key: str) -> None:
    probe = MESSAGE_PROBES[key]
    for person, speaker in scene.people.items():
        blank = probe.ask(speaker, NOBODY_MADE)
        for kind in KINDS:
            readable = scene.readable(person, kind)
            if key == "POST /messages/flags":
                readable = readable | KEPT.get(person, set())
            # Only in private channels it matters when something was said.
            for moment in MOMENTS if kind in ("shared", "protected") else ("middle",):
                if moment in readable and key in DANGEROUS:
                    continue
                target = scene.target(kind, moment)
                reply = probe.ask(speaker, target)
                told = f"{person}, {kind}, {moment}: {reply.status_code} {reply.text[:300]}"
                if moment not in readable:
                    assert reply.status_code == blank.status_code, told
                    assert target.hide(reply.text) == NOBODY_MADE.hide(blank.text), told
                elif probe.opens:
                    assert reply.status_code == 200, told
                check_content(scene, person, reply.text)


@pytest.mark.parametrize("key", LISTS)
def test_what_is_listed(scene: Scene, key: str) -> None:
    for person, speaker in scene.people.items():
        reply = LISTS[key](speaker)
        assert reply.status_code == 200, f"{person}: {reply.text[:300]}"
        check_names(scene, person, reply.json())
        check_content(scene, person, reply.text)


def test_everything_readable_is_found(scene: Scene) -> None:
    for person, speaker in scene.people.items():
        for kind in KINDS:
            readable = scene.readable(person, kind)
            if set(TABLE[person][KINDS.index(kind)]) & {"c", "r"}:
                narrow = [{"operator": "channel", "operand": scene.channels[kind].stream_id}]
                found = speaker.window(before=50, narrow=narrow, apply_markdown=False)["messages"]
                assert {message["content"] for message in found} == {scene.words[kind, one] for one in readable}


def test_whose_channels_one_sees(scene: Scene) -> None:
    for person, speaker in scene.people.items():
        reply = speaker.request("GET", f"users/{scene.author.id}/channels")
        if person == "member of another organization":
            blank = speaker.request("GET", "users/987654321/channels")
            assert (reply.status_code, reply.json()) == (blank.status_code, blank.json())
            continue
        found = set(reply.json()["subscribed_channel_ids"])
        for kind, letters in zip(KINDS, TABLE[person], strict=True):
            if "m" not in letters:
                assert scene.channels[kind].stream_id not in found, (person, kind)
            if "s" in letters:
                assert scene.channels[kind].stream_id in found, (person, kind)


@pytest.mark.parametrize("key", [*CHANNEL_PROBES, *MESSAGE_PROBES])
def test_the_deactivated_and_nobody_are_told_to_log_in(scene: Scene, key: str) -> None:
    probe = (CHANNEL_PROBES | MESSAGE_PROBES)[key]
    nobody = scene.realm.stage.nobody(host=scene.realm.host)
    nobody._user = scene.gone.user
    for speaker in (scene.gone, nobody):
        for kind in KINDS:
            reply = probe.ask(speaker, scene.target(kind))
            if reply.status_code != 401:  # spectators are not let in here: it has to be what they get everywhere
                blank = probe.ask(speaker, NOBODY_MADE)
                assert reply.status_code == blank.status_code != 200, reply.text
            check_content(scene, "", reply.text)


# Events


def test_nobody_hears_of_what_they_may_not_know(scene: Scene) -> None:
    queues = {
        person: Queue(speaker, all_public_streams=False, client_capabilities={"notification_settings_null": True})
        for person, speaker in scene.people.items()
    }
    passing, owner = scene.realm.speaker(), scene.realm.owner
    newest = {}
    for kind in KINDS:
        newest[kind] = make_noise(scene, kind, passing, owner)
    for person, queue in queues.items():
        events = queue.so_far()
        for kind, letters in zip(KINDS, TABLE[person], strict=True):
            channel = scene.channels[kind].stream_id
            about = [event for event in events if names_channel(event, channel) or newest[kind] in numbers_in(event)]
            is_inside = person.startswith("subscribed")
            if "m" not in letters:
                assert about == [], (person, kind)
            elif not is_inside:
                kinds = {event["type"] for event in about}
                assert kinds <= {"stream", "subscription", "update_message", "delete_message", "reaction"}, (
                    person,
                    kind,
                )
                if not set(letters) & {"c", "r"}:
                    assert kinds <= {"stream", "subscription"}, (person, kind)
                if "s" not in letters:
                    assert not any(event.get("op", "").startswith("peer") for event in about), (person, kind)
            else:
                assert newest[kind] in [event["message"]["id"] for event in about if event["type"] == "message"]
        for event in events:
            check_content(scene, person, json.dumps(event))


def make_noise(scene: Scene, kind: str, passing: Speaker, owner: Speaker) -> int:
    """Everything that is told: somebody comes and goes, speaks, edits, reacts; the channel changes."""
    channel = scene.channels[kind].stream_id
    stage, realm_id = scene.realm.stage, scene.realm.id
    stage.write(lambda tx: subscribe(tx, realm_id, [channel], [passing.id]))
    word = scene.words[kind, "late"]
    sent = scene.author.send(channel, scene.topics[kind], f"{word} again")
    scene.author.request("POST", "typing", type="channel", op="start", stream_id=channel, topic=scene.topics[kind])
    check_success(scene.author.request("POST", f"messages/{sent}/typing", op="start"))
    check_success(scene.author.request("PATCH", f"messages/{sent}", content=f"{word} once more"))
    check_success(scene.author.request("POST", f"messages/{sent}/reactions", emoji_name="octopus"))
    data = [{"stream_id": channel, "property": "is_muted", "value": True}]
    check_success(passing.request("POST", "users/me/subscriptions/properties", subscription_data=data))
    stage.write(lambda tx: unsubscribe(tx, realm_id, [channel], [passing.id]))
    check_success(owner.request("PATCH", f"streams/{channel}", description=unique("about")))
    check_success(owner.request("DELETE", f"streams/{channel}"))
    check_success(owner.request("PATCH", f"streams/{channel}", is_archived=False))
    return sent


# Looking into what is told


def check_names(scene: Scene, person: str, body: Json) -> None:
    """Channels and topics appear exactly if the table says so."""
    text = json.dumps(body)
    for kind, letters in zip(KINDS, TABLE[person], strict=True):
        if "m" not in letters:
            assert scene.channels[kind].name not in text, (person, kind)
            assert not names_channel(body, scene.channels[kind].stream_id), (person, kind)
        if not scene.readable(person, kind):
            assert scene.topics[kind] not in text, (person, kind)


def check_content(scene: Scene, person: str, text: str) -> None:
    """What was said appears only if they may read it."""
    for (kind, moment), word in scene.words.items():
        if word in text:
            assert person, f"{kind} {moment} told to nobody"
            assert moment in scene.readable(person, kind), f"{person} was told what was said {moment} in {kind}"


def names_channel(value: Any, channel_id: int) -> bool:
    if isinstance(value, dict):
        if channel_id in (value.get("stream_id"), value.get("new_stream_id"), value.get("channel_id")):
            return True
        if channel_id in value.get("stream_ids", ()):
            return True
        return any(names_channel(one, channel_id) for one in value.values())
    return isinstance(value, list) and any(names_channel(one, channel_id) for one in value)


def numbers_in(event: Json) -> set[int]:
    """The messages an event names."""
    found = set(event.get("message_ids", [])) | {event.get("message_id")}
    if "message" in event:
        found.add(event["message"]["id"])
    return {number for number in found if number is not None}
