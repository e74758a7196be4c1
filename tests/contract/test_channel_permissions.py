"""What the permission sets of a channel permit (protocol/records.md#channel)."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

import httpx
import pytest

from tests.contract.groups import anonymous, reserved
from tests.contract.subscribing import make
from tests.harness.talk import Json, Speaker, check_success


class Case(NamedTuple):
    """Who may do something without the channel's permission, if not owners alone, and what it is."""

    realm_permission: str | None
    act: Callable[[Speaker, Json, dict[str, int]], httpx.Response]


def administer(actor: Speaker, channel: Json, _ids: dict[str, int]) -> httpx.Response:
    return actor.request("PATCH", f"streams/{channel['stream_id']}", description="New")


def delete_any(actor: Speaker, _channel: Json, ids: dict[str, int]) -> httpx.Response:
    return actor.request("DELETE", f"messages/{ids['theirs']}")


def delete_own(actor: Speaker, _channel: Json, ids: dict[str, int]) -> httpx.Response:
    return actor.request("DELETE", f"messages/{ids['own']}")


def move_out(actor: Speaker, _channel: Json, ids: dict[str, int]) -> httpx.Response:
    return actor.request("PATCH", f"messages/{ids['own']}", stream_id=ids["elsewhere"])


def move_within(actor: Speaker, _channel: Json, ids: dict[str, int]) -> httpx.Response:
    return actor.request("PATCH", f"messages/{ids['theirs']}", topic="elsewhere")


CASES = {
    "can_administer_channel_group": Case(None, administer),
    "can_delete_any_message_group": Case(None, delete_any),
    "can_delete_own_message_group": Case("can_delete_own_message_group", delete_own),
    "can_move_messages_out_of_channel_group": Case("can_move_messages_between_channels_group", move_out),
    "can_move_messages_within_channel_group": Case("can_move_messages_between_topics_group", move_within),
}
"""Adding and removing subscribers are in test_subscribe.py."""


@pytest.mark.holds("channel.permissions-hold")
@pytest.mark.parametrize("setting", CASES)
def test_a_permission_permits_what_it_says(owner: Speaker, other: Speaker, setting: str) -> None:
    permission, act = CASES[setting]
    elsewhere = make(owner)["stream_id"]
    with reserved(owner, permission) if permission else nullcontext():
        for holders, may in (([owner.id], False), ([owner.id, other.id], True)):
            channel = make(owner, principals=[owner.id, other.id], **{setting: anonymous(holders, [])})
            ids = {name: who.send(channel["stream_id"], "t") for name, who in (("own", other), ("theirs", owner))}
            reply = act(other, channel, {**ids, "elsewhere": elsewhere})
            if may:
                check_success(reply)
            else:
                assert (reply.status_code, reply.json()["code"]) == (400, "BAD_REQUEST"), reply.text
