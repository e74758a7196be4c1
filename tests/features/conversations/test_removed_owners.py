"""The bots of somebody who is removed from a private channel."""

from tests.harness.channels import make
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success


def removed(speaker: Speaker, channel: Channel, *who: Speaker) -> Json:
    fields = {"subscriptions": [channel.name], "principals": [one.id for one in who]}
    return check_success(speaker.request("DELETE", "users/me/subscriptions", **fields))


def test_who_is_removed_from_a_private_channel_does_not_read_on_by_a_bot(realm: Realm) -> None:
    bot, other = realm.bot(realm.member), realm.bot(realm.moderator)
    channel = make(realm, realm.owner, realm.member, realm.moderator, bot, other, kind="shared")
    public = make(realm, realm.owner, realm.member, bot)
    answer = removed(realm.owner, channel, realm.member)
    assert (answer["removed"], answer["not_removed"]) == ([channel.name], [])
    removed(realm.owner, public, realm.member)
    inside = {realm.owner.id, realm.moderator.id, other.id}
    assert set(realm.owner.get(f"streams/{channel.stream_id}/members")["subscribers"]) == inside
    assert bot.id in realm.owner.get(f"streams/{public.stream_id}/members")["subscribers"]
    sent = realm.owner.send(channel.stream_id, "topic")
    check_error(bot.request("GET", f"messages/{sent}"))
    assert other.message(sent)["id"] == sent


def test_who_leaves_a_private_channel_leaves_a_bot_there_that_others_see(realm: Realm) -> None:
    bot, named = realm.bot(realm.member), realm.bot(realm.member)
    channel = make(realm, realm.owner, realm.member, bot, named, kind="shared")
    removed(realm.member, channel, realm.member)
    assert set(realm.owner.get(f"streams/{channel.stream_id}/members")["subscribers"]) == {
        realm.owner.id, bot.id, named.id,
    }  # fmt: skip
    answer = removed(realm.owner, channel, bot)
    assert answer["removed"] == [channel.name]
