"""Who is in which group, asked for one and asked for many: `is_group_member` and the walks of groups/webs say the same."""

import random

import pytest

from tertulia.organization.groups.queries import holds
from tertulia.organization.groups.webs.statements import climbing, holds_by_climbing, is_within, reached_from
from tests.harness.realm import Realm
from tests.harness.server import MEMBER
from tests.harness.talk import check_success, unique

GROUPS = 9

_ALIKE = f"""
with reached as materialized (
    {reached_from("select id as message_id, id as group_id from user_group where realm_id = %(realm)s", in_use=False)}
), in_use as materialized (
    {reached_from("select id as message_id, id as group_id from user_group where realm_id = %(realm)s")}
)
select account.role, holder.name, is_group_member(account.id, holder.id) as is_member,
    (with recursive {climbing("account.id")} select exists (select from climbed where id = holder.id)) as is_climbed,
    {is_within("account", "reached")} as is_reached, not holder.is_deactivated as is_in_use,
    {is_within("account", "in_use")} as is_reached_in_use,
    {holds("holder", "account")} as holds,
    (with recursive {climbing("account.id")} select {holds_by_climbing("holder", "account")}) as holds_by_climbing
from account cross join user_group as holder
left join reached on reached.message_id = holder.id left join in_use on in_use.message_id = holder.id
where account.realm_id = %(realm)s and account.is_active and holder.realm_id = %(realm)s
"""


@pytest.mark.parametrize("seed", range(4))
def test_walks_through_a_web_find_whom_the_single_question_finds(realm: Realm, seed: int) -> None:
    chance = random.Random(seed)
    people = [realm.speaker(MEMBER) for _ in range(3)] + list(realm.all)
    of_roles = "select id from user_group where realm_id = %s and name in ('role:fullmembers', 'role:moderators')"
    system = [row[0] for row in realm.stage.sql(of_roles, realm.id)]
    if seed % 2:
        check_success(realm.owner.request("PATCH", "realm", waiting_period_threshold=3))
    made: list[int] = []
    for _ in range(GROUPS):
        below = chance.sample([*made, *system], chance.randint(0, 2))
        members = [person.id for person in chance.sample(people, chance.randint(0, 3))]
        some = chance.sample([*made, *system], 2)
        fields = {"name": unique("web"), "description": "", "members": members, "subgroups": below}
        asked = {"direct_members": [chance.choice(people).id], "direct_subgroups": some}
        made.append(realm.owner.post("user_groups/create", **fields, can_mention_group=asked)["group_id"])
    gone = chance.sample(made, 2)
    realm.stage.sql("update user_group set is_deactivated = true where id = any(%s) returning id", gone)
    rows = alike(realm)
    assert {row[2] for row in rows} == {True, False}
    for role, name, is_member, is_climbed, is_reached, is_in_use, is_reached_in_use, holding, by_climbing in rows:
        who = f"{role} in {name}"
        assert holding == by_climbing, who
        assert is_reached == is_member, who
        assert is_reached_in_use == (is_member and is_in_use), who
        if name is not None:  # nobody climbs to what has no name
            assert is_climbed == is_member, who


def alike(realm: Realm) -> list[tuple[object, ...]]:
    with realm.stage.session() as execute:
        return execute(_ALIKE.replace("%(realm)s", str(realm.id)))
