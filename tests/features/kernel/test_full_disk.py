"""PostgreSQL's disk is full: nothing is stored, callers are told to come back, and what they repeat is stored once."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.stage import Stage
from tests.harness.talk import check_error, unique

FAIL = """
create function no_room() returns trigger language plpgsql as $$
begin
    raise exception 'could not extend file: No space left on device' using errcode = '53100';
end $$
"""


@contextmanager
def full_disk(stage: Stage, key: str) -> Iterator[None]:
    """For whatever is sent with that key."""
    stage.sql(FAIL)
    try:
        stage.sql(
            "create trigger no_room before insert on sent_request"
            f" for each row when (new.key = '{key}') execute function no_room()"
        )
        yield
    finally:
        stage.sql("drop function no_room cascade")


def test_who_sends_while_the_disk_is_full_is_told_to_come_back_and_the_repeat_is_stored_once(stage: Stage) -> None:
    speaker = stage.speaker()
    channel = stage.channel(speaker)
    key = unique("key")
    fields = {"type": "channel", "to": str(channel.stream_id), "topic": "full", "content": "Is there room?"}
    with full_disk(stage, key):
        reply = speaker.http.post("messages", data=fields, headers={"Idempotency-Key": key})
        check_error(reply, "SERVER_NOT_READY", 503)
        assert int(reply.headers["retry-after"]) >= 1
        speaker.send(channel.stream_id, "full", "Others go on")
    for _ in range(2):
        assert speaker.http.post("messages", data=fields, headers={"Idempotency-Key": key}).status_code == 200
    assert stage.sql("select count(*) from message where conversation_id = %s", channel.stream_id) == [(2,)]
