"""Private channels that many see by their groups: whoever makes hundreds of them does not keep others waiting."""

import time
from contextlib import ExitStack

import pytest

from tertulia.kernel.db import Transaction
from tertulia.organization.groups.seers import seers_of
from tests.contract.groups import anonymous, make_group, system
from tests.harness.realm import Realm
from tests.harness.server import GUEST
from tests.harness.talk import check_success

PEOPLE, CHANNELS, GROUPS = 4000, 300, 200


def fill(realm: Realm) -> int:
    """A crowd; the group of all members."""
    realm.stage.sql(
        """
        insert into account (realm_id, email, email_key, full_name) select %s, address, address, 'Crowd' from (
            select 's' || number || '.' || %s || '@example.com' as address from generate_series(1, %s) as number
        ) as made
        """,
        *(realm.id, realm.id, PEOPLE),
    )
    realm.stage.sql("vacuum analyze account")
    return system(realm.member, "members")


@pytest.mark.timed
@pytest.mark.slow
def test_who_is_in_hundreds_of_them_is_deactivated_in_a_moment(realm: Realm) -> None:
    members, victim = fill(realm), realm.speaker()
    wanted = {"invite_only": True, "can_subscribe_group": members, "principals": [victim.id, realm.member.id]}
    realm.member.post("users/me/subscriptions", subscriptions=[{"name": f"P {n}"} for n in range(CHANNELS)], **wanted)
    began = time.monotonic()
    check_success(realm.owner.request("DELETE", f"users/{victim.id}"))
    assert time.monotonic() - began < 1.5, "it took 4 s, in which nobody joined the organization"
    ids = [row[0] for row in realm.stage.sql("select id from channel where realm_id = %s", realm.id)]

    async def ask(tx: Transaction) -> dict[int, tuple[int, ...]]:
        return await seers_of(tx, ids)

    asked = "select id from account where realm_id = %s and is_active and role < 600 order by id"
    everybody = tuple(row[0] for row in realm.stage.sql(asked, realm.id))
    assert realm.stage.write(ask) == dict.fromkeys(ids, everybody)


@pytest.mark.timed
@pytest.mark.slow
def test_who_puts_hundreds_of_groups_into_one_that_shows_a_channel_holds_nobody_up(realm: Realm) -> None:
    members = fill(realm)
    around = make_group(realm.member)
    realm.member.post(
        "channels/create", name="P", subscribers=[realm.member.id], invite_only=True, can_subscribe_group=around
    )
    made = [make_group(realm.member, subgroups=[members]) for _ in range(GROUPS)]
    began = time.monotonic()
    realm.member.post(f"user_groups/{around}/subgroups", add=made)
    assert time.monotonic() - began < 0.8, "it took 1.7 s and more, in which nobody else changed a group or a channel"


def test_a_channel_that_all_members_see_tells_them_together(realm: Realm) -> None:
    """Not each by name: of hundreds of channels that would be hundreds of megabytes of log."""
    bot = realm.bot(realm.member)
    members = system(realm.member, "members")
    named = {
        "can_subscribe_group": anonymous([bot.id], [members]),
        "can_administer_channel_group": anonymous([bot.id], []),
    }
    inside = [realm.guest.id, realm.member.id, bot.id]
    realm.member.post("channels/create", name="P", subscribers=inside, invite_only=True, **named)
    types = ["stream", "subscription", "message"]
    apart = realm.speaker(GUEST)
    with ExitStack() as stack:
        everybody = (realm.owner, realm.moderator, realm.guest, apart)
        queues = {one.id: stack.enter_context(one.register(event_types=types)) for one in everybody}
        realm.member.delete(f"bots/{bot.id}")
        heard = {
            user_id: sorted(str(event.get("property", event["op"])) for event in queue.so_far())
            for user_id, queue in queues.items()
        }
    told = ["can_administer_channel_group", "can_subscribe_group", "peer_remove"]
    assert heard == {realm.owner.id: told, realm.moderator.id: told, realm.guest.id: told, apart.id: []}
