"""An endpoint's transaction: committed before the reply, rolled back as a whole when it is refused."""

from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_error, unique

EVERYTHING = {"event_types": ["message", "subscription", "stream", "update_message_flags"]}


def test_a_change_is_committed_before_its_reply(stage: Stage, second: Web) -> None:
    user = stage.user()
    here, there = stage.speaker(user), stage.speaker(user, url=second.url)
    channel = stage.channel(here)
    for _ in range(10):
        sent = here.send(channel.stream_id, "topic")
        assert there.message(sent)["flags"] == []
        there.post("messages/flags", messages=[sent], op="add", flag="read")
        assert here.message(sent)["flags"] == ["read"]


def test_a_refusal_in_the_middle_changes_nothing_and_tells_nobody(stage: Stage) -> None:
    speaker, other = stage.speaker(), stage.speaker()
    closed, new = stage.channel(other, invite_only=True), unique("new")
    wanted = [{"name": new}, {"name": closed.name}]
    with speaker.register(**EVERYTHING) as own, other.register(**EVERYTHING) as theirs:
        check_error(speaker.request("POST", "users/me/subscriptions", subscriptions=wanted))
        assert own.so_far() == []
        assert theirs.so_far() == []
    assert stage.sql("select count(*) from channel where name = %s", new) == [(0,)]
    assert stage.sql("select count(*) from subscription where user_id = %s", speaker.id) == [(0,)]


def test_a_change_and_its_event_come_together(stage: Stage) -> None:
    speaker = stage.speaker()
    name = unique("together")
    with speaker.register(**EVERYTHING) as queue:
        speaker.post("users/me/subscriptions", subscriptions=[{"name": name}])
        kinds = [(event["type"], event.get("op")) for event in queue.so_far()]
    assert kinds == [("stream", "create"), ("subscription", "add"), ("subscription", "peer_add")]


def test_a_request_that_is_not_understood_opens_no_conversation(stage: Stage) -> None:
    speaker: Speaker = stage.speaker()
    other = stage.speaker()
    check_error(speaker.request("POST", "messages", type="direct", to=[other.id], content=" "))
    people = sorted([speaker.id, other.id])
    assert stage.sql("select count(*) from conversation where participants = %s::bigint[]", people) == [(0,)]
