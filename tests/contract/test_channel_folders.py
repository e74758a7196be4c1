"""Channel folders: listing, changing, ordering, archiving (protocol/records.md#folder)."""

import pytest

from tests.contract.folders import folder_of, folders_of, heard, listening, make_folder
from tests.harness.talk import Json, Speaker, check_error, check_success, unique


def change(speaker: Speaker, folder_id: int, **fields: object) -> None:
    check_success(speaker.request("PATCH", f"channel_folders/{folder_id}", **fields))


def refused(speaker: Speaker, folder_id: int, **fields: object) -> str:
    return check_error(speaker.request("PATCH", f"channel_folders/{folder_id}", **fields))


@pytest.mark.holds("folder.listed", "folder.id", "folder.name", "folder.description")
def test_folders_are_listed_in_their_order_for_everybody(owner: Speaker, guest: Speaker) -> None:
    make_folder(owner)
    found = folders_of(guest)
    assert found == folders_of(owner)
    assert [(folder["order"], folder["id"]) for folder in found] == sorted((f["order"], f["id"]) for f in found)


@pytest.mark.holds("folder.listed")
def test_the_state_at_registration_holds_all_folders(owner: Speaker, guest: Speaker) -> None:
    archived = make_folder(owner)
    change(owner, archived, is_archived=True)
    with listening(guest) as queue:
        assert queue.state["channel_folders"] == folders_of(guest)


@pytest.mark.holds("folder.changed")
def test_a_folder_gets_another_name_and_description(owner: Speaker, member: Speaker) -> None:
    folder_id, name = make_folder(owner), unique("folder")
    with listening(member) as queue:
        change(owner, folder_id, name=f" {name} ", description="a < b")
        change(owner, folder_id, name=name, description="a < b")  # as it is already: nothing to tell
        change(owner, folder_id, name=name.upper())
        found = folder_of(member, folder_id)
        assert (found["name"], found["description"]) == (name.upper(), "a < b")
        assert found["rendered_description"] == "<p>a &lt; b</p>"
        told = {"name": name, "description": "a < b", "rendered_description": "<p>a &lt; b</p>"}
        assert heard(queue) == [
            {"op": "update", "channel_folder_id": folder_id, "data": told},
            {"op": "update", "channel_folder_id": folder_id, "data": {"name": name.upper()}},
        ]


@pytest.mark.holds("folder.changed", "folder.name", "limits.folder-name", "limits.folder-description")
def test_what_cannot_be_made_cannot_be_changed_to(owner: Speaker, limits: Json) -> None:
    folder_id, taken = make_folder(owner), unique("folder")
    make_folder(owner, name=taken)
    longer = "x" * (limits["max_channel_folder_name_length"] + 1)
    for name in ("", " ", longer, "a\x00b", "a\x01b", taken, taken.upper()):
        refused(owner, folder_id, name=name)
    refused(owner, folder_id, description="x" * (limits["max_channel_folder_description_length"] + 1))
    refused(owner, folder_id)
    refused(owner, 999_999_999, name=unique("folder"))


@pytest.mark.holds("folder.changed")
@pytest.mark.parametrize("who", ["member", "guest", "bot"])
def test_only_administrators_change_folders(request: pytest.FixtureRequest, owner: Speaker, who: str) -> None:
    speaker: Speaker = request.getfixturevalue(who)
    folder_id = make_folder(owner)
    ids = [folder["id"] for folder in folders_of(owner)]
    check_error(
        speaker.request("PATCH", f"channel_folders/{folder_id}", name=unique("folder")), "UNAUTHORIZED_PRINCIPAL"
    )
    check_error(speaker.request("PATCH", "channel_folders", order=ids[::-1]), "UNAUTHORIZED_PRINCIPAL")
    assert [folder["id"] for folder in folders_of(owner)] == ids


@pytest.mark.holds("folder.changed", "folder.listed")
def test_an_archived_folder_is_listed_on_demand_and_frees_its_name(owner: Speaker, member: Speaker) -> None:
    name = unique("folder")
    folder_id = make_folder(owner, name=name)
    with listening(member) as queue:
        change(owner, folder_id, is_archived=True)
        assert heard(queue) == [{"op": "update", "channel_folder_id": folder_id, "data": {"is_archived": True}}]
    assert folder_id not in [folder["id"] for folder in folders_of(member, include_archived=False)]
    assert folder_of(member, folder_id)["is_archived"] is True
    namesake = make_folder(owner, name=name)
    refused(owner, folder_id, is_archived=False)  # two folders in use would have the same name
    change(owner, namesake, name=unique("folder"))
    change(owner, folder_id, is_archived=False)
    assert folder_id in [folder["id"] for folder in folders_of(member, include_archived=False)]


@pytest.mark.holds("folder.changed")
def test_an_order_names_every_folder_once(owner: Speaker, member: Speaker) -> None:
    for _ in range(3):
        make_folder(owner)
    ids = [folder["id"] for folder in folders_of(owner)]
    for wrong in (ids[1:], [*ids, ids[0]], [*ids[1:], 999_999_999], []):
        check_error(owner.request("PATCH", "channel_folders", order=wrong))
    with listening(member) as queue:
        wanted = ids[::-1]
        check_success(owner.request("PATCH", "channel_folders", order=wanted))
        assert [(folder["id"], folder["order"]) for folder in folders_of(member)] == [
            (id, place) for place, id in enumerate(wanted)
        ]
        check_success(owner.request("PATCH", "channel_folders", order=wanted))
        assert heard(queue) == [{"op": "reorder", "order": wanted}]
