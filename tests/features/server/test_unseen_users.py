"""A user whom a guest does not see is answered as one who is not there, on every endpoint that takes one (user_table.py)."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.features.tables.user_table import CALLS, Ask
from tests.harness.files import fetch
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import check_success, unique

NO_ID = 987_654_321


class Scene:
    """An organization whose guests see only some users, with a guest who may do as much as a guest can."""

    def __init__(self, stage: Stage) -> None:
        realm = Realm(stage)
        self.realm, self.guest = realm, realm.guest
        sql = """
        insert into realm_permission (realm_id, setting, group_id)
        select %s, 'can_access_all_users_group', id from user_group where realm_id = %s and name = 'role:members'
        """
        stage.sql(sql, realm.id, realm.id)
        # Real addresses are seen by everybody who sees the person: a guest may know one and try it out.
        stage.sql(
            "update account set settings = settings || '{\"email_address_visibility\": 1}' where realm_id = %s",
            realm.id,
        )
        home = stage.channel(realm.guest, realm_id=realm.id)
        mine = {"direct_members": [realm.guest.id], "direct_subgroups": []}
        rights = ("can_manage_group", "can_add_members_group", "can_remove_members_group", "can_join_group")
        name = unique("group")
        for settings in (dict.fromkeys(rights, mine), {"can_manage_group": mine}, {}):
            reply = realm.owner.request(
                "POST", "user_groups/create", name=name, description="", members=[realm.owner.id], **settings
            )
            if reply.status_code == 200:
                break
        groups = {one["name"]: one["id"] for one in realm.owner.get("user_groups")["user_groups"]}
        for right in ("can_administer_channel_group", "can_add_subscribers_group", "can_remove_subscribers_group"):
            realm.owner.request("PATCH", f"streams/{home.stream_id}", **{right: {"new": mine}})
        field = realm.owner.post("realm/profile_fields", name=unique("Mentor")[:40], field_type=6)
        self.things: dict[str, Any] = {
            "guest_id": realm.guest.id,
            "guest_email": realm.guest.email,
            "field": field["id"],
            "bot_id": realm.bot(realm.guest).id,
            "group_id": groups[name],
            "everyone_id": groups["role:everyone"],
            "channel": home.name,
            "channel_id": home.stream_id,
            "message_id": realm.guest.send(home.stream_id, "tea"),
            "draft_id": realm.guest.post("drafts", drafts=[{"type": "", "to": [], "topic": "", "content": "x"}])["ids"][0],
            "scheduled_id": realm.guest.post(
                "scheduled_messages", type="channel", to=home.stream_id, topic="tea", content="x",
                scheduled_delivery_timestamp=4_000_000_000,
            )["scheduled_message_id"],
        }  # fmt: skip

    def put(self, ask: Ask, user_id: int, email: str) -> tuple[int, str]:
        """The answer, without what was asked for."""
        values = {**self.things, "user": user_id, "email": email, "unique": unique("new").replace(" ", "")}
        path = re.sub(r"<(\w+)>", lambda found: str(values[found[1]]), ask.path)
        reply = self.guest.request(
            ask.method, path, **{name: fill(value, values) for name, value in ask.fields.items()}
        )
        text = reply.text
        for known, mark in ((email, "<email>"), (str(user_id), "<user>"), (values["unique"], "<unique>")):
            text = text.replace(known, mark)
        return reply.status_code, re.sub(r'"(queue_id|event_queue_longpoll_timeout_seconds|id|ids)":[^,}]+', "", text)


def fill(value: Any, values: dict[str, Any]) -> Any:
    """Put what is named by a text in angle brackets in its place."""
    if isinstance(value, str) and value.startswith("<"):
        return values[value[1:-1]]
    if isinstance(value, list):
        return [fill(one, values) for one in value]
    if isinstance(value, dict):
        return {key: fill(one, values) for key, one in value.items()}
    return value


@pytest.fixture(scope="module")
def scene(server: Server, backstage: Backstage) -> Iterator[Scene]:
    stage = Stage(server, backstage)
    try:
        yield Scene(stage)
    finally:
        stage.close()


@pytest.mark.parametrize("key", CALLS)
def test_a_user_who_is_not_seen_is_answered_as_one_who_is_not_there(scene: Scene, key: str) -> None:
    owner = scene.realm.owner
    for ask in CALLS[key]:
        hidden = [(owner.id, owner.email), (owner.id, f"user{owner.id}@{scene.realm.host}")]
        for user_id, email in hidden:
            made_up = f"user{NO_ID}@{scene.realm.host}" if email.startswith("user") else f"x{owner.email}"
            answers = scene.put(ask, user_id, email), scene.put(ask, NO_ID, made_up)
            assert answers[0] == answers[1], ask


def test_a_picture_does_not_tell_whether_somebody_is_there(scene: Scene) -> None:
    owner, member = scene.realm.owner, scene.realm.member
    seen = [fetch(scene.guest, f"/avatar/{user_id}") for user_id in (owner.id, member.id, NO_ID)]
    assert len({reply.status_code for reply in seen}) == 1


def test_members_of_groups_whom_a_guest_does_not_see_are_not_listed(scene: Scene) -> None:
    realm, guest = scene.realm, scene.guest
    hidden = {one.id for one in realm.all if one.id != guest.id}
    state = guest.post("register", event_types=["user_group"], fetch_event_types=["realm_user_groups"])
    lists = state["realm_user_groups"]
    for group in lists:
        assert not hidden & set(group["members"]), group["name"]
    assert any(guest.id in group["members"] for group in lists)
    everyone = next(group for group in realm.owner.get("user_groups")["user_groups"] if group["name"] == "role:members")
    assert realm.member.id in everyone["members"]
    fresh = realm.owner.post(
        "user_groups/create", name=unique("g"), description="", members=[realm.member.id, guest.id]
    )
    groups = realm.owner.get("user_groups")["user_groups"]
    fresh_id = fresh.get("group_id") or max(group["id"] for group in groups)
    check_success(realm.owner.request("POST", f"user_groups/{fresh_id}/members", add=[realm.moderator.id]))
    mark = guest.send([guest.id])
    del mark
    events = guest.get("events", queue_id=state["queue_id"], last_event_id=-1, dont_block=True)["events"]
    told = [event for event in events if event["type"] == "user_group"]
    assert told
    assert not any(
        str(one) in str(event.get("user_ids", event.get("group", {}).get("members")))
        for one in hidden
        for event in told
    )
