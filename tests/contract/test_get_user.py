"""GET /users/{user_id} and /users/{email} (protocol/people.md#user-by-id)."""

import pytest

from tests.harness.talk import Speaker, check_error


@pytest.mark.holds("user-by-id.answer", "user-by-id.path")
def test_user_is_one_record_of_the_list(member: Speaker, owner: Speaker, bot: Speaker, guest: Speaker) -> None:
    everybody = {record["user_id"]: record for record in member.get("users")["members"]}
    for speaker in (member, owner, bot, guest):
        assert member.get(f"users/{speaker.id}")["user"] == everybody[speaker.id]


@pytest.mark.holds("user-by-id.parameters", "user.profile-data-asked")
def test_profile_data_comes_if_asked_for(member: Speaker, owner: Speaker, bot: Speaker) -> None:
    assert "profile_data" not in member.get(f"users/{owner.id}")["user"]
    assert "profile_data" in member.get(f"users/{owner.id}", include_custom_profile_fields=True)["user"]
    assert "profile_data" not in member.get(f"users/{bot.id}", include_custom_profile_fields=True)["user"]


@pytest.mark.holds("user-by-id.parameters", "user.avatar-url")
def test_the_client_may_not_be_asked_to_find_our_avatars(member: Speaker, owner: Speaker) -> None:
    for asked in (True, False):
        assert member.get(f"users/{owner.id}", client_gravatar=asked)["user"]["avatar_url"]


@pytest.mark.holds("user-by-id.unknown")
@pytest.mark.parametrize("user_id", ["0", "999999999", "9223372036854775807"])
def test_an_unknown_user_is_a_bad_request(member: Speaker, user_id: str) -> None:
    assert check_error(member.request("GET", f"users/{user_id}")) == "No such user"


@pytest.mark.holds("users.who", "authentication.missing")
def test_guests_and_bots_may_ask_but_nobody_may_not(
    guest: Speaker, bot: Speaker, nobody: Speaker, owner: Speaker
) -> None:
    assert guest.get(f"users/{owner.id}")["user"]["user_id"] == owner.id
    assert bot.get(f"users/{owner.id}")["user"]["user_id"] == owner.id
    check_error(nobody.request("GET", f"users/{owner.id}"), "UNAUTHORIZED", 401)


@pytest.mark.holds("user-by-id.by-email")
def test_a_user_is_found_by_their_address_in_any_case(member: Speaker, owner: Speaker) -> None:
    for email in (owner.email, owner.email.upper()):
        assert member.get(f"users/{email}")["user"] == member.get(f"users/{owner.id}")["user"]


@pytest.mark.holds("user-by-id.by-email", "user-by-id.unknown")
@pytest.mark.parametrize("email", ["nobody@nowhere.example", "somebody", "1e5", "-1"])
def test_an_unknown_address_is_a_bad_request(member: Speaker, email: str) -> None:
    assert check_error(member.request("GET", f"users/{email}")) == "No such user"


@pytest.mark.holds("conventions.ignored-parameters")
def test_unknown_parameters_are_reported(member: Speaker) -> None:
    assert member.get(f"users/{member.id}", q=1)["ignored_parameters_unsupported"] == ["q"]
