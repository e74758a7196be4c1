"""Whoever is subscribed stays active and keeps their role meanwhile; everything else of theirs goes on."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import GUEST, Channel
from tests.harness.stage import holds_up
from tests.harness.talk import Json, check_success, eventually

NOW = 3.0
"""Less than anybody waits for a lock before they are refused."""


@contextmanager
def subscribing(realm: Realm, channel: Channel) -> Iterator[Callable[[], None]]:
    """While the owner's subscribing of the member has everything but the channel's number of subscribers; ends it."""
    wanted = f'[{{"name": "{channel.name}"}}]'
    with realm.stage.session() as execute:
        execute("select from channel where id = %s for no key update", channel.stream_id)
        joining = realm.owner.later(
            "POST", "users/me/subscriptions", subscriptions=wanted, principals=[realm.member.id]
        )
        with pytest.raises(TimeoutError):
            joining.result(0.5)

        def end() -> None:
            execute("commit")
            check_success(joining.result(30))

        yield end


def test_people_who_are_being_subscribed_log_in_and_change_their_settings_at_once(realm: Realm) -> None:
    give_password(realm.stage, realm.member)
    with subscribing(realm, realm.stage.channel(realm.owner, realm_id=realm.id)) as end:
        began = time.monotonic()
        check_success(
            realm.member.later("POST", "fetch_api_key", username=realm.member.email, password=PASSWORD).result(NOW)
        )
        check_success(realm.member.later("PATCH", "settings", enter_sends=True).result(NOW))
        check_success(realm.member.later("POST", "users/me/status", status_text="Here").result(NOW))
        assert time.monotonic() - began < NOW
        end()


def test_whoever_is_being_subscribed_is_deactivated_afterwards(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm_id=realm.id)
    with subscribing(realm, channel) as end:
        going = realm.owner.later("DELETE", f"users/{realm.member.id}")
        with pytest.raises(TimeoutError):
            going.result(0.5)
        end()
        check_success(going.result(30))
    # The number is right: the member was counted, and then taken off.
    assert realm.stage.sql("select subscriber_count from channel where id = %s", channel.stream_id) == [(1,)]


def test_whoever_is_being_subscribed_gets_another_role_afterwards(realm: Realm) -> None:
    with subscribing(realm, realm.stage.channel(realm.owner, realm_id=realm.id)) as end:
        changing = realm.owner.later("PATCH", f"users/{realm.member.id}", role=GUEST)
        with pytest.raises(TimeoutError):
            changing.result(0.5)
        end()
        check_success(changing.result(30))


def test_a_bot_that_is_being_subscribed_follows_its_owners_role_and_gets_another_owner_afterwards(realm: Realm) -> None:
    bot = realm.bot(realm.member)
    for path, change in (
        (f"users/{realm.member.id}", {"role": GUEST}),
        (f"bots/{bot.id}", {"bot_owner_id": realm.owner.id}),
    ):
        with realm.stage.session() as execute:
            execute("select from account where id = %s for key share", bot.id)  # as whoever subscribes it does
            changing = realm.owner.later("PATCH", path, **change)
            with pytest.raises(TimeoutError):
                changing.result(0.5)
        check_success(changing.result(30))


def test_nobody_is_subscribed_who_is_being_deactivated(realm: Realm) -> None:
    old = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    new = realm.stage.channel(realm.owner, realm_id=realm.id)
    wanted = f'[{{"name": "{new.name}"}}]'
    with realm.stage.session() as execute:
        execute("select from channel where id = %s for no key update", old.stream_id)
        going = realm.owner.later("DELETE", f"users/{realm.member.id}")  # it waits for that channel's number
        with pytest.raises(TimeoutError):
            going.result(0.5)
        joining = realm.owner.later(
            "POST", "users/me/subscriptions", subscriptions=wanted, principals=[realm.member.id]
        )
        with pytest.raises(TimeoutError):
            joining.result(0.5)
    check_success(going.result(30))
    joining.result(30)
    rows = realm.stage.sql(
        "select is_active from subscription where channel_id = %s and user_id = %s", new.stream_id, realm.member.id
    )
    assert rows == []
    assert realm.stage.sql("select subscriber_count from channel where id = %s", new.stream_id) == [(1,)]


@pytest.mark.parametrize("act", ["subscribe", "unsubscribe", "describe"])
def test_whoever_is_turned_off_while_they_wait_for_a_channel_does_nothing_there(realm: Realm, act: str) -> None:
    admin, inside = realm.administrator, {realm.administrator.id, realm.member.id}
    channel = realm.stage.channel(admin, realm.member, invite_only=True, realm_id=realm.id)
    named = [{"name": channel.name}]
    acts: dict[str, tuple[str, str, Json]] = {
        "subscribe": ("POST", "users/me/subscriptions", {"subscriptions": named, "principals": [realm.moderator.id]}),
        "unsubscribe": (
            "DELETE",
            "users/me/subscriptions",
            {"subscriptions": [channel.name], "principals": [realm.member.id]},
        ),
        "describe": ("PATCH", f"streams/{channel.stream_id}", {"description": "Tea"}),
    }
    method, path, fields = acts[act]
    with realm.stage.session() as execute:
        execute("select from conversation where id = %s for update", channel.stream_id)
        acting = admin.later(method, path, **fields)
        eventually(lambda: holds_up(execute) or acting.done())
        realm.owner.delete(f"users/{admin.id}")
    acting.result(30)
    active = "select user_id from subscription where channel_id = %s and is_active"
    assert {user_id for (user_id,) in realm.stage.sql(active, channel.stream_id)} == inside
    assert realm.stage.sql("select description from channel where id = %s", channel.stream_id) == [("",)]
