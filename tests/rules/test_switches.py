"""No dead switch: every setting that can be changed is in docs/reference/switches.md, with a test that shows what it does.

What nothing obeys is kept for other clients: then the code says why, the API description passes that on, and the web client
does not show it.
"""

import inspect
import re
from pathlib import Path

import msgspec
import pytest

from tertulia.conversations.channels.changing.routes import update_channel
from tertulia.conversations.channels.properties.rules import PROPERTIES
from tertulia.kernel.extra_parameters import only_kept
from tertulia.organization.groups import settings as permissions
from tertulia.organization.realms import settings as realms
from tertulia.organization.realms.changing.actions import ABOUT
from tertulia.organization.realms.changing.routes import change_organization
from tertulia.people.preferences import model as preferences
from tertulia.people.preferences.model import SettingsChange, UserSettings
from tertulia.people.preferences.routes import change_defaults, change_own_settings
from tests.rules.test_advisories import is_there

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "switches.md"
CHANGEABLE = {
    "Organization": {*realms.CHANGEABLE, *ABOUT},
    "Permissions of the organization": set(permissions.REALM_SETTINGS),
    "Channels": {
        name
        for name, given in inspect.signature(update_channel).parameters.items()
        if given.kind is given.KEYWORD_ONLY and name != "stream_id"
    },
    "Subscriptions": set(PROPERTIES),
    "Groups": set(permissions.GROUP_SETTINGS),
    "People": {*UserSettings.__struct_fields__, *SettingsChange.__struct_fields__, "email"} - {"settings"},
}
KEPT = {
    "Organization": realms.ONLY_KEPT,
    "Permissions of the organization": permissions.ONLY_KEPT,
    "People": preferences.ONLY_KEPT,
}


def rows(title: str) -> list[tuple[str, str, str]]:
    """Setting, what it does, and the test, of one part of the page."""
    part = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert part is not None
    return re.findall(r"^\| `(\w+)` \| (.+?) \| (`.+`) \|$", part[1], flags=re.MULTILINE)


@pytest.mark.parametrize("title", CHANGEABLE)
def test_every_setting_that_can_be_changed_has_one_row_or_is_only_kept(title: str) -> None:
    named = [name for name, _, _ in rows(title)]
    assert sorted([*named, *KEPT.get(title, ())]) == sorted(CHANGEABLE[title])


@pytest.mark.parametrize("title", CHANGEABLE)
def test_what_a_setting_does_is_shown_by_a_test_that_is_there(title: str) -> None:
    assert [name for name, _, test in rows(title) if not is_there(test.strip("`"))] == []


def test_the_api_description_says_what_is_only_kept() -> None:
    for endpoint, kept in (
        (change_organization, realms.ONLY_KEPT | permissions.ONLY_KEPT),
        (change_own_settings, preferences.ONLY_KEPT),
        (change_defaults, preferences.ONLY_KEPT),
    ):
        hints = {name: given.annotation for name, given in inspect.signature(endpoint).parameters.items()}
        said = {name: msgspec.json.schema(hint).get("description", "") for name, hint in hints.items() if name in kept}
        assert said.keys() == kept.keys()
        assert [name for name in kept if "without effect" not in said[name] or kept[name] not in said[name]] == []


def test_a_parameter_that_is_only_kept_is_of_the_type_that_it_was() -> None:
    described = only_kept({"one": int, "other": int}, {"one": "Because."})
    assert described["other"] is int
    assert msgspec.json.decode(b"3", type=described["one"]) == 3
    assert msgspec.json.schema(described["one"])["type"] == "integer"


def test_the_web_client_shows_no_switch_that_nothing_obeys() -> None:
    nothing = {name for kept in KEPT.values() for name in kept}
    pages = [*(ROOT / "web" / "src" / "settings").rglob("*.svelte"), *(ROOT / "web" / "src" / "settings").rglob("*.ts")]
    assert pages
    shown = {page.name: nothing & set(re.findall(r"\w+", page.read_text())) for page in pages}
    assert {name: found for name, found in shown.items() if found} == {}
