"""What settings do whose effect no other test shows. All of them are in docs/reference/switches.md."""

import pytest

from tests.contract.groups import system
from tests.contract.test_custom_emoji import png, upload
from tests.features.messaging.test_changing_messages import QUIET, age
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import Queue, Speaker, check_error, check_success, eventually, unique


@pytest.fixture
def channel(realm: Realm) -> Channel:
    return realm.stage.channel(realm.member, realm.owner, realm_id=realm.id)


def change(realm: Realm, **settings: object) -> None:
    check_success(realm.owner.request("PATCH", "realm", **settings))


def test_new_people_begin_in_the_language_of_the_organization(realm: Realm) -> None:
    def language() -> str:
        with Queue(realm.speaker(), event_types=[], fetch_event_types=["user_settings"]) as queue:
            return str(queue.state["user_settings"]["default_language"])

    assert language() == "en"
    change(realm, default_language="es")
    assert language() == "es"
    check_success(realm.owner.request("PATCH", "realm/user_settings_defaults", default_language="eu"))
    assert language() == "eu"


def test_texts_are_rendered_as_the_organization_says(realm: Realm, channel: Channel) -> None:
    def shown(text: str) -> str:
        sent = realm.member.send(channel.stream_id, "topic", text)
        return str(realm.member.message(sent)["content"])

    code, picture = "```\nx = 1\n```", "https://example.com/lamp.png"
    assert 'data-code-language="Python"' not in shown(code)
    assert "message_inline_image" in shown(picture)
    change(realm, default_code_block_language="python", inline_image_preview=False)
    assert 'data-code-language="Python"' in shown(code)
    assert "message_inline_image" not in shown(picture)


def test_limits_in_time_are_those_of_the_organization(realm: Realm, channel: Channel) -> None:
    other = realm.stage.channel(realm.member, realm_id=realm.id)
    sent = realm.member.send(channel.stream_id, "topic")
    age(realm.stage, 3600, sent)
    moves = ({"topic": "second"}, {"stream_id": other.stream_id})
    change(
        realm,
        message_content_delete_limit_seconds=1800,
        move_messages_within_stream_limit_seconds=1800,
        move_messages_between_streams_limit_seconds=1800,
    )
    check_error(realm.member.request("DELETE", f"messages/{sent}"))
    for fields in moves:
        check_error(realm.member.request("PATCH", f"messages/{sent}", **fields, **QUIET))
    change(realm, move_messages_within_stream_limit_seconds=7200)
    check_success(realm.member.request("PATCH", f"messages/{sent}", **moves[0], **QUIET))
    check_error(realm.member.request("PATCH", f"messages/{sent}", **moves[1], **QUIET))
    change(realm, move_messages_between_streams_limit_seconds=7200)
    check_success(realm.member.request("PATCH", f"messages/{sent}", **moves[1], **QUIET))
    change(realm, message_content_delete_limit_seconds=7200)
    check_success(realm.member.request("DELETE", f"messages/{sent}"))


def test_emoji_and_groups_are_made_by_those_who_may(realm: Realm) -> None:
    def emoji() -> object:
        return upload(realm.member, unique("emoji").replace(" ", "_"), png()).json()["result"]

    def group() -> object:
        fields = {"name": unique("group"), "description": "", "members": [realm.member.id]}
        return realm.member.request("POST", "user_groups/create", **fields).json()["result"]

    assert (emoji(), group()) == ("success", "success")
    owners = {"new": system(realm.owner, "owners")}
    change(realm, can_add_custom_emoji_group=owners)
    assert (emoji(), group()) == ("error", "success")
    change(realm, can_create_groups=owners)
    assert group() == "error"


def test_missed_messages_are_collected_as_long_as_somebody_says(realm: Realm) -> None:
    def waits(person: Speaker) -> int:
        sql = "select extract(epoch from due - now())::int from mail_batch where user_id = %s"
        realm.owner.send([person.id])
        eventually(lambda: realm.stage.sql(sql, person.id) != [])
        [(seconds,)] = realm.stage.sql(sql, person.id)
        return int(seconds)

    assert 60 < waits(realm.member) <= 120
    check_success(realm.moderator.request("PATCH", "settings", email_notifications_batching_period_seconds=40_000))
    assert 39_940 < waits(realm.moderator) <= 40_000
