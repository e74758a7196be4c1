"""PyPI's `zulip`: it starts, every method is answered, every way to name recipients works."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tertulia.content.emoji import EXTRA_EMOJI
from tests.clients.methods import LOOPS, METHODS, Scene
from tests.clients.program import Calls
from tests.harness.server import OwnServer, User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, unique

pytestmark = [pytest.mark.system, pytest.mark.clients]
Library = Callable[[User], Calls]
LIBRARY = "Python library `zulip`"


@pytest.mark.client(LIBRARY, "constructed with `http://127.0.0.1:PORT`; with a wrong key it still is", package="zulip")
def test_it_is_constructed_with_an_address_also_with_a_wrong_key(
    server: OwnServer, bots: Path, address: str, library: Library, folder: Path
) -> None:
    mine = library(server.owner)
    assert mine.greeting["client"].startswith("ZulipPython/0.9.1")
    assert mine.get_profile()["email"] == server.owner.email
    with Calls(bots, address, server.owner.email, "x" * 32, folder) as stranger:
        refused = stranger.get_profile()
        assert (refused["result"], refused["code"]) == ("error", "UNAUTHORIZED")
        assert stranger.get_server_settings()["result"] == "success"


@pytest.mark.client(LIBRARY, f"every method: {len(METHODS)} are answered with success", package="zulip")
def test_every_method_is_answered(server: OwnServer, stage: Stage, library: Library, folder: Path) -> None:
    scene = Scene(stage, library(server.owner), library(server.bot), folder)
    public = set(scene.owner.greeting["methods"])
    assert public == set(METHODS) | LOOPS
    ends = {}
    for method, ask in METHODS.items():
        answer = ask(scene)
        ends[method] = answer["result"] if answer["result"] == "success" else answer.get("code", str(answer))
    refused = {method: end for method, end in ends.items() if end != "success"}
    assert refused == {}


@pytest.mark.client(LIBRARY, "`send_message` with every form of `to` and `type`", package="zulip")
def test_a_message_reaches_whoever_it_names(server: OwnServer, stage: Stage, library: Library) -> None:
    sender, others = stage.speaker(), [stage.speaker(), stage.speaker()]
    channel = stage.channel(sender, *others)
    client = library(sender.user)
    emails, ids = [it.email for it in others], [it.id for it in others]
    everybody = sorted([sender.id, *ids])
    in_channel: list[Json] = [
        {"type": kind, "to": to, topic: "lunch"}
        for kind in ("stream", "channel")
        for to in (channel.name, [channel.name], channel.stream_id, str(channel.stream_id), [channel.stream_id])
        for topic in ("topic", "subject")
    ]
    for fields in in_channel:
        found = sent(client, others[0].window, **fields)
        assert (found["type"], found["stream_id"], found["subject"]) == ("stream", channel.stream_id, "lunch"), fields
    for kind in ("private", "direct"):
        for to in (emails, ids, ", ".join(emails), ",".join(emails)):
            found = sent(client, others[0].window, type=kind, to=to)
            assert found["type"] == "private"
            assert sorted(it["id"] for it in found["display_recipient"]) == everybody, to
        for one in (emails[0], [emails[0]], [ids[0]], ids[0], str(ids[0])):
            found = sent(client, others[0].window, type=kind, to=one)
            assert sorted(it["id"] for it in found["display_recipient"]) == sorted([sender.id, ids[0]]), one


@pytest.mark.client(
    "`zulip` and a client of ours", "both see the extra emoji as a reaction, each in its own spelling", package="zulip"
)
def test_two_spellings_of_the_extra_emoji_meet(stage: Stage, library: Library) -> None:
    one, other = stage.speaker(), stage.speaker()
    message = one.send([other.id], content="Look")
    theirs = library(other.user)
    extra = {"message_id": message, "emoji_name": EXTRA_EMOJI, "emoji_code": EXTRA_EMOJI}
    with Queue(one, event_types=["reaction"], fetch_event_types=[]) as queue:
        added = theirs.add_reaction({**extra, "reaction_type": "zulip_extra_emoji"})
        assert added["result"] == "success", added
        [event] = queue.until(lambda it: it["type"] == "reaction")
    assert event["reaction_type"] == "service_extra_emoji"
    one.post(f"messages/{message}/reactions", emoji_name=EXTRA_EMOJI, reaction_type="service_extra_emoji")
    assert {it["reaction_type"] for it in one.message(message)["reactions"]} == {"service_extra_emoji"}
    [seen] = theirs.get_messages({"anchor": message, "num_before": 0, "num_after": 0})["messages"]
    assert [(it["reaction_type"], it["user_id"]) for it in seen["reactions"]] == [
        ("zulip_extra_emoji", other.id),
        ("zulip_extra_emoji", one.id),
    ]


def sent(client: Calls, look: Callable[..., Json], **fields: object) -> Json:
    """Send; the message as somebody else finds it."""
    content = unique("hello")
    answer = client.send_message({**fields, "content": content})
    assert answer["result"] == "success", (fields, answer)
    [found] = look(answer["id"])["messages"]
    assert found["content"] == f"<p>{content}</p>"
    return dict(found)
