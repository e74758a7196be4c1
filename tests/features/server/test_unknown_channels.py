"""A channel that is not there is answered in one way, on every endpoint that takes one (channel_table.py).

Three kinds are not there: one that nobody made, one of another organization, and a private one out of reach.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.features.tables.channel_table import CALLS, Ask
from tests.harness.realm import Realm
from tests.harness.server import Channel, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Speaker, check_error, unique


class Scene:
    """An organization with somebody of each kind that calls, what they need for it, and channels out of their reach."""

    def __init__(self, stage: Stage) -> None:
        realm, elsewhere = Realm(stage), Realm(stage)
        self.people: dict[str, Speaker] = {
            "owner": realm.owner,
            "administrator": realm.administrator,
            "member": realm.member,
            "nobody": stage.nobody(host=realm.host),
        }
        self.unreachable = {
            "made by nobody": Channel(987_654_321, unique("nowhere")),
            "of another organization": stage.channel(elsewhere.owner, realm_id=elsewhere.id),
            "private": stage.channel(realm.moderator, invite_only=True, realm_id=realm.id),
        }
        member, home = realm.member, stage.channel(realm.member, realm_id=realm.id)
        group = {"new": {"direct_members": [member.id], "direct_subgroups": []}}
        realm.owner.request("PATCH", "realm", can_move_messages_between_channels_group=group)
        bot = member.post("bots", full_name=unique("Bot"), short_name=unique("bot").replace(" ", ""))
        self.things = {
            "me": member.id,
            "message_id": member.send(home.stream_id, "tea"),
            "draft_id": member.post("drafts", drafts=[{"type": "", "to": [], "topic": "", "content": "x"}])["ids"][0],
            "scheduled_id": member.post(
                "scheduled_messages",
                type="channel",
                to=home.stream_id,
                topic="tea",
                content="x",
                scheduled_delivery_timestamp=4_000_000_000,
            )["scheduled_message_id"],
            "bot_id": bot["user_id"],
            "bot_key": bot["api_key"],
        }


@pytest.fixture(scope="module")
def scene(server: Server, backstage: Backstage) -> Iterator[Scene]:
    stage = Stage(server, backstage)
    try:
        yield Scene(stage)
    finally:
        stage.close()


@pytest.mark.parametrize("key", CALLS)
def test_a_channel_that_is_not_there_is_answered_in_one_way(scene: Scene, key: str) -> None:
    for ask in CALLS[key]:
        for kind, channel in scene.unreachable.items():
            if kind == "private" and ask.sees_private:
                continue
            reply = put(scene, ask, channel)
            told = {"stream": channel.name} if ask.by_name else {"stream_id": channel.stream_id}
            extra = told if ask.code == "STREAM_DOES_NOT_EXIST" else {"desc": reply.json().get("desc")}
            check_error(reply, ask.code, **extra)


def put(scene: Scene, ask: Ask, channel: Channel) -> Any:
    values = {**scene.things, "channel_id": channel.stream_id, "name": channel.name}
    fields = {name: fill(value, values) for name, value in ask.fields.items()}
    return scene.people[ask.who].request(ask.method, ask.path.format(**values), **fields)


def fill(value: Any, values: dict[str, Any]) -> Any:
    """Put what is named by a text in angle brackets in its place."""
    if value == "<unique>":
        return unique("name").replace(" ", "")
    if isinstance(value, str) and value.startswith("<"):
        return values[value[1:-1]]
    if isinstance(value, list):
        return [fill(one, values) for one in value]
    if isinstance(value, dict):
        return {key: fill(one, values) for key, one in value.items()}
    return value
