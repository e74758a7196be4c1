"""Lists of subscribers of many large channels: who asks for all of them waits for that, and nobody else does."""

import pytest

from tests.harness.realm import Realm
from tests.harness.talk import check_success
from tests.harness.waits import waits_of

CHANNELS, PEOPLE = 150, 8000
SHORT_SECONDS = 0.16
TRIES = 8
"""What the machine does besides is in a wait as well: one that is short shows that none has to be longer."""


def fill(realm: Realm) -> None:
    """Channels like one that is there, each with the same crowd."""
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    with realm.stage.session() as execute:
        execute("set local session_replication_role = replica")  # each row would be looked up in two tables
        execute(
            """
            with person as (
                insert into account (realm_id, email, email_key, full_name)
                select %s, address, address, 'Crowd' from (
                    select 's' || number || '.' || %s || '@example.com' as address from generate_series(1, %s) as number
                ) as made returning id
            ), made as (
                insert into conversation (realm_id) select %s from generate_series(1, %s) returning id
            ), copied as (
                insert into channel select (jsonb_populate_record(channel, jsonb_build_object(
                    'id', made.id, 'name', 'c' || made.id, 'name_key', 'c' || made.id, 'subscriber_count', %s
                ))).* from made join channel on channel.id = %s
            )
            insert into subscription (user_id, channel_id, color) select person.id, made.id, '#aabbcc' from person, made
            """,
            *(realm.id, realm.id, PEOPLE, realm.id, CHANNELS, PEOPLE, channel.stream_id),
        )
    realm.stage.sql("vacuum analyze subscription")


@pytest.mark.timed
@pytest.mark.slow
def test_nobody_waits_while_somebody_registers_with_all_subscribers_of_all_channels(realm: Realm) -> None:
    fill(realm)
    fetched = {"fetch_event_types": ["subscription"], "event_types": [], "include_subscribers": True}
    longest: list[float] = []
    replies = []
    while len(longest) < TRIES and min(longest, default=SHORT_SECONDS) >= SHORT_SECONDS:
        with waits_of(realm.stage.nobody(host=realm.host)) as waits:
            replies.append(realm.member.request("POST", "register", **fetched))
        longest.append(max(waits))
    state = check_success(replies[-1])
    large = [channel for channel in state["never_subscribed"] if channel["subscriber_count"] == PEOPLE]
    assert len(large) == CHANNELS
    for channel in large[::30]:
        assert len(channel["subscribers"]) == PEOPLE
        assert channel["subscribers"] == sorted(channel["subscribers"])
    asked = realm.member.get(f"streams/{large[0]['stream_id']}/members")
    assert asked["subscribers"] == large[0]["subscribers"]
    assert min(longest) < SHORT_SECONDS, "they waited 0.25 s and more, for as long as there are numbers"
