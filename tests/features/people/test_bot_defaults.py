"""A bot's default channels are named to who sees these channels, and to nobody else."""

from tertulia.conversations.channels.rights import MAY_SEE
from tertulia.organization.groups.seers import VISIBILITY_SETTINGS
from tertulia.organization.groups.visibility import knows_of
from tests.contract.groups import make_group
from tests.features.people.test_bot_rights import make
from tests.harness.channels import KINDS, change
from tests.harness.channels import make as make_channel
from tests.harness.realm import Realm
from tests.harness.talk import Queue, Speaker, check_success

TYPES = ["realm_bot", "message"]


def told(speaker: Speaker) -> str:
    """What somebody is told of bots: by their list, and by registering."""
    state = speaker.post("register", event_types=[], fetch_event_types=TYPES)
    return str(state["realm_bots"]) + str(speaker.get("bots"))


def test_who_was_removed_from_a_private_channel_does_not_learn_its_new_name(realm: Realm) -> None:
    channel = make_channel(realm, realm.member, kind="protected")
    bot = make(realm, realm.member)
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", default_sending_stream=channel.name))
    realm.owner.delete("users/me/subscriptions", subscriptions=[channel.name], principals=[realm.member.id])
    with (
        Queue(realm.member, event_types=TYPES, fetch_event_types=[]) as queue,
        Queue(realm.administrator, event_types=TYPES, fetch_event_types=[]) as seeing,
    ):
        change(realm.owner, channel, new_name="Merger with Initech")
        assert "Initech" not in str(queue.so_far())
        assert "Initech" in str(seeing.so_far())
    assert "Initech" not in str(realm.member.get("bots"))
    assert "Initech" not in str(realm.member.post("register", event_types=[], fetch_event_types=TYPES)["realm_bots"])
    assert (
        "Initech" not in check_success(realm.member.request("PATCH", f"bots/{bot.id}", full_name="Another")).__str__()
    )
    assert "Initech" in str(realm.administrator.post("register", event_types=[], fetch_event_types=TYPES)["realm_bots"])


def test_who_is_given_a_bot_does_not_learn_which_private_channel_it_wrote_to(realm: Realm) -> None:
    channel = make_channel(realm, realm.member, kind="protected")
    bot = make(realm, realm.member)
    check_success(realm.member.request("PATCH", f"bots/{bot.id}", default_sending_stream=channel.name))
    with Queue(realm.moderator, event_types=TYPES, fetch_event_types=[]) as queue:
        given = check_success(realm.member.request("PATCH", f"bots/{bot.id}", bot_owner_id=realm.moderator.id))
        assert given["default_sending_stream"] == channel.name  # who gives it sees the channel
        assert channel.name not in str(queue.so_far())
    assert channel.name not in told(realm.moderator)


def test_what_bots_are_told_of_is_what_channels_say_of_who_sees_them(realm: Realm) -> None:
    """`knows_of` is for features below that of channels: it has the answer of MAY_SEE."""
    for kind in KINDS:
        channel = make_channel(realm, realm.member, realm.guest, kind=kind)
        for setting, person in zip(
            VISIBILITY_SETTINGS, (realm.speaker(), realm.speaker(), realm.speaker()), strict=True
        ):
            realm.stage.add(channel, realm.administrator)
            group = make_group(realm.owner, [person.id, realm.guest.id])
            change(
                realm.owner if setting.startswith("can_administer") else realm.administrator,
                channel,
                **{setting: {"new": group}},
            )
    rows = realm.stage.sql(
        f"select {MAY_SEE}, {knows_of('account', 'channel')} from account join channel using (realm_id) where realm_id = %s",
        realm.id,
    )
    assert {row[0] for row in rows} == {True, False}
    assert all(sees == knows for sees, knows in rows)
