"""Topic visibility policies and what they do to unread counts (protocol/records.md#topic-visibility)."""

import pytest

from tests.contract.policies import decide
from tests.harness.talk import Speaker, unique


@pytest.mark.holds(
    "topic-visibility.none",
    "topic-visibility.muted",
    "topic-visibility.unmuted-followed",
    "topic-visibility.unmuted-is-none",
)
@pytest.mark.parametrize("channel_is_muted", [False, True])
def test_what_a_policy_makes_of_unread_messages(newcomer: Speaker, other: Speaker, channel_is_muted: bool) -> None:
    name = unique("policies")
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": name}])
    topics = {policy: unique(f"policy {policy}") for policy in range(4)}
    sent = {policy: other.send(name, topic) for policy, topic in topics.items()}
    stream_id = newcomer.message(sent[0])["stream_id"]
    changes = [{"stream_id": stream_id, "property": "is_muted", "value": channel_is_muted}]
    newcomer.post("users/me/subscriptions/properties", subscription_data=changes)
    for policy, topic in topics.items():
        decide(newcomer, stream_id, topic, policy)
    unread = newcomer.unread()
    assert {entry["topic"]: entry["unread_message_ids"] for entry in unread["streams"]} == {
        topics[policy]: [sent[policy]] for policy in range(4)
    }
    # Muted: topics of policy 1, and in a muted channel those without a policy. Unmuted is as none in an unmuted channel.
    assert unread["count"] == (2 if channel_is_muted else 3)
