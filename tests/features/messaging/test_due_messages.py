"""What is due at one moment for many, or for one person in great number: whose turn it is."""

from tertulia.kernel.db import Transaction
from tertulia.messaging.reminders.queries import take_due
from tertulia.messaging.scheduled.queries import claim_due
from tests.harness.realm import Realm


def test_whoever_scheduled_many_short_messages_keeps_nobody_elses_waiting(realm: Realm) -> None:
    channel = realm.stage.channel(realm.member, realm.owner, realm_id=realm.id)
    sql = """
    insert into scheduled_message (realm_id, user_id, channel_id, topic, content, rendered, client, read, due)
    select realm_id, id, $2, 'tea', id::text, '<p>x</p>', 'test', false, now() - make_interval(secs => $3)
    from account, generate_series(1, $4) where id = $1
    """

    async def claimed(tx: Transaction) -> list[str]:
        await tx.execute(sql, realm.member.id, channel.stream_id, 10, 150)
        await tx.execute(sql, realm.owner.id, channel.stream_id, 1, 2)
        due = await claim_due(tx, 100, 5_000, 600.0)
        # Nobody but this transaction ever sees them.
        await tx.execute("delete from scheduled_message where realm_id = $1", realm.id)
        return [row["content"] for row in due if row["channel_id"] == channel.stream_id]

    found = realm.stage.write(claimed)
    assert found.count(str(realm.owner.id)) == 2
    assert found.count(str(realm.member.id)) > 50


def test_whoever_has_many_reminders_keeps_nobody_elses_waiting(realm: Realm) -> None:
    message = realm.member.send([realm.owner.id], content="tea?")
    sql = """
    insert into reminder (realm_id, user_id, message_id, note, rendered_note, due)
    select realm_id, id, $2, '', '', now() - make_interval(secs => $3) from account, generate_series(1, $4) where id = $1
    """

    async def taken(tx: Transaction) -> list[int]:
        await tx.execute(sql, realm.member.id, message, 10, 150)
        await tx.execute(sql, realm.owner.id, message, 1, 2)
        due = await take_due(tx, 100)
        await tx.execute("delete from reminder where realm_id = $1", realm.id)
        return [one.user_id for one in due if one.realm_id == realm.id]

    found = realm.stage.write(taken)
    assert (found.count(realm.owner.id), len(found) > 50) == (2, True)
