"""GET /users (protocol/people.md#users)."""

import gzip

import pytest

from tests.harness.talk import Speaker, check_error, check_success


@pytest.mark.holds("users.answer")
def test_members_are_all_users_with_bots(member: Speaker, owner: Speaker, guest: Speaker, bot: Speaker) -> None:
    listed = member.get("users")["members"]
    ids = [record["user_id"] for record in listed]
    assert len(ids) == len(set(ids))
    assert {member.id, owner.id, guest.id, bot.id} <= set(ids)


@pytest.mark.holds("users.who")
def test_every_kind_of_user_may_ask(member: Speaker, guest: Speaker, bot: Speaker) -> None:
    for speaker in (member, guest, bot):
        assert speaker.id in {record["user_id"] for record in speaker.get("users")["members"]}


@pytest.mark.holds("users.user-ids")
def test_user_ids_limit_the_result_and_unknown_ones_are_dropped(member: Speaker, owner: Speaker) -> None:
    listed = member.get("users", user_ids=[owner.id, member.id, 999_999_999])["members"]
    assert sorted(record["user_id"] for record in listed) == sorted([owner.id, member.id])
    assert member.get("users", user_ids=[])["members"] == []


@pytest.mark.holds("users.user-ids")
def test_a_limited_list_shows_the_same_records(member: Speaker, owner: Speaker) -> None:
    [one] = member.get("users", user_ids=[owner.id], include_custom_profile_fields=True)["members"]
    everybody = member.get("users", include_custom_profile_fields=True)["members"]
    assert one in everybody


@pytest.mark.holds("users.user-ids")
@pytest.mark.parametrize("user_ids", ["1", "[1", '["1"]', "[1.5]", "[true]", '{"1":2}', ""])
def test_user_ids_is_a_list_of_integers(member: Speaker, user_ids: str) -> None:
    check_error(member.request("GET", "users", user_ids=user_ids))


@pytest.mark.holds("users.client-gravatar", "users.profile-fields")
@pytest.mark.parametrize("name", ["client_gravatar", "include_custom_profile_fields"])
@pytest.mark.parametrize("value", ["True", "1", '"true"', ""])
def test_the_flags_are_booleans(member: Speaker, name: str, value: str) -> None:
    check_error(member.request("GET", "users", **{name: value}))


@pytest.mark.holds("conventions.ignored-parameters", "users.answer")
def test_unknown_parameters_are_reported_and_the_list_is_complete(member: Speaker) -> None:
    reply = member.get("users", colour="red", b=1)
    assert reply["ignored_parameters_unsupported"] == ["b", "colour"]
    assert reply["members"] == member.get("users")["members"]


@pytest.mark.holds("users.open", "authentication.open-users")
def test_without_credentials_the_list_is_closed_unless_there_is_public_access(nobody: Speaker) -> None:
    reply = nobody.request("GET", "users")
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic ")


@pytest.mark.holds("users.unchanged")
def test_an_unchanged_list_is_not_sent_again(member: Speaker) -> None:
    first = member.request("GET", "users")
    check_success(first)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    again = member.http.request("GET", "users", headers={"If-None-Match": tag})
    if again.status_code == 200:  # somebody changed between the two: the server is shared
        tag = again.headers["etag"]
        again = member.http.request("GET", "users", headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert member.http.request("GET", "users", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.holds("users.unchanged")
def test_readers_who_see_different_things_have_different_tags(member: Speaker, guest: Speaker, owner: Speaker) -> None:
    tags = {speaker.request("GET", "users").headers["etag"] for speaker in (member, guest, owner)}
    assert len(tags) == 3


@pytest.mark.holds("users.unchanged")
def test_the_list_is_compressed_for_whoever_accepts_that(member: Speaker) -> None:
    plain = member.http.request("GET", "users", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with member.http.stream("GET", "users", headers={"Accept-Encoding": "gzip"}) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert "accept-encoding" in packed.headers["vary"].lower()
        raw = b"".join(packed.iter_raw())
    assert len(raw) < len(plain.content)
    assert gzip.decompress(raw).startswith(b'{"result":"success"')
    assert packed.headers["etag"] != plain.headers["etag"]


@pytest.mark.holds("conventions.head")
def test_head_answers_as_get_without_the_body(member: Speaker) -> None:
    head = member.http.request("HEAD", "users", headers={"Accept-Encoding": "identity"})
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) > 100
