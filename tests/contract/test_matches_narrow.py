"""GET /messages/matches_narrow (protocol/messages.md#matches-narrow)."""

import pytest

from tests.contract.conftest import Cast
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

MARK = '<span class="highlight">{}</span>'


def matches(speaker: Speaker, ids: list[int], *terms: tuple[str, object]) -> dict[str, Json]:
    narrow = [{"operator": operator, "operand": operand} for operator, operand in terms]
    found: dict[str, Json] = speaker.get("messages/matches_narrow", msg_ids=ids, narrow=narrow)["messages"]
    return found


@pytest.mark.holds("matches-narrow.answer", "matches-narrow.values", "matches-narrow.left-out")
def test_the_messages_that_match_come_by_their_id_as_a_string(member: Speaker, channel: Channel) -> None:
    topic = unique("match")
    ids = [member.send(channel.stream_id, topic, f"number {number}") for number in range(2)]
    elsewhere = member.send(channel.stream_id, unique("elsewhere"))
    found = matches(member, [*ids, elsewhere], ("channel", channel.name), ("topic", topic))
    assert set(found) == set(map(str, ids))
    for entry in found.values():
        assert set(entry) == {"match_content", "match_subject"}


@pytest.mark.holds("matches-narrow.values", "matches-narrow.marked")
def test_without_a_search_the_content_is_html_and_the_topic_is_escaped(member: Speaker, channel: Channel) -> None:
    topic = unique('<b> & "it\'s"')
    sent = member.send(channel.stream_id, topic, "1 < 2")
    [entry] = matches(member, [sent], ("sender", member.id)).values()
    assert entry["match_content"] == member.message(sent)["content"]
    escaped = topic.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert entry["match_subject"] == escaped.replace("'", "&#39;")


@pytest.mark.holds("matches-narrow.marked")
def test_what_was_searched_for_is_marked_in_content_and_topic(member: Speaker, channel: Channel) -> None:
    topic = f"{unique('Boats')} again"
    sent = member.send(channel.stream_id, topic, "a boat on the sea")
    [entry] = matches(member, [sent], ("search", "boats")).values()
    assert MARK.format("boat") in entry["match_content"]
    assert entry["match_subject"].startswith(MARK.format("Boats") + " ")


@pytest.mark.holds("matches-narrow.left-out")
def test_messages_that_are_unknown_or_not_ones_own_are_left_out(cast: Cast) -> None:
    name = unique("others")
    cast.owner.post("users/me/subscriptions", subscriptions=[{"name": name}])
    never_received = cast.owner.send(name, "topic")
    of_others = cast.owner.send([cast.other.id])
    own = cast.member.send([cast.member.id])
    assert list(matches(cast.member, [never_received, of_others, own, 2**60, -1])) == [str(own)]
    assert matches(cast.member, [never_received], ("channel", name)) == {}


@pytest.mark.holds("matches-narrow.values", "matches-narrow.empty-topic")
def test_a_direct_message_has_no_topic_and_the_empty_topic_looks_as_it_does_in_a_fetch(
    member: Speaker, channel: Channel, empty_topic: str
) -> None:
    word = unique("harbor").replace(" ", "")
    ids = [member.send([member.id], content=word), member.send(channel.stream_id, "", word)]
    assert [entry["match_subject"] for entry in matches(member, ids).values()] == ["", empty_topic]
    fetched = member.window(before=10, narrow=[{"operator": "search", "operand": word}])["messages"]
    found = matches(member, ids, ("search", word))
    shown = {str(message["id"]): (message["match_content"], message["match_subject"]) for message in fetched}
    assert {key: (entry["match_content"], entry["match_subject"]) for key, entry in found.items()} == shown
    assert list(shown) == [str(one) for one in ids]


@pytest.mark.holds("matches-narrow.negated")
def test_terms_may_be_negated(member: Speaker, channel: Channel) -> None:
    ids = [member.send([member.id]), member.send(channel.stream_id, unique("negated"))]
    narrow = [{"operator": "is", "operand": "dm", "negated": True}]
    found = member.get("messages/matches_narrow", msg_ids=ids, narrow=narrow)["messages"]
    assert list(found) == [str(ids[1])]


@pytest.mark.holds("matches-narrow.msg-ids", "matches-narrow.narrow")
@pytest.mark.parametrize(
    "fields",
    [
        {"narrow": "[]"},
        {"msg_ids": "[1]"},
        {"msg_ids": "x", "narrow": "[]"},
        {"msg_ids": "{}", "narrow": "[]"},
        {"msg_ids": '["a"]', "narrow": "[]"},
        {"msg_ids": "[1]", "narrow": "{}"},
        {"msg_ids": "[1]", "narrow": "null"},
        {"msg_ids": "[1]", "narrow": " null "},
        {"msg_ids": "null", "narrow": "[]"},
        {"msg_ids": "[1]", "narrow": '[{"operator": "is"}]'},
    ],
)
def test_both_parameters_are_required_and_are_lists(member: Speaker, fields: Json) -> None:
    check_error(member.request("GET", "messages/matches_narrow", **fields))


@pytest.mark.holds("matches-narrow.bad-narrow")
def test_an_unknown_operand_is_a_bad_narrow(member: Speaker) -> None:
    reply = member.request("GET", "messages/matches_narrow", msg_ids=[1], narrow=[["is", "sunny"]])
    check_error(reply, "BAD_NARROW", desc=reply.json().get("desc"))
