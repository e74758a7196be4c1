"""POST /messages (specification 2.1, 4.1 and 8; decisions 4, 5, 12, 18)."""

import json
import secrets

import httpx
import pytest

from tests.contract.talk import Ears, fetch, refusal, send, success
from tests.server import Server

EMPTY_TOPIC = "general chat"


@pytest.mark.parametrize("word", ["channel", "stream"])
def test_a_channel_is_named_by_name_or_id(kofi: httpx.Client, server: Server, word: str) -> None:
    general = server.channels["general"]
    for to in ("general", "GENERAL", " general ", json.dumps("general"), general, json.dumps([general])):
        sent = success(kofi.post("messages", data={"type": word, "to": to, "topic": "contract", "content": "x"}))
        message = fetch(kofi, sent["id"])
        assert (message["type"], message["stream_id"], message["subject"]) == ("stream", general, "contract")


@pytest.mark.parametrize("word", ["direct", "private"])
def test_people_are_named_by_ids_or_emails(kofi: httpx.Client, yuki: httpx.Client, server: Server, word: str) -> None:
    me, other = server.members[:2]
    for to in ([other.user_id], [other.email], [other.user_id, me.user_id]):
        fields = {"type": word, "to": json.dumps(to), "content": "psst", "topic": "has no meaning here"}
        message = fetch(yuki, success(kofi.post("messages", data=fields))["id"])
        assert message["type"] == "private"
        assert message["subject"] == ""
        assert [person["id"] for person in message["display_recipient"]] == sorted([me.user_id, other.user_id])


def test_a_direct_message_is_seen_by_its_people_only(kofi: httpx.Client, guest: httpx.Client, server: Server) -> None:
    people = json.dumps([server.members[1].user_id])
    sent = success(kofi.post("messages", data={"type": "direct", "to": people, "content": "psst"}))["id"]
    newest = success(guest.get("messages", params={"anchor": sent, "num_before": 5, "num_after": 5}))["messages"]
    assert sent not in [message["id"] for message in newest]


def test_one_may_write_to_oneself(kofi: httpx.Client, server: Server) -> None:
    me = server.members[0]
    sent = success(kofi.post("messages", data={"type": "direct", "to": f"[{me.user_id}]", "content": "note"}))["id"]
    assert [person["id"] for person in fetch(kofi, sent)["display_recipient"]] == [me.user_id]


def test_ids_grow_and_the_answer_is_the_id_alone(kofi: httpx.Client) -> None:
    first, second = send(kofi, "general"), send(kofi, "general")
    assert set(first) == {"result", "msg", "id"}
    assert first["id"] < second["id"]


def test_a_channel_that_does_not_exist_is_named_in_the_error(kofi: httpx.Client) -> None:
    fields = {"type": "channel", "topic": "x", "content": "x"}
    refusal(kofi.post("messages", data=fields | {"to": "nowhere"}), "STREAM_DOES_NOT_EXIST", stream="nowhere")
    refusal(kofi.post("messages", data=fields | {"to": 999_999}), "STREAM_DOES_NOT_EXIST", stream_id=999_999)


@pytest.mark.parametrize("to", ['["no.one@example.com"]', "[999999]", "no.one@example.com", "[]", '[1, "a"]', "{}"])
def test_an_invalid_person_is_a_bad_request(kofi: httpx.Client, to: str) -> None:
    refusal(kofi.post("messages", data={"type": "direct", "to": to, "content": "x"}))


@pytest.mark.parametrize("to", ["{}", "true", "1.5", '["general", "kitchen"]', "[]"])
def test_an_invalid_channel_is_a_bad_request(kofi: httpx.Client, to: str) -> None:
    refusal(kofi.post("messages", data={"type": "channel", "to": to, "topic": "x", "content": "x"}))


def test_the_type_is_one_of_four_words(kofi: httpx.Client) -> None:
    refusal(kofi.post("messages", data={"type": "group", "to": "general", "topic": "x", "content": "x"}))


def test_a_private_channel_is_closed_to_others(kofi: httpx.Client, yuki: httpx.Client, server: Server) -> None:
    send(yuki, "board")
    fields = {"type": "channel", "topic": "x", "content": "x"}
    by_id = kofi.post("messages", data=fields | {"to": server.channels["board"]})
    assert by_id.status_code == 400


def test_a_guest_writes_only_where_subscribed(guest: httpx.Client) -> None:
    send(guest, "website")
    reply = guest.post("messages", data={"type": "channel", "to": "kitchen", "topic": "x", "content": "x"})
    assert reply.status_code == 400


