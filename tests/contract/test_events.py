"""POST /register, GET and DELETE /events (specification sections 6 and 8; decisions 1, 14, 15)."""

import time
from itertools import pairwise
from threading import Thread

import httpx
import pytest

from tests.contract.talk import Body, Ears, refusal, send, success
from tests.server import Server

LIMITS = {
    "max_message_length": 10_000,
    "max_topic_length": 60,
    "max_stream_name_length": 60,
    "max_stream_description_length": 1024,
    "max_channel_folder_name_length": 60,
    "max_channel_folder_description_length": 1024,
    "server_typing_started_wait_period_milliseconds": 30_000,
    "server_typing_stopped_wait_period_milliseconds": 12_000,
    "server_typing_started_expiry_period_milliseconds": 45_000,
}


def test_every_limit_of_the_specification_is_published(kofi: httpx.Client) -> None:
    state = success(kofi.post("register", data={"fetch_event_types": '["realm"]', "event_types": "[]"}))
    assert {key: state.get(key) for key in LIMITS} == LIMITS
    assert state["realm_empty_topic_display_name"] == "general chat"


def test_some_keys_are_always_there(kofi: httpx.Client) -> None:
    state = success(kofi.post("register", data={"fetch_event_types": "[]"}))
    assert isinstance(state["queue_id"], str)
    assert isinstance(state["last_event_id"], int)
    assert state["idle_queue_timeout_secs"] == 600
    assert state["service_feature_level"] == state["zulip_feature_level"] == 421
    assert "subscriptions" not in state


def test_a_message_is_heard_by_those_who_subscribe(kofi: httpx.Client, yuki: httpx.Client, guest: httpx.Client) -> None:
    ears, far = Ears(yuki, event_types='["message"]'), Ears(guest, event_types='["message"]')
    sent = send(kofi, "kitchen", "news", "cake!")["id"]
    event = ears.hear_message(sent)
    assert (event["message"]["subject"], event["message"]["display_recipient"]) == ("news", "kitchen")
    assert isinstance(event["flags"], list)
    assert "flags" not in event["message"]
    after = send(kofi, "website", "news", "for the guest too")["id"]
    heard = [event["message"]["id"] for event in far.hear()]
    assert sent not in heard
    assert after in heard


def test_a_private_channel_is_heard_by_its_people_only(yuki: httpx.Client, kofi: httpx.Client) -> None:
    ears = Ears(kofi, event_types='["message"]')
    secret = send(yuki, "board", "money", "secret")["id"]
    public = send(yuki, "general", "news", "public")["id"]
    heard = [event["message"]["id"] for event in ears.hear()]
    assert secret not in heard
    assert public in heard


def test_events_come_in_order_with_growing_ids(kofi: httpx.Client) -> None:
    ears = Ears(kofi, event_types='["message"]')
    sent = [send(kofi, "general", content=str(number))["id"] for number in range(5)]
    heard: list[Body] = []
    while len([event for event in heard if event["message"]["id"] in sent]) < 5:
        heard += ears.hear()
    assert [event["message"]["id"] for event in heard if event["message"]["id"] in sent] == sent
    assert all(earlier["id"] < later["id"] for earlier, later in pairwise(heard))


def test_an_event_is_given_again_until_it_is_acknowledged(kofi: httpx.Client) -> None:
    ears = Ears(kofi, event_types='["message"]')
    send(kofi, "general")
    query = {"queue_id": ears.queue_id, "last_event_id": ears.last_event_id, "dont_block": "true"}
    first = ears.hear()
    again = success(kofi.get("events", params=query))["events"]
    assert again[0] == first[0]


def test_a_last_event_id_never_issued_is_a_bad_request(kofi: httpx.Client) -> None:
    ears = Ears(kofi, event_types='["message"]')
    query = {"queue_id": ears.queue_id, "last_event_id": ears.last_event_id + 10**9, "dont_block": "true"}
    refusal(kofi.get("events", params=query))


