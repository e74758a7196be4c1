"""POST /channel_folders/create (protocol/channels.md#create-folder)."""

import time

import pytest

from tests.contract.folders import folder_of, folders_of, heard, listening, make_folder
from tests.harness.server import Server
from tests.harness.talk import Speaker, check_error, speaking, unique

CREATE = "channel_folders/create"


@pytest.mark.holds("create-folder.answer", "folder.id")
def test_the_answer_is_the_id_of_the_new_folder(owner: Speaker, member: Speaker) -> None:
    name, before = unique("folder"), int(time.time())
    reply = owner.post(CREATE, name=name, description="What for")
    assert set(reply) == {"result", "msg", "channel_folder_id"}
    found = folder_of(member, reply["channel_folder_id"])
    assert before - 2 <= found.pop("date_created") <= time.time() + 2
    assert found == {
        "id": reply["channel_folder_id"],
        "name": name,
        "description": "What for",
        "rendered_description": "<p>What for</p>",
        "order": reply["channel_folder_id"],
        "creator_id": owner.id,
        "is_archived": False,
    }


@pytest.mark.holds(
    "create-folder.administrators",
    "create-folder.refused",
    "authentication.administrators",
    "errors.unauthorized-principal",
)
@pytest.mark.parametrize("who", ["member", "guest", "bot"])
def test_only_administrators_make_folders(request: pytest.FixtureRequest, who: str) -> None:
    speaker: Speaker = request.getfixturevalue(who)
    before = folders_of(speaker)
    reply = speaker.request("POST", CREATE, name=unique("folder"), description="")
    check_error(reply, "UNAUTHORIZED_PRINCIPAL")
    assert folders_of(speaker) == before


@pytest.mark.holds("create-folder.administrators", "create-folder.refused")
def test_an_administrator_needs_not_be_an_owner_and_a_moderator_is_none(server: Server, owner: Speaker) -> None:
    with speaking(server, server.administrator) as administrator, speaking(server, server.moderator) as moderator:
        assert folder_of(owner, make_folder(administrator))["creator_id"] == administrator.id
        check_error(moderator.request("POST", CREATE, name=unique("folder"), description=""), "UNAUTHORIZED_PRINCIPAL")


@pytest.mark.holds("create-folder.name", "create-folder.description")
@pytest.mark.parametrize("missing", ["name", "description"])
def test_name_and_description_must_be_passed(owner: Speaker, missing: str) -> None:
    fields = {"name": unique("folder"), "description": ""}
    del fields[missing]
    assert missing in check_error(owner.request("POST", CREATE, **fields))


@pytest.mark.holds("create-folder.name", "create-folder.description", "folder.name", "folder.description")
def test_the_description_may_be_empty_and_the_name_may_not(owner: Speaker) -> None:
    found = folder_of(owner, make_folder(owner, description=""))
    assert (found["description"], found["rendered_description"]) == ("", "")
    for name in ("", "   ", "\t"):
        check_error(owner.request("POST", CREATE, name=name, description=""))


@pytest.mark.holds("create-folder.name", "create-folder.description", "limits.folder-name", "limits.folder-description")
def test_the_limits_are_those_of_register(owner: Speaker) -> None:
    state = owner.post("register", event_types=[], fetch_event_types=["realm"])
    name_length, length = state["max_channel_folder_name_length"], state["max_channel_folder_description_length"]
    longest = unique("folder").ljust(name_length, "é")
    found = folder_of(owner, make_folder(owner, name=longest, description="ü" * length))
    assert (found["name"], found["description"]) == (longest, "ü" * length)
    check_error(owner.request("POST", CREATE, name=unique("f").ljust(name_length + 1, "x"), description=""))
    check_error(owner.request("POST", CREATE, name=unique("f"), description="x" * (length + 1)))


@pytest.mark.holds("create-folder.unique")
def test_a_name_is_trimmed_and_used_once_whatever_its_case(owner: Speaker) -> None:
    name = unique("Folder")
    assert folder_of(owner, make_folder(owner, name=f"  {name} "))["name"] == name
    for taken in (name, name.upper(), f" {name}"):
        check_error(owner.request("POST", CREATE, name=taken, description=""))


@pytest.mark.holds("create-folder.name")
@pytest.mark.parametrize("bad", ["a\x07b", "a\nb", "a\ufdd0b", "a\uffffb"])
def test_a_bad_character_is_refused_with_its_position(owner: Speaker, bad: str) -> None:
    assert "2" in check_error(owner.request("POST", CREATE, name=bad, description=""))


@pytest.mark.holds("create-folder.told")
def test_everybody_hears_of_the_folder(owner: Speaker, member: Speaker, guest: Speaker) -> None:
    for listener in (owner, member, guest):
        with listening(listener) as queue:
            folder_id = make_folder(owner)
            assert heard(queue) == [{"op": "add", "channel_folder": folder_of(owner, folder_id)}]


@pytest.mark.holds("conventions.ignored-parameters")
def test_unknown_parameters_are_named(owner: Speaker) -> None:
    reply = owner.post(CREATE, name=unique("folder"), description="", order=3)
    assert reply["ignored_parameters_unsupported"] == ["order"]
