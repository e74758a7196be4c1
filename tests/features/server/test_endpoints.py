"""The whole matrix of endpoints and kinds of callers: endpoint_table.py, tried letter by letter."""

from collections.abc import Iterator
from string import Template

import httpx
import pytest

from tests.features.tables.endpoint_table import COLUMNS, TABLE, Row
from tests.harness.realm import Realm
from tests.harness.server import MEMBER, OWNER, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import check_success, unique

REFUSALS = {
    "g": (400, "BAD_REQUEST", "Not allowed for guest users"),
    "b": (400, "BAD_REQUEST", "This endpoint does not accept bot requests."),
    "a": (400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator"),
    "o": (400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
    "u": (401, "UNAUTHORIZED", ""),
}
STRAY = {"a_stray_parameter": "1"}
FULL_MEMBERS_MAY = (
    *("can_create_groups", "can_create_bots_group", "can_create_write_only_bots_group"),
    *("can_create_public_channel_group", "can_create_private_channel_group"),
)


class Scene:
    """An organization with every kind of caller in it, and something of every kind to be called about."""

    def __init__(self, stage: Stage) -> None:
        self.realm = realm = Realm(stage)
        bystander, gone = realm.speaker(), realm.speaker()
        self.bot, self.spare, self.off = (realm.bot(realm.member) for _ in range(3))
        webhook = realm.as_user(stage.user(realm_id=realm.id, bot_type=2))
        stage.sql("update account set date_joined = now() - interval '5 days' where realm_id = %s", realm.id)
        new, others = realm.speaker(), stage.user(OWNER)
        people = (realm.owner, realm.administrator, realm.moderator, realm.member, new, realm.guest, self.bot, webhook)
        nobody, stranger = stage.nobody(host=realm.host), stage.speaker(others, host=realm.host)
        self.callers = dict(zip(COLUMNS, (*people, gone, nobody, stranger), strict=True))
        self._restrict()
        realm.owner.delete(f"users/{gone.id}")
        realm.owner.delete(f"bots/{self.off.id}")
        channel, archived = (stage.channel(*people, realm_id=realm.id) for _ in range(2))
        realm.owner.delete(f"streams/{archived.stream_id}")
        self.names = {
            "owner": realm.owner.id,
            "member": realm.member.id,
            "member_email": realm.member.email,
            "guest": realm.guest.id,
            "bystander": bystander.id,
            "bystander_email": bystander.email,
            "deactivated": gone.id,
            "bot": self.bot.id,
            "spare_bot": self.spare.id,
            "off_bot": self.off.id,
            "channel": channel.stream_id,
            "archived": archived.stream_id,
            "channel_name": channel.name,
            "message": realm.member.send(channel.stream_id, "tea"),
            "field": realm.owner.post("realm/profile_fields", field_type=1, name="Tea")["id"],
            "group": self._group(),
        }
        self.names["used_group"] = self._group()
        self._group(subgroups=[self.names["used_group"]])

    def _restrict(self) -> None:
        owner = self.realm.owner
        groups = {group["name"]: group["id"] for group in owner.get("user_groups")["user_groups"]}
        full = {"new": groups["role:fullmembers"]}
        chosen = dict.fromkeys(FULL_MEMBERS_MAY, full)
        check_success(owner.request("PATCH", "realm", waiting_period_threshold=3, **chosen))

    def _group(self, **more: object) -> object:
        """The owner is in it, and a member manages it."""
        manage = {"direct_members": [self.realm.member.id], "direct_subgroups": []}
        fields = {"name": unique("group"), "description": "", "members": [self.realm.owner.id], **more}
        return self.realm.owner.post("user_groups/create", can_manage_group=manage, **fields)["group_id"]

    def call(self, key: str, row: Row, column: str) -> httpx.Response:
        caller = self.callers[column]
        again = unique("x")
        names = self.names | {"unique": again, "unique_word": again.replace(" ", "")}
        names["unique_email"] = f"{names['unique_word']}@example.com"
        fields = {name: Template(value).safe_substitute(names) for name, value in row.fields.items()} | STRAY
        method, _, path = key.partition(" ")
        outside, _, path = path.rpartition(" ")
        for name in [name for name in fields if f"{{{name}}}" in path]:
            path = path.replace(f"{{{name}}}", fields.pop(name))
        where = f"{self.realm.stage.server.url}{'' if outside else '/api/v1'}{path}"
        given = {"params": fields} if method == "GET" else {"data": fields}
        return caller.http.request(method, where, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def scene(server: Server, backstage: Backstage) -> Iterator[Scene]:
    stage = Stage(server, backstage)
    try:
        yield Scene(stage)
    finally:
        stage.close()


@pytest.mark.holds("scope.functions", "authentication.refused")
@pytest.mark.parametrize("key", TABLE)
def test_who_may_call(scene: Scene, key: str) -> None:
    row = TABLE[key]
    for column, letter in zip(COLUMNS, row.letters, strict=True):
        reply = scene.call(key, row, column)
        if key == "POST /users/me/api_key/regenerate" and reply.status_code == 200:
            scene.callers[column].http.auth = httpx.BasicAuth(scene.callers[column].email, reply.json()["api_key"])
        check(letter, row, reply, column)


def check(letter: str, row: Row, reply: httpx.Response, column: str) -> None:
    """The reply is what the letter says; and every success says which parameters it does not support."""
    told = f"{column}: {reply.status_code} {reply.text[:300]}"
    if '"result":"success"' in reply.text:
        assert STRAY.keys() <= {*reply.json().get("ignored_parameters_unsupported", [])}, told
    if letter == "+" and not row.reaches:
        assert reply.status_code == 200, told
    elif letter == "+":
        assert reply.status_code in (200, 400, 403, 404, 411), told
        assert row.reaches in reply.text, told
    elif letter == "-":
        body = reply.json()
        assert (reply.status_code, body["code"]) in ((400, "BAD_REQUEST"), (400, "CANNOT_DEACTIVATE_LAST_USER")), told
        assert not row.reaches or row.reaches not in body["msg"], told
    elif letter == "d":
        assert (reply.status_code, reply.json()["status"]) == (401, "401"), told
    else:
        status, code, words = REFUSALS[letter]
        body = reply.json()
        assert (reply.status_code, body["code"]) == (status, code), told
        assert words in body["msg"], told


def test_the_scene_is_as_it_says(scene: Scene) -> None:
    """New members are not full ones, and nobody of the others is taken for somebody they are not."""
    found = {group["name"]: group["members"] for group in scene.callers["owner"].get("user_groups")["user_groups"]}
    assert scene.callers["member"].id in found["role:fullmembers"]
    assert scene.callers["new member"].id not in found["role:fullmembers"]
    assert scene.callers["new member"].user.role == MEMBER
