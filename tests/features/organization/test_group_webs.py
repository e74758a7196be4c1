"""Webs of groups: a text that names many groups takes a few walks through a web, and not one for each group and reader."""

import time

import pytest

from tests.contract.changes import edit
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import eventually, unique

WEB, PLAIN = 40, 50
EDGES = WEB * (WEB - 1) // 2


@pytest.fixture
def channel(realm: Realm) -> Channel:
    """A public channel with everybody in it."""
    return realm.stage.channel(*realm.all, realm_id=realm.id)


def edges_read(realm: Realm) -> int:
    """How many times a group in a group was looked at, ever. A session tells it after it has rested for ten seconds."""
    time.sleep(11)
    [(count,)] = realm.stage.sql(
        "select sum(idx_tup_read)::bigint from pg_stat_user_indexes where relname = 'group_subgroup'"
    )
    return int(count)


def web_of(realm: Realm) -> list[str]:
    """Groups that hold all those before them, everybody in the lowest; returns names of others, which nobody is in, and which
    whoever is above the whole web may mention."""
    made: list[int] = []

    def make(name: str, subgroups: list[int], members: list[int] | None = None, **settings: object) -> int:
        fields = {"name": name, "description": "", "members": members or [], "subgroups": subgroups, **settings}
        return int(realm.owner.post("user_groups/create", **fields)["group_id"])

    for number in range(WEB):
        made.append(make(unique("web"), made, [] if number else [speaker.id for speaker in realm.all]))
    top = make(unique("top"), [make(unique("near"), made[-1:])])
    names = [unique("plain") for _ in range(PLAIN)]
    for name in names:
        make(name, [], can_mention_group=top)
    return names


@pytest.mark.slow
def test_a_text_that_names_many_groups_walks_through_a_web_a_few_times(realm: Realm, channel: Channel) -> None:
    names = web_of(realm)
    text = " ".join(f"@*{name}*" for name in names)
    before = edges_read(realm)
    sent = realm.member.send(channel.stream_id, "topic", f"{text} @**all**")
    edit(realm.member, sent, content=f"{text} and more @**all**")
    eventually(lambda: realm.stage.sql("select from push_due where message_id = %s", sent) == [])
    realm.moderator.post("register", event_types=[])
    realm.moderator.post("messages/flags", messages=[sent], op="add", flag="read")
    realm.moderator.post("messages/flags", messages=[sent], op="remove", flag="read")
    assert edges_read(realm) - before < 20 * EDGES, "one for each group or reader would be 50 and more in each step"


@pytest.mark.slow
def test_a_text_that_names_many_channels_does_so_too(realm: Realm, channel: Channel) -> None:
    web_of(realm)
    nobodys = realm.owner.post("user_groups/create", name=unique("few"), description="", members=[realm.owner.id])[
        "group_id"
    ]
    rights = (
        "can_subscribe_group",
        "can_add_subscribers_group",
        "can_administer_channel_group",
        "can_send_message_group",
    )
    made = {"invite_only": True, "subscribers": [realm.owner.id], **dict.fromkeys(rights, nobodys)}
    names = [unique("private") for _ in range(20)]
    for name in names:
        realm.owner.post("channels/create", name=name, **made)
    text = " ".join(f"#**{name}**" for name in names)
    assert "data-stream-id" in realm.owner.post("messages/render", content=text)["rendered"]
    before = edges_read(realm)
    assert "data-stream-id" not in realm.member.post("messages/render", content=text)["rendered"]
    realm.member.send(channel.stream_id, "topic", text)
    assert edges_read(realm) - before < 15 * EDGES, "one for each channel and right would be 100"