def test_a_poll_waits_until_something_happens(kofi: httpx.Client, server: Server) -> None:
    ears = Ears(kofi, event_types='["message"]')
    heard: list[Body] = []
    poll = Thread(target=lambda: heard.extend(ears.hear()))
    poll.start()
    time.sleep(0.3)
    assert heard == []
    with server.client(server.members[1]) as other:
        sent = send(other, "general")["id"]
    poll.join(10)
    assert [event["message"]["id"] for event in heard] == [sent]


def test_an_unknown_queue_says_so(kofi: httpx.Client) -> None:
    reply = kofi.get("events", params={"queue_id": "no-such-queue", "last_event_id": -1})
    assert "Bad event queue id: no-such-queue" in refusal(reply, "BAD_EVENT_QUEUE_ID", queue_id="no-such-queue")


def test_a_queue_belongs_to_its_user(kofi: httpx.Client, yuki: httpx.Client) -> None:
    ears = Ears(kofi)
    query = {"queue_id": ears.queue_id, "last_event_id": ears.last_event_id, "dont_block": "true"}
    refusal(yuki.get("events", params=query), "BAD_EVENT_QUEUE_ID", queue_id=ears.queue_id)
    refusal(yuki.delete("events", params={"queue_id": ears.queue_id}), "BAD_EVENT_QUEUE_ID", queue_id=ears.queue_id)


def test_a_deleted_queue_is_gone(kofi: httpx.Client) -> None:
    ears = Ears(kofi)
    success(kofi.request("DELETE", "events", data={"queue_id": ears.queue_id}))
    query = {"queue_id": ears.queue_id, "last_event_id": ears.last_event_id}
    refusal(kofi.get("events", params=query), "BAD_EVENT_QUEUE_ID", queue_id=ears.queue_id)


def test_the_idle_time_of_a_queue_can_be_chosen_up_to_a_week(kofi: httpx.Client) -> None:
    asked = {60: 60, 604_800: 604_800, 10_000_000: 604_800}
    for wanted, given in asked.items():
        state = success(kofi.post("register", data={"fetch_event_types": "[]", "idle_queue_timeout": wanted}))
        assert state["idle_queue_timeout_secs"] == given
    refusal(kofi.post("register", data={"idle_queue_timeout": 0}))


@pytest.mark.parametrize(("apply_markdown", "content_type"), [("true", "text/html"), ("false", "text/x-markdown")])
def test_the_form_of_the_content_is_chosen_at_registration(
    kofi: httpx.Client, apply_markdown: str, content_type: str
) -> None:
    ears = Ears(kofi, event_types='["message"]', apply_markdown=apply_markdown)
    event = ears.hear_message(send(kofi, "general", content="a < b")["id"])
    assert event["message"]["content_type"] == content_type
    assert ("&lt;" in event["message"]["content"]) == (apply_markdown == "true")


def test_the_empty_topic_is_shown_by_its_display_name_unless_the_client_knows_better(kofi: httpx.Client) -> None:
    plain = Ears(kofi, event_types='["message"]')
    capable = Ears(
        kofi,
        event_types='["message"]',
        client_capabilities='{"notification_settings_null": true, "empty_topic_name": true}',
    )
    sent = send(kofi, "general", "")["id"]
    assert plain.hear_message(sent)["message"]["subject"] == "general chat"
    assert capable.hear_message(sent)["message"]["subject"] == ""


def test_initial_unread_messages_and_later_flags_fit_together(kofi: httpx.Client, yuki: httpx.Client) -> None:
    sent = send(yuki, "kitchen", "dishes")["id"]
    ears = Ears(kofi, fetch_event_types='["message","update_message_flags"]', event_types='["update_message_flags"]')
    unread = ears.state["unread_msgs"]
    assert any(sent in entry["unread_message_ids"] for entry in unread["streams"])
    success(kofi.post("messages/flags", data={"messages": f"[{sent}]", "op": "add", "flag": "read"}))
    event = ears.hear()[0]
    assert (event["type"], event["op"], event["flag"]) == ("update_message_flags", "add", "read")
    assert sent in event["messages"]
