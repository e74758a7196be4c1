"""What somebody is given for being in groups elsewhere, and how many leavers are too many."""

import pytest

from tertulia.kernel.auth import Role
from tertulia.kernel.login_settings import Membership
from tertulia.kernel.settings import SettingsError, load_settings
from tertulia.people.directories.rules import allowed_leavers, role_after, standing_of

RULES = (
    Membership(where="eng", group="engineers"),
    Membership(where="ops", group="engineers"),
    Membership(where="doc", group="writers"),
    Membership(where="chiefs", role="administrator"),
    Membership(where="visitors", role="guest"),
)


@pytest.mark.parametrize(
    ("belongs", "groups", "role"),
    [
        ((), set(), None),
        (("eng",), {"engineers"}, None),
        (("ops", "doc", "unknown"), {"engineers", "writers"}, None),
        (("visitors",), set(), Role.GUEST),
        (("visitors", "chiefs"), set(), Role.ADMINISTRATOR),
    ],
)
def test_groups_and_the_highest_role_are_due(belongs: tuple[str, ...], groups: set[str], role: int | None) -> None:
    found = standing_of(RULES, belongs)
    assert (set(found.groups), found.role) == (groups, role)
    assert found.decided == {"engineers", "writers"}


@pytest.mark.parametrize(
    ("role", "belongs", "after"),
    [
        (Role.OWNER, (), Role.OWNER),
        (Role.OWNER, ("visitors",), Role.OWNER),
        (Role.MEMBER, ("chiefs",), Role.ADMINISTRATOR),
        (Role.ADMINISTRATOR, (), Role.MEMBER),
        (Role.ADMINISTRATOR, ("visitors",), Role.GUEST),
        (Role.MODERATOR, ("eng",), Role.MODERATOR),
        (Role.GUEST, (), Role.MEMBER),
        (Role.MEMBER, (), Role.MEMBER),
    ],
)
def test_a_role_that_a_directory_gives_is_lost_with_the_group_and_others_are_left_alone(
    role: int, belongs: tuple[str, ...], after: int
) -> None:
    assert role_after(role, standing_of(RULES, belongs)) == after


def test_a_guest_stays_one_where_the_directory_gives_no_such_role() -> None:
    assert role_after(Role.GUEST, standing_of(RULES[:4], ())) == Role.GUEST


@pytest.mark.parametrize(
    ("known", "percent", "allowed"), [(1, 10, 3), (30, 10, 3), (100, 10, 10), (999, 10, 99), (50, 0, 3)]
)
def test_few_may_always_leave_and_of_many_a_share(known: int, percent: int, allowed: int) -> None:
    assert allowed_leavers(known, percent) == allowed


@pytest.mark.parametrize(
    "membership",
    [
        '{"where": "x", "role": "owner"}',
        '{"where": "x"}',
        '{"where": " ", "group": "x"}',
        '{"where": "x", "group": "x", "role": "guest"}',
        '{"where": "x", "group": "x", "more": 1}',
        '{"group": "x"}',
        "7",
    ],
)
def test_nobody_is_made_an_owner_and_unclear_memberships_are_refused(membership: str) -> None:
    with pytest.raises(SettingsError):
        load_settings(env={"TERTULIA_LDAP_MEMBERSHIPS": f"[{membership}]"})


def test_memberships_are_the_same_for_a_child_process() -> None:
    settings = load_settings(env={"TERTULIA_LDAP_MEMBERSHIPS": '[{"where": "(a=b)", "group": "x"}]'})
    assert settings.ldap_memberships == (Membership(where="(a=b)", group="x"),)
    assert load_settings(env=settings.environment()) == settings
    assert hash(settings)
    for wrong in ({"LDAP_SYNC_MINUTES": "-1"}, {"LDAP_MAX_LEAVERS_PERCENT": "101"}):
        with pytest.raises(SettingsError):
            load_settings(env={f"TERTULIA_{name}": value for name, value in wrong.items()})