class TestContent:
    def test_the_longest_allowed_is_stored_whole(self, kofi: httpx.Client) -> None:
        content = "ü" * 10_000
        sent = send(kofi, "general", content=content)["id"]
        assert fetch(kofi, sent, apply_markdown="false")["content"] == content

    def test_over_the_limit_is_rejected_and_never_cut(self, kofi: httpx.Client) -> None:
        refusal(kofi.post("messages", data={"type": "channel", "to": "general", "topic": "x", "content": "x" * 10_001}))

    @pytest.mark.parametrize("content", ["", " ", "\n\n", " \n\t "])
    def test_empty_is_rejected(self, kofi: httpx.Client, content: str) -> None:
        refusal(kofi.post("messages", data={"type": "channel", "to": "general", "topic": "x", "content": content}))

    def test_html_in_a_message_is_text(self, kofi: httpx.Client) -> None:
        sent = send(kofi, "general", content="<script>alert(1)</script> & co")["id"]
        assert "<script" not in fetch(kofi, sent)["content"]
        assert fetch(kofi, sent, apply_markdown="false")["content"] == "<script>alert(1)</script> & co"


class TestTopic:
    def test_sixty_characters_are_allowed_and_more_are_rejected(self, kofi: httpx.Client) -> None:
        sent = send(kofi, "general", "ñ" * 60)["id"]
        assert fetch(kofi, sent)["subject"] == "ñ" * 60
        refusal(kofi.post("messages", data={"type": "channel", "to": "general", "topic": "x" * 61, "content": "x"}))

    def test_it_is_required_for_channels(self, kofi: httpx.Client) -> None:
        refusal(kofi.post("messages", data={"type": "channel", "to": "general", "content": "x"}))

    @pytest.mark.parametrize("name", ["", "(no topic)", EMPTY_TOPIC, f" {EMPTY_TOPIC} "])
    def test_the_names_of_the_empty_topic_mean_it(self, kofi: httpx.Client, name: str) -> None:
        sent = send(kofi, "general", name)["id"]
        assert fetch(kofi, sent)["subject"] == EMPTY_TOPIC
        assert fetch(kofi, sent, allow_empty_topic_name="true")["subject"] == ""

    def test_blanks_around_it_are_dropped(self, kofi: httpx.Client) -> None:
        assert fetch(kofi, send(kofi, "general", "  spaced  ")["id"])["subject"] == "spaced"

    @pytest.mark.parametrize("name", ["a\nb", "a\u0007b", "a\ufffeb"])
    def test_control_characters_are_rejected(self, kofi: httpx.Client, name: str) -> None:
        refusal(kofi.post("messages", data={"type": "channel", "to": "general", "topic": name, "content": "x"}))


class TestLocalEcho:
    def test_a_queue_id_needs_a_local_id(self, kofi: httpx.Client) -> None:
        ears = Ears(kofi, event_types='["message"]')
        fields = {"type": "channel", "to": "general", "topic": "x", "content": "x", "queue_id": ears.queue_id}
        refusal(kofi.post("messages", data=fields))

    def test_only_that_queue_hears_the_local_id(self, kofi: httpx.Client) -> None:
        here, there = Ears(kofi, event_types='["message"]'), Ears(kofi, event_types='["message"]')
        sent = send(kofi, "general", queue_id=here.queue_id, local_id="42.01")["id"]
        event = here.hear_message(sent)
        assert (event["local_id"], event["local_message_id"]) == ("42.01", "42.01")
        other = there.hear_message(sent)
        assert "local_id" not in other
        assert "local_message_id" not in other


class TestReadBySender:
    def test_what_is_said_wins(self, kofi: httpx.Client) -> None:
        assert "read" in fetch(kofi, send(kofi, "general", read_by_sender="true")["id"])["flags"]
        assert "read" not in fetch(kofi, send(kofi, "general", read_by_sender="false")["id"])["flags"]

    def test_otherwise_the_name_of_the_client_decides(self, kofi: httpx.Client) -> None:
        assert "read" in fetch(kofi, send(kofi, "general", client="website")["id"])["flags"]
        assert "read" not in fetch(kofi, send(kofi, "general", client="a script")["id"])["flags"]


class TestIdempotencyKey:
    def test_a_repeat_returns_the_first_answer_and_sends_nothing(self, kofi: httpx.Client) -> None:
        fields = {"type": "channel", "to": "general", "topic": "once", "content": "only once"}
        header = {"Idempotency-Key": secrets.token_hex(8)}
        first, second = (success(kofi.post("messages", data=fields, headers=header))["id"] for _ in range(2))
        assert first == second
        assert send(kofi, "general")["id"] > first

    def test_a_key_belongs_to_its_sender(self, kofi: httpx.Client, yuki: httpx.Client) -> None:
        fields = {"type": "channel", "to": "general", "topic": "once", "content": "each once"}
        header = {"Idempotency-Key": secrets.token_hex(8)}
        ids = {success(client.post("messages", data=fields, headers=header))["id"] for client in (kofi, yuki)}
        assert len(ids) == 2
