"""GET /users/me (protocol/people.md#user-by-id)."""

import re

import pytest

from tests.harness.server import Server
from tests.harness.talk import Speaker, speaking

TYPES: dict[str, object] = {
    "user_id": int,
    "delivery_email": str,
    "email": str,
    "full_name": str,
    "date_joined": str,
    "is_active": bool,
    "is_owner": bool,
    "is_admin": bool,
    "is_guest": bool,
    "is_bot": bool,
    "role": int,
    "timezone": str,
    "avatar_version": int,
    "is_imported_stub": bool,
    "max_message_id": int,
}


@pytest.mark.holds("user-by-id.me")
def test_the_record_lies_at_the_top_of_the_answer_with_every_field(member: Speaker) -> None:
    own = member.get("users/me")
    assert {name: type(own[name]) for name in TYPES} == TYPES
    assert isinstance(own["avatar_url"], str | None)
    assert (own["user_id"], own["email"], own["delivery_email"]) == (member.id, member.email, member.email)
    assert own["is_active"] is True


@pytest.mark.holds("user-by-id.me", "user.profile-data-people", "user.bot-type")
def test_a_person_has_profile_data_and_no_bot_type(member: Speaker) -> None:
    own = member.get("users/me")
    assert (own["is_bot"], own["bot_type"], own["profile_data"]) == (False, None, {})
    assert "bot_owner_id" not in own


@pytest.mark.holds("user-by-id.me", "user.profile-data-people", "user.bot-owner")
def test_a_bot_has_a_type_and_an_owner_and_no_profile_data(bot: Speaker, owner: Speaker) -> None:
    own = bot.get("users/me")
    assert (own["is_bot"], own["bot_type"], own["bot_owner_id"]) == (True, 1, owner.id)
    assert "profile_data" not in own


@pytest.mark.holds("user.role")
def test_the_role_and_its_words_agree(server: Server) -> None:
    people = {
        server.owner: (100, True, True, False),
        server.administrator: (200, False, True, False),
        server.moderator: (300, False, False, False),
        server.members[0]: (400, False, False, False),
        server.guest: (600, False, False, True),
    }
    for user, expected in people.items():
        with speaking(server, user) as speaker:
            own = speaker.get("users/me")
        assert tuple(own[key] for key in ("role", "is_owner", "is_admin", "is_guest")) == expected


@pytest.mark.holds("user.date-joined")
def test_the_time_of_joining_has_minutes_and_a_zone(member: Speaker) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00", member.get("users/me")["date_joined"])


@pytest.mark.holds("user-by-id.me")
def test_the_newest_message_is_the_last_one_received(member: Speaker, other: Speaker, owner: Speaker) -> None:
    sent = other.send([member.id])
    other.send([owner.id])
    assert member.get("users/me")["max_message_id"] == sent
