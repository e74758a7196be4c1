"""The status and its fields, as they come back (protocol/records.md#status)."""

import pytest

from tests.harness.talk import Json, Speaker, check_error

SMILE = {"emoji_name": "smile", "emoji_code": "1f604", "reaction_type": "unicode_emoji"}
KEYCAP = {"emoji_name": "zero", "emoji_code": "0030-20e3", "reaction_type": "unicode_emoji"}
EXTRA = {"emoji_name": "tertulia", "emoji_code": "tertulia", "reaction_type": "service_extra_emoji"}


def status(speaker: Speaker, user_id: int) -> Json:
    found: Json = speaker.get(f"users/{user_id}/status")["status"]
    return found


def listed(speaker: Speaker, **options: object) -> dict[str, Json]:
    state = speaker.post("register", event_types=[], fetch_event_types=["user_status"], **options)
    speaker.delete("events", queue_id=state["queue_id"])
    found: dict[str, Json] = state["user_status"]
    return found


@pytest.mark.holds("status.only-set")
def test_only_what_is_set_is_there(newcomer: Speaker, member: Speaker) -> None:
    assert status(member, newcomer.id) == {}
    assert str(newcomer.id) not in listed(member)
    newcomer.post("users/me/status", status_text="At the mill")
    assert status(member, newcomer.id) == {"status_text": "At the mill"}
    newcomer.post("users/me/status", **SMILE)
    whole = {"status_text": "At the mill", **SMILE}
    assert status(member, newcomer.id) == listed(member)[str(newcomer.id)] == whole


@pytest.mark.holds("status.text", "set-status.text")
def test_the_empty_text_clears_the_text_and_nothing_else(newcomer: Speaker) -> None:
    newcomer.post("users/me/status", status_text="Busy", emoji_name="smile")
    newcomer.post("users/me/status", status_text="")
    assert status(newcomer, newcomer.id) == SMILE
    newcomer.post("users/me/status", emoji_name="")
    assert status(newcomer, newcomer.id) == {}
    assert str(newcomer.id) not in listed(newcomer)


@pytest.mark.holds("status.emoji", "status.reaction-type", "set-status.unicode-code", "set-status.extra-code")
@pytest.mark.parametrize("sent", [SMILE, KEYCAP, EXTRA, EXTRA | {"reaction_type": "zulip_extra_emoji"}], ids=str)
def test_an_emoji_is_of_one_of_three_types(newcomer: Speaker, sent: dict[str, str]) -> None:
    newcomer.post("users/me/status", **sent)
    assert status(newcomer, newcomer.id) == (sent if sent in (SMILE, KEYCAP) else EXTRA)


@pytest.mark.holds("status.older-spelling")
def test_existing_clients_know_an_older_spelling(newcomer: Speaker) -> None:
    newcomer.post("users/me/status", **EXTRA)
    assert listed(newcomer, client="ZulipMobile")[str(newcomer.id)]["reaction_type"] == "zulip_extra_emoji"
    assert listed(newcomer)[str(newcomer.id)]["reaction_type"] == "service_extra_emoji"


@pytest.mark.holds("status.text", "limits.status-text")
def test_sixty_characters_fit_and_no_more(newcomer: Speaker) -> None:
    newcomer.post("users/me/status", status_text=" " + "ü" * 60 + " ")
    assert status(newcomer, newcomer.id) == {"status_text": "ü" * 60}
    check_error(newcomer.request("POST", "users/me/status", status_text="ü" * 61))


@pytest.mark.holds("status.away", "versioning.deprecated-away")
def test_away_is_the_inverse_of_being_present(newcomer: Speaker, member: Speaker) -> None:
    newcomer.post("users/me/status", away=True)
    assert status(member, newcomer.id) == listed(member)[str(newcomer.id)] == {"away": True}
    settings = newcomer.post("register", event_types=[], fetch_event_types=["user_settings"])["user_settings"]
    assert settings["presence_enabled"] is False
    newcomer.request("PATCH", "settings", presence_enabled=True)
    assert status(member, newcomer.id) == {}
