"""Pure decisions about users: who sees whose address, which names are names, how avatars look."""

import sys
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tertulia.kernel.auth import Role, fake_email
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.people.users.addresses import LOWEST_ROLE, email_key_of, fake_domain, id_of_fake_email, may_see, seen_by
from tertulia.people.users.avatars import MEDIUM, identicon
from tertulia.people.users.directory import with_own_address
from tertulia.people.users.model import Account, UserView
from tertulia.people.users.rules import (
    check_may_edit,
    clean_full_name,
    counted_role,
    is_email,
    is_last_owner,
    name_key_of,
)

TABLE = {
    Role.OWNER: {1, 2, 3, 5},
    Role.ADMINISTRATOR: {1, 2, 3, 5},
    Role.MODERATOR: {1, 2, 5},
    Role.MEMBER: {1, 2},
    Role.GUEST: {1},
}


@pytest.mark.parametrize("role", list(TABLE))
def test_the_table_of_who_sees_which_address(role: Role) -> None:
    assert {visibility for visibility in range(1, 6) if may_see(role, visibility)} == TABLE[role]
    assert set(seen_by(role)) == TABLE[role] | {0}


def test_somebody_without_an_account_sees_only_bots() -> None:
    assert seen_by(None) == (0,)
    assert set(LOWEST_ROLE) == set(range(6))


@pytest.mark.parametrize(
    ("host", "subdomain", "domain"),
    [
        ("chat.example.com", "", "chat.example.com"),
        ("chat.example.com:9991", "", "chat.example.com"),
        ("chat.example.com", "sub", "sub.chat.example.com"),
        ("localhost", "", "hidden.example"),
        ("localhost:9991", "", "hidden.example"),
        ("127.0.0.1:9991", "", "hidden.example"),
        ("127.0.0.1", "", "hidden.example"),
        ("[::1]", "", "hidden.example"),
    ],
)
def test_made_up_addresses_are_at_the_realms_host_if_addresses_can_be_there(
    host: str, subdomain: str, domain: str
) -> None:
    settings = Settings(external_host=host, fake_email_domain="hidden.example")
    assert fake_domain(settings, subdomain) == domain
    assert is_email(fake_email(7, domain))


@given(st.integers(1, 2**63 - 1))
def test_a_made_up_address_tells_whose_it_is(user_id: int) -> None:
    assert id_of_fake_email(fake_email(user_id, "Chat.example.com"), "chat.example.com") == user_id
    assert id_of_fake_email(fake_email(user_id, "chat.example.com"), "other.example.com") is None


@pytest.mark.parametrize("text", ["user@d", "user0@d", "user-1@d", "user1@", "xuser1@d", f"user{2**63}@d", "user1@d@d"])
def test_nothing_else_is_a_made_up_address(text: str) -> None:
    assert id_of_fake_email(text, "d") is None


@pytest.mark.parametrize("name", ["A", "x" * 100, "Inés Aldecoa", "O'Neil & Söhne", "李 小龍", "a|b", "a|1b", "🦜"])
def test_names(name: str) -> None:
    assert clean_full_name(f"  {name} ") == name


@pytest.mark.parametrize(
    "name", ["", " ", "x" * 101, "a*b", "a`b", "a\\b", "a>b", 'a"b', "a@b", "a\nb", "a\x00b", "a|12"]
)
def test_no_names(name: str) -> None:
    with pytest.raises(Refusal):
        clean_full_name(name)


def test_no_address_with_foreign_letters_is_found_to_be_one_without() -> None:
    letters = [chr(number) for number in range(128, sys.maxunicode + 1) if not 0xD800 <= number < 0xE000]
    twins = [letter for letter in letters if email_key_of(f"{letter}x@example.com").isascii()]
    assert not [letter for letter in twins if is_email(f"{letter}x@example.com") or is_email(f"x@{letter}x.com")]
    assert [is_email(text) for text in ("zoë@example.com", "kofi@örebro.se", "Kofi@Example.com")] == [True] * 3


