"""What happens to messages while mails about them are written, which takes the worker a while if there are many."""

import time
from pathlib import Path

import pytest

from tests.features.notifications.test_missed_mail import parts
from tests.harness.mails import mails_to
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_success, eventually, unique

PEOPLE = 20
TROUBLE = '"mails about missed messages c'
LONG = "\n\n".join("*a* **b** `c` [x](http://e.example)" for _ in range(250))


class Crowd:
    """Many who missed a message in a channel, and long ones besides, so that their mails take seconds together."""

    def __init__(self, realm: Realm, stage: Stage, folder: Path) -> None:
        self.stage, self.folder = stage, folder
        self.people = [realm.speaker() for _ in range(PEOPLE)]
        self.channel = stage.channel(realm.owner, realm.member, *self.people, realm_id=realm.id)
        names = " ".join(f"@**|{person.id}**" for person in self.people)
        self.sent = realm.owner.send(self.channel.stream_id, "tea", f"{names} the first text")
        for number, person in enumerate(self.people):
            for part in range(2):
                realm.owner.send([person.id], content=f"{number} {part} {LONG}")
        waits = "select 1 from push_due join message on message.id = message_id where realm_id = %s"
        eventually(lambda: stage.sql(waits, realm.id) == [])

    @property
    def ids(self) -> list[int]:
        return [person.id for person in self.people]

    def write(self) -> None:
        """The worker has begun to write all of it."""
        self.stage.sql("update mail_batch set due = now() - interval '1 second' where user_id = any(%s)", self.ids)
        busy = """
        select 1 from pg_stat_activity
        where application_name like 'tertulia worker%%' and xact_start < clock_timestamp() - interval '50 ms'
        """
        eventually(lambda: self.stage.sql(busy))

    @property
    def is_written(self) -> bool:
        return len(self.waiting()) == 0

    def waiting(self) -> list[tuple[int]]:
        sql = "select distinct user_id from missed_message where user_id = any(%s) and message_id <> %s"
        return self.stage.sql(sql, self.ids, self.sent)

    def mailed(self, person: Speaker) -> str:
        sql = "select 1 from mail_batch where user_id = %s"
        eventually(lambda: self.stage.sql(sql, person.id) == [])
        eventually(lambda: self.stage.sql("select 1 from mail_outbox where recipient = %s", person.email) == [])
        return "".join(str(mail["Subject"]) + parts(mail)[0] for mail in mails_to(self.folder, person.email, 0))


@pytest.fixture
def crowd(realm: Realm, stage: Stage, folder_of_mails: Path) -> Crowd:
    return Crowd(realm, stage, folder_of_mails)


@pytest.mark.timed
@pytest.mark.slow
def test_whoever_deletes_a_message_waits_for_no_mail_about_it_which_is_not_sent(
    server: OwnServer, realm: Realm, crowd: Crowd
) -> None:
    before = server.log("worker").count(TROUBLE)
    crowd.write()
    realm.owner.delete(f"messages/{crowd.sent}")
    assert not crowd.is_written
    for person in crowd.people:
        told = crowd.mailed(person)
        assert "the first text" not in told
        assert "*a*" not in told
        assert " a b c x" in told
    assert server.log("worker").count(TROUBLE) == before


@pytest.mark.timed
@pytest.mark.slow
def test_what_is_moved_out_of_sight_while_mails_are_written_is_in_none_of_them(realm: Realm, crowd: Crowd) -> None:
    secret = realm.stage.channel(realm.owner, invite_only=True, realm_id=realm.id)
    topic = unique("secret topic")
    crowd.write()
    moved = realm.owner.request(
        "PATCH",
        f"messages/{crowd.sent}",
        stream_id=secret.stream_id,
        topic=topic,
        propagate_mode="change_one",
        send_notification_to_old_thread=False,
        send_notification_to_new_thread=False,
    )
    check_success(moved)
    check_success(realm.owner.request("PATCH", f"messages/{crowd.sent}", content="a secret text"))
    began = time.monotonic()
    assert not crowd.is_written
    for person in crowd.people:
        told = crowd.mailed(person)
        assert topic not in told
        assert secret.name not in told
        assert "secret text" not in told
        assert "the first text" not in told
    assert time.monotonic() - began < 60
