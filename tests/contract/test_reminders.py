"""Reminders (protocol/messages.md#reminders)."""

import time

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success, unique


def listed(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.get("reminders")["reminders"]
    state = speaker.post("register", event_types=[], fetch_event_types=["reminders"])
    speaker.delete("events", queue_id=state["queue_id"])
    assert state["reminders"] == found
    return found


@pytest.mark.holds("reminders.kept")
def test_a_reminder_is_kept_told_and_dropped(newcomer: Speaker, member: Speaker, channel: Channel) -> None:
    message, due = member.send(channel.stream_id, unique("Later"), "Think of it"), int(time.time()) + 3600
    with newcomer.register(event_types=["reminders"]) as queue:
        fields = {"message_id": message, "scheduled_delivery_timestamp": due, "note": "before noon"}
        reminder_id = newcomer.post("reminders", **fields)["reminder_id"]
        [found] = listed(newcomer)
        assert (found["reminder_id"], found["reminder_target_message_id"]) == (reminder_id, message)
        assert (found["type"], found["to"], found["failed"]) == ("private", [newcomer.id], False)
        assert (found["scheduled_delivery_timestamp"], "before noon" in found["content"]) == (due, True)
        [event] = queue.poll()
        assert (event["op"], event["reminders"]) == ("add", [found])
        newcomer.delete(f"reminders/{reminder_id}")
        [event] = queue.poll()
        assert (event["op"], event["reminder_id"]) == ("remove", reminder_id)
    assert listed(newcomer) == []
    check_error(newcomer.request("DELETE", f"reminders/{reminder_id}"))


@pytest.mark.holds("reminders.sent")
def test_it_comes_as_a_message_at_its_time(newcomer: Speaker, member: Speaker, channel: Channel) -> None:
    message = member.send(channel.stream_id, unique("Soon"), "Think of **this**")
    with newcomer.register(event_types=["message"], apply_markdown=True) as queue:
        newcomer.post("reminders", message_id=message, scheduled_delivery_timestamp=int(time.time()) + 2, note="now")
        [event] = queue.poll()
    said = event["message"]
    assert (said["type"], said["sender_full_name"]) == ("private", "Notification Bot")
    assert "<strong>this</strong>" in said["content"]
    assert "now" in said["content"]
    assert listed(newcomer) == []


@pytest.mark.holds("reminders.refers")
def test_it_refers_to_the_message_as_it_is(newcomer: Speaker, member: Speaker, channel: Channel) -> None:
    message, due = member.send(channel.stream_id, unique("Later"), "first words"), int(time.time()) + 3600
    newcomer.post("reminders", message_id=message, scheduled_delivery_timestamp=due)
    assert "first words" in listed(newcomer)[0]["content"]
    check_success(member.request("PATCH", f"messages/{message}", content="other words"))
    [found] = listed(newcomer)
    assert "other words" in found["content"]
    assert "first words" not in str(found)
    check_success(member.request("DELETE", f"messages/{message}"))
    [found] = listed(newcomer)
    assert "words" not in str(found)
    assert "deleted" in found["content"]


@pytest.mark.holds("reminders.refused")
def test_what_makes_no_reminder_is_refused(
    newcomer: Speaker, owner: Speaker, channel: Channel, private: Channel
) -> None:
    message, due = newcomer.send([newcomer.id]), int(time.time()) + 3600
    secret = owner.send(private.stream_id, "Secret")
    for fields in (
        {"message_id": message, "scheduled_delivery_timestamp": 5},
        {"message_id": message},
        {"scheduled_delivery_timestamp": due},
        {"message_id": message, "scheduled_delivery_timestamp": due, "note": "x" * 1001},
        {"message_id": 999_999_999, "scheduled_delivery_timestamp": due},
        {"message_id": secret, "scheduled_delivery_timestamp": due},
    ):
        check_error(newcomer.request("POST", "reminders", **fields))


@pytest.mark.holds("reminders.private")
def test_nobody_else_drops_it(newcomer: Speaker, member: Speaker, bot: Speaker) -> None:
    message = newcomer.send([newcomer.id])
    fields = {"message_id": message, "scheduled_delivery_timestamp": int(time.time()) + 3600}
    reminder_id = newcomer.post("reminders", **fields)["reminder_id"]
    check_error(member.request("DELETE", f"reminders/{reminder_id}"))
    check_error(bot.request("GET", "reminders"))
    assert len(listed(newcomer)) == 1


@pytest.mark.holds("reminders.size")
def test_of_messages_that_are_too_long_together_the_list_shows_beginnings(newcomer: Speaker, channel: Channel) -> None:
    newcomer.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    long = newcomer.send(channel.stream_id, "topic", "pelican < " + "\N{SLIGHTLY SMILING FACE}" * 9_900)
    short = newcomer.send(channel.stream_id, "topic", "a **short** one")
    for message in (long, short):
        newcomer.post("reminders", message_id=message, scheduled_delivery_timestamp=int(time.time()) + 9000)
    assert newcomer.request("GET", "reminders").text.count("1f642") >= 9_900
    for _ in range(11):
        newcomer.post("reminders", message_id=long, scheduled_delivery_timestamp=int(time.time()) + 9000)
    answer = newcomer.request("GET", "reminders")
    assert len(answer.content) < 1_000_000
    assert len(newcomer.request("POST", "register", fetch_event_types=["reminders"]).content) < 1_000_000
    reminders = answer.json()["reminders"]
    assert len(reminders) == 13
    assert all("pelican" in one["content"] for one in reminders if one["reminder_target_message_id"] == long)
    assert all(
        "pelican &lt; " in one["rendered_content"] for one in reminders if one["reminder_target_message_id"] == long
    )
    [whole] = [one for one in reminders if one["reminder_target_message_id"] == short]
    assert "a <strong>short</strong> one" in whole["rendered_content"]