@pytest.mark.parametrize(
    "text",
    [
        "=?utf-8?q?mallory=40example.org?=,x@example.com",
        "=?utf-8?q?a?=@example.com",
        "=\uff1futf-8\uff1fq?a?=@example.com",
        "mallory%example.org@example.com",
        "mallory\uff05example.org@example.com",
        "example.org!mallory@example.com",
        "a,b@example.com",
        "a\uff0cb@example.com",
        "mallory\uff20example.org@example.com",
        "a;b@example.com",
        "<a@example.com",
        "(a)b@example.com",
        '"a"@example.com',
        "a\\b@example.com",
        "a\x00@example.com",
        "a\u202eb@example.com",
        "a@[",
        "a@[127.0.0.1]",
        "a@example.com,b",
        "a@example.com(",
        "a@exa\uff0fmple.com",
    ],
)
def test_what_others_on_a_mails_way_would_read_otherwise_is_no_address(text: str) -> None:
    assert not is_email(text)


def test_addresses_of_all_usual_kinds_are_addresses() -> None:
    usual = ("o'brien+tea@mail.example.com", "a.b-c_d@example", "a#$&*/?=^`{|}~@example.com", "राम@उदाहरण.भारत")
    assert [text for text in usual if not is_email(text)] == []


def test_names_are_the_same_whatever_their_width_and_case() -> None:
    assert name_key_of("ＮＵＲＩＡ") == name_key_of("nuria")


def account(id: int, role: int = Role.OWNER, *, active: bool = True, bot: bool = False) -> Account:
    return Account(id, "a@example.com", "A", role, 1 if bot else None, None, active, 1)


def test_only_active_people_count_as_owners() -> None:
    owner = account(1)
    assert is_last_owner(owner, [owner])
    assert is_last_owner(owner, [owner, account(2, active=False), account(3, bot=True), account(4, Role.ADMINISTRATOR)])
    assert not is_last_owner(owner, [owner, account(2)])
    assert not is_last_owner(account(1, active=False), [account(2)])


@given(st.integers(0, 2**63))
def test_an_identicon_is_a_picture_that_is_its_own_mirror_image(user_id: int) -> None:
    picture = identicon(user_id)
    assert picture == identicon(user_id)
    assert picture != identicon(user_id, MEDIUM)
    path = ET.fromstring(picture).find("{http://www.w3.org/2000/svg}path")
    assert path is not None
    moves = [piece.split("h")[0].split() for piece in path.attrib["d"].split("M")[1:]]
    cells = {(float(x), float(y)) for x, y in moves}
    assert cells == {(5 - x, y) for x, y in cells}


def test_the_own_address_goes_into_the_own_record_only() -> None:
    view = UserView(1, (0, 1), 12, "d", own_email='"o"@example.com')
    text = b'[{"user_id":1,"delivery_email":null,"x":1},{"user_id":12,"delivery_email":null,"x":1}]'
    own = b'[{"user_id":1,"delivery_email":null,"x":1},{"user_id":12,"delivery_email":"\\"o\\"@example.com","x":1}]'
    assert with_own_address(view, text) == own


ROLES = tuple(Role)


@pytest.mark.parametrize("given", ROLES)
def test_a_bot_counts_as_the_lower_of_both_roles(given: int) -> None:
    for owner_role in ROLES:
        assert counted_role(given, owner_role) == max(given, owner_role)
    assert counted_role(given, None) == max(given, Role.MEMBER)


def may_edit(actor: Account, bot: Account, owner: Account | None) -> bool:
    try:
        check_may_edit(actor, bot, owner)
    except Refusal:
        return False
    return True


@pytest.mark.parametrize("actor_role", ROLES)
@pytest.mark.parametrize("given", ROLES)
@pytest.mark.parametrize("owner_role", [*ROLES, None])
def test_a_bot_is_touched_by_its_owner_and_by_administrators_who_are_not_below_it(
    actor_role: Role, given: Role, owner_role: Role | None
) -> None:
    owner = None if owner_role is None else account(2, owner_role)
    counted = counted_role(given, owner_role)
    bot = Account(3, "b@example.com", "B", counted, 1, owner.id if owner else None, True, 0, given)
    above = min(given, given if owner_role is None else owner_role)
    assert may_edit(account(1, actor_role), bot, owner) == (actor_role <= Role.ADMINISTRATOR and actor_role <= above)
    if owner is not None:
        assert may_edit(owner, bot, owner)
