"""PATCH /realm: what may be set, by whom, and that everybody hears of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import asyncpg
import httpx
import pytest

import tertulia.organization.realms.routes
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import collect
from tertulia.kernel.http import Api
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.settings import CHANGEABLE, OWNERS_DECIDE, RealmSettings
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Web
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success

# A value that is not the default, for every setting that can be changed.
OTHER: dict[str, Any] = {
    "topics_policy": "disable_empty_topic",
    "default_language": "eu",
    "default_code_block_language": "python",
    "message_edit_history_visibility_policy": "moves",
    "digest_weekday": 3,
    "media_preview_size": 150,
    "waiting_period_threshold": 3,
    "second_factor_rule": "administrators",
    "second_factor_grace_days": 3,
    "video_chat_provider": 0,
    "jitsi_server_url": "https://meet.example.org/rooms",
    "gif_rating_policy": 2,
    "org_type": 10,
    "welcome_message_custom_text": "Come in.",
    "message_content_edit_limit_seconds": 60,
    "message_content_delete_limit_seconds": 61,
    "move_messages_within_stream_limit_seconds": 62,
    "move_messages_between_streams_limit_seconds": 63,
    "message_retention_days": 30,
    "audit_log_retention_days": 90,
    "name": "Plaza",
    "description": "Where <people> meet",
}
BAD: dict[str, list[Any]] = {
    "name": ["", " ", "x" * 41],
    "description": ["x" * 1001],
    "topics_policy": ["inherit", "empty_topic_only", "x"],
    "default_language": ["tlh", ""],
    "message_edit_history_visibility_policy": ["some"],
    "digest_weekday": [7, -1, "monday"],
    "jitsi_server_url": [
        "",
        "meet.example.org",
        "http://meet.example.org",
        "javascript:alert(1)",
        "https://x/?a",
        "https://x/a)b",
    ],
    "waiting_period_threshold": [-1, 4000],
    "enable_read_receipts": [1, "yes"],
    "new_stream_announcements_stream_id": ["x", 1.5, "[1]"],
}


def changed(realm: Realm, **values: Any) -> Json:
    return check_success(realm.owner.request("PATCH", "realm", **values))


def realm_queue(speaker: Speaker) -> Queue:
    return Queue(speaker, event_types=["realm", "message"], fetch_event_types=["realm"])


def applied(state: Json, events: list[Json]) -> Json:
    """The state as a client keeps it."""
    new = {key: value for key, value in state.items() if key.startswith("realm_")}
    for event in events:
        data = event["data"] if event["op"] == "update_dict" else {event["property"]: event["value"]}
        new |= {f"realm_{name}": value for name, value in data.items()}
    return new


def test_every_setting_can_be_changed_and_everybody_hears_of_it(realm: Realm) -> None:
    public = realm.stage.channel(realm.owner, realm_id=realm.id)
    private = realm.stage.channel(realm.owner, invite_only=True, realm_id=realm.id)
    default = RealmSettings()
    with realm_queue(realm.guest) as queue:
        for name in [*CHANGEABLE, "name", "description"]:
            value = OTHER.get(name)
            if value is None:
                old = getattr(default, name)
                channel = private if name == "moderation_request_channel_id" else public
                value = (not old) if isinstance(old, bool) else channel.stream_id
            changed(realm, **{name: value})
        heard = queue.so_far()
        with realm_queue(realm.guest) as later:
            state = later.state
        assert applied(queue.state, heard) == applied(state, [])
    assert {key: value for key, value in state.items() if value == queue.state[key]}.keys().isdisjoint(
        f"realm_{name}" for name in CHANGEABLE
    )
    assert (state["realm_mandatory_topics"], state["realm_allow_edit_history"]) == (True, True)
    assert realm.owner.get("server_settings")["realm_description"] == "<p>Where &lt;people&gt; meet</p>"


def test_calls_are_at_the_operators_server_unless_the_organization_names_its_own(realm: Realm, other_web: Web) -> None:
    def servers(**changes: str) -> tuple[str | None, ...]:
        if changes:
            changed(realm, **changes)
        there = realm.as_user(realm.guest.user, url=other_web.url)
        with realm_queue(there) as queue:
            keys = ("server_jitsi_server_url", "jitsi_server_url", "realm_jitsi_server_url")
            return tuple(queue.state[key] for key in keys)

    operators = "https://meet.example.net"
    with realm_queue(realm.guest) as queue:
        assert (queue.state["server_jitsi_server_url"], queue.state["jitsi_server_url"]) == (None, None)
        assert servers() == (operators, operators, None)
        own = "https://calls.example.org/rooms"
        assert servers(jitsi_server_url=f"{own}/") == (operators, operators, own)
        assert servers(jitsi_server_url="default") == (operators, operators, None)
        heard = [event["value"] for event in queue.so_far() if event.get("property") == "jitsi_server_url"]
        assert heard == [own, None]


def test_a_value_that_is_the_present_one_tells_nothing(realm: Realm) -> None:
    changed(realm, enable_read_receipts=True, name="Plaza")
    with realm_queue(realm.member) as queue:
        changed(realm, enable_read_receipts=True, name=" Plaza ", waiting_period_threshold=0)
        assert queue.so_far() == []


def test_limits_may_be_unlimited(realm: Realm) -> None:
    changed(realm, message_content_edit_limit_seconds='"unlimited"', message_retention_days='"unlimited"')
    with realm_queue(realm.owner) as queue:
        assert queue.state["realm_message_content_edit_limit_seconds"] is None
        assert queue.state["realm_message_retention_days"] == -1


@pytest.mark.parametrize("name", ["message_content_edit_limit_seconds", "message_retention_days"])
def test_limits_are_positive(realm: Realm, name: str) -> None:
    for value, sent in ((0, 0), (-5, -5), ('"soon"', "soon")):
        reply = realm.owner.request("PATCH", "realm", **{name: value})
        check_error(reply, "REQUEST_VARIABLE_INVALID", var_name=name, bad_value=sent)


def test_wrong_values_are_refused_and_nothing_changes(realm: Realm) -> None:
    with realm_queue(realm.owner) as queue:
        for name, values in BAD.items():
            for value in values:
                check_error(realm.owner.request("PATCH", "realm", **{"send_welcome_emails": False, name: value}))
        assert queue.so_far() == []


def test_name_and_description_are_measured_after_trimming(realm: Realm) -> None:
    changed(realm, name=f"  {'x' * 40} ", description=f"\n{'x' * 1000} ")
    with realm_queue(realm.owner) as queue:
        assert (queue.state["realm_name"], queue.state["realm_description"]) == ("x" * 40, "x" * 1000)


def test_a_channel_out_of_reach_cannot_be_named(realm: Realm) -> None:
    hidden = realm.stage.channel(realm.member, invite_only=True, realm_id=realm.id)
    for channel_id in (hidden.stream_id, realm.stage.channel().stream_id, 999_999_999, 0, -2):
        reply = realm.owner.request("PATCH", "realm", signup_announcements_stream_id=channel_id)
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=channel_id)


def test_administrators_change_settings_and_owners_some_more(realm: Realm) -> None:
    for name in CHANGEABLE:
        value = OTHER.get(name, True)
        for who in (realm.moderator, realm.member, realm.guest):
            check_error(who.request("PATCH", "realm", **{name: value}), "UNAUTHORIZED_PRINCIPAL")
        if name in OWNERS_DECIDE:
            check_error(realm.administrator.request("PATCH", "realm", **{name: value}), "UNAUTHORIZED_PRINCIPAL")
    check_success(realm.administrator.request("PATCH", "realm", enable_read_receipts=True, name="Another name"))


def test_changing_what_guests_see_ends_their_queues(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    with realm_queue(realm.guest) as guest, realm_queue(realm.member) as member:
        changed(realm, can_access_all_users_group={"new": groups["role:members"]})
        [event] = member.so_far()
        assert event["data"] == {"can_access_all_users_group": groups["role:members"]}
        reply = guest.request()
        assert reply.json()["code"] == "BAD_EVENT_QUEUE_ID"


# A server of many organizations


@asynccontextmanager
async def nobody_at_home(server: Server) -> AsyncIterator[Reader]:
    """The database as if no organization lived at the server's own address; this is never committed."""
    connection = await asyncpg.connect(server.postgres_url)
    try:
        await connection.execute("begin; update realm set subdomain = 'moved-away' where subdomain = ''")
        yield Reader(connection)
    finally:
        await connection.close()


@pytest.mark.holds("server-settings.root")
async def test_where_no_organization_lives_the_server_speaks_of_itself_alone(server: Server) -> None:
    reader = partial(nobody_at_home, server)
    api = Api(collect(tertulia.organization.realms.routes), services={Settings: Settings()}, scopes={Reader: reader})
    transport = httpx.ASGITransport(app=api)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost/api/v1/") as client:
        body = check_success(await client.get("server_settings"))
        assert {"service_version", "service_feature_level", "zulip_version", "is_incompatible"} <= body.keys()
        assert not [key for key in body if key.startswith("realm_")]
        assert not any(body["authentication_methods"].values())
        assert body["external_authentication_methods"] == []
        for host in ("nobody.localhost", "elsewhere.example"):
            reply = await client.get("server_settings", headers={"Host": host})
            check_error(reply, "NONEXISTENT_SUBDOMAIN", 404)
