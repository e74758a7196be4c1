"""Who sees, reads and does what in channels of every kind: the table of docs/explanation/channels.md, through the front door.

Callers by their letters: o owner, m moderator, n member outside, s subscriber, l who left, g guest outside, i guest inside,
a who may add subscribers, j who may subscribe themselves, c who administers the channel, b bot whose owner is inside.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.contract.groups import anonymous
from tests.contract.subscribing import ask, find, heard, join, leave, listening, members
from tests.harness.realm import Realm
from tests.harness.server import GUEST, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker, check_error, unique

EVERYBODY = "omnslgiajcb"


class Kind(NamedTuple):
    """A kind of channel, and the letters of those who are allowed each thing."""

    fields: Json
    sees: str
    knows_subscribers: str
    reads: str
    subscribes: str
    sends: str
    peers: str
    """Who hears that somebody comes or goes."""


PUBLIC = Kind({}, "omnslaijcb", "omnslaijcb", "omnslaijcb", "omnslajcb", "omnslaijcb", "omnslaijcb")
SHARED = Kind(
    {"invite_only": True, "history_public_to_subscribers": True},
    *("osiajc", "osiajc", "siaj", "saj", "siajb", "osiajc"),
)
PROTECTED = Kind({"invite_only": True}, "osiajc", "osiajc", "siaj", "saj", "sib", "osiajc")
KINDS = {"public": PUBLIC, "private, shared history": SHARED, "private, protected history": PROTECTED}


class Scene(NamedTuple):
    kind: Kind
    channel: Json
    people: dict[str, Speaker]
    stranger: Speaker
    early: int
    """A message sent before anybody but the maker was there."""

    def those(self, letters: str) -> list[Speaker]:
        return [self.people[letter] for letter in letters]


@pytest.fixture(params=list(KINDS))
def scene(request: pytest.FixtureRequest, stage: Stage) -> Scene:
    """To be changed at will."""
    return _make(KINDS[request.param], stage)


@pytest.fixture(scope="module", params=list(KINDS))
def still(request: pytest.FixtureRequest, server: Server, backstage: Backstage) -> Iterator[Scene]:
    """To be looked at only."""
    stage = Stage(server, backstage)
    yield _make(KINDS[request.param], stage)
    stage.close()


def _make(kind: Kind, stage: Stage) -> Scene:
    realm = Realm(stage)
    maker = realm.speaker()
    letters = {letter: realm.speaker(GUEST if letter in "gi" else 400) for letter in "nslgiajc"}
    people = {"o": realm.owner, "m": realm.moderator, **letters, "b": realm.bot(letters["s"])}
    name = unique("channel")
    join(
        maker,
        name,
        can_add_subscribers_group=anonymous([people["a"].id, people["g"].id], []),
        can_subscribe_group=anonymous([people["j"].id, people["g"].id], []),
        can_administer_channel_group=anonymous([people["c"].id, people["g"].id, maker.id], []),
        **kind.fields,
    )
    early = maker.send(name, "early", "early words")
    join(maker, name, principals=[people[letter].id for letter in "sil"])
    maker.send(name, "late", "late words")
    leave(people["l"], name)
    return Scene(kind, find(maker, name), people, maker, early)


def _allowed(scene: Scene, method: str, path: str, **fields: object) -> str:
    replies = {letter: who.request(method, path, **fields) for letter, who in scene.people.items()}
    return "".join(letter for letter in EVERYBODY if replies[letter].status_code == 200)


def _sorted(letters: str) -> str:
    return "".join(sorted(letters, key=EVERYBODY.index))


def test_a_channel_and_its_subscribers_are_known_to_those_who_see_it(still: Scene) -> None:
    number, kind = still.channel["stream_id"], still.kind
    assert _allowed(still, "GET", f"streams/{number}") == _sorted(kind.sees)
    assert _allowed(still, "GET", f"streams/{number}/members") == _sorted(kind.knows_subscribers)
    status = f"users/{still.people['s'].id}/subscriptions/{number}"
    assert _allowed(still, "GET", status) == _sorted(kind.knows_subscribers)
    for letter, who in still.people.items():
        listed = [channel["stream_id"] for channel in who.get("streams", include_all=True)["streams"]]
        assert (number in listed) == (letter in kind.sees), letter
        shared = who.get(f"users/{still.people['s'].id}/channels")["subscribed_channel_ids"]
        assert (number in shared) == (letter in kind.knows_subscribers), letter
        state = who.post("register", event_types=[], fetch_event_types=["subscription", "stream"])
        found = {
            key: number in [channel["stream_id"] for channel in state[key]]
            for key in ("streams", "subscriptions", "unsubscribed", "never_subscribed")
        }
        assert found.pop("streams") == (letter in kind.sees), letter
        assert sum(found.values()) == (letter in kind.sees), letter
        assert found["subscriptions"] == (letter in "si"), letter


def test_out_of_reach_looks_like_what_does_not_exist(still: Scene) -> None:
    number = still.channel["stream_id"]
    missing = 999_999_999
    for letter in set(EVERYBODY) - set(still.kind.sees):
        who = still.people[letter]
        for path in ("streams/{}", "streams/{}/members", "users/me/{}/topics", f"users/{who.id}/subscriptions/{{}}"):
            bodies = []
            for asked in (number, missing):
                reply = who.request("GET", path.format(asked))
                check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=asked)
                bodies.append(reply.text.replace(str(asked), "#"))
            assert bodies[0] == bodies[1]


def test_what_is_said_is_read_by_those_who_may(still: Scene) -> None:
    number, kind = still.channel["stream_id"], still.kind
    assert _allowed(still, "GET", f"users/me/{number}/topics") == _sorted(kind.reads)
    assert _allowed(still, "GET", "get_stream_id", stream=still.channel["name"]) == _sorted(kind.reads)
    for letter in kind.reads:
        topics = [topic["name"] for topic in still.people[letter].get(f"users/me/{number}/topics")["topics"]]
        expected = ["late", "early"] if kind is not PROTECTED else (["late"] if letter in "si" else [])
        assert topics == expected, letter


def test_those_who_may_subscribe_themselves_and_send(scene: Scene) -> None:
    name, kind = scene.channel["name"], scene.kind
    fields = {"type": "channel", "to": scene.channel["stream_id"], "topic": "said", "content": "words"}
    assert _allowed(scene, "POST", "messages", **fields) == _sorted(kind.sends)
    assert _allowed(scene, "POST", "users/me/subscriptions", subscriptions=[{"name": name}]) == _sorted(kind.subscribes)


def test_comings_and_goings_are_heard_by_those_who_know_the_subscribers(scene: Scene) -> None:
    somebody = scene.people["n"]
    queues = {letter: listening(who) for letter, who in scene.people.items() if letter != "n"}
    join(scene.stranger, scene.channel["name"], principals=[somebody.id])
    leave(somebody, scene.channel["name"])
    for letter, queue in queues.items():
        told = [event["op"] for event in heard(queue, scene.channel)]
        expected = ["peer_add", "peer_remove"] if letter in scene.kind.peers else []
        assert told == expected, letter


def test_whoever_left_knows_as_much_as_everybody(scene: Scene) -> None:
    left = scene.people["l"]
    with listening(left) as queue:
        scene.stranger.send(scene.channel["stream_id"], "later", "later words")
        assert [event for event in queue.so_far() if event["type"] == "message"] == []
    reply = ask(left, scene.channel["name"])
    assert (reply.status_code == 200) == ("l" in scene.kind.subscribes)
    if "l" not in scene.kind.sees:
        join(scene.stranger, scene.channel["name"], principals=[left.id])
    number = scene.channel["stream_id"]
    topics = [topic["name"] for topic in left.get(f"users/me/{number}/topics")["topics"]]
    assert topics == (["late"] if scene.kind is PROTECTED else ["later", "late", "early"])
    assert left.id in members(left, scene.channel)


def test_what_was_received_of_a_protected_history_is_lost_with_the_subscription(realm: Realm) -> None:
    reader, name = realm.speaker(), unique("channel")
    join(realm.owner, name, invite_only=True, can_subscribe_group=anonymous([reader.id], []))
    number = find(realm.owner, name)["stream_id"]
    join(reader, name)
    sent = realm.owner.send(number, "topic")

    def known() -> tuple[int, list[int], list[int], int]:
        narrows: list[list[Json]] = [[{"operator": "channel", "operand": number}], []]
        found = [
            [message["id"] for message in reader.window(before=9, narrow=narrow)["messages"]] for narrow in narrows
        ]
        topics = reader.get(f"users/me/{number}/topics")["topics"]
        return reader.request("GET", f"messages/{sent}").status_code, found[0], found[1][-1:], len(topics)

    assert known() == (200, [sent], [sent], 1)
    realm.owner.delete("users/me/subscriptions", subscriptions=[name], principals=[reader.id])
    status, here, everywhere, topics = known()
    assert (status, here, topics) == (400, [], 0)
    assert sent not in everywhere
    join(reader, name)
    assert known()[0] == 200
    assert sent in known()[1]


def test_channels_to_join_and_to_leave_are_changed_at_once(realm: Realm) -> None:
    first, second, new = unique("channel"), unique("channel"), unique("channel")
    join(realm.owner, first)
    join(realm.owner, second)
    join(realm.member, first)
    reply = realm.member.request(
        "PATCH", "users/me/subscriptions", add=[{"name": second}, {"name": new}], delete=[first.upper()]
    ).json()
    assert (set(reply["subscribed"][str(realm.member.id)]), reply["removed"]) == ({second, new}, [first])
