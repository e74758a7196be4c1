"""Past advisories, class CT: from one organization into another on the same server (docs/reference/advisories.md).

Every endpoint whose path names a thing is called by an owner of another organization with that thing, and with one that does
not exist. What has no thing of an organization in its path says so in `NOTHING_NAMED`.
"""

import re
from collections.abc import Iterator
from string import Template

import httpx
import pytest

from tests.features.tables.endpoint_table import TABLE
from tests.harness.browser import Browser
from tests.harness.files import upload
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker, check_error, check_success, unique

FAR_OFF = 4_000_000_000
ABSENT = "987654321"
PICTURE = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\rIDATx\xdac\xfc\xcf\xc0P\x0f\x00\x04\x85\x01\x80\x84\xa9\x8c!\x00\x00\x00\x00IEND\xaeB`\x82"
)
NOTHING_NAMED = {
    "POST /realm/emoji/{emoji_name}": "the name is a new one",
    "POST /external/{integration}": "names a kind of service; the key is tried below",
    "GET outside /accounts/login/link/{ticket}": "development only",
    "GET outside /accounts/login/oidc/{provider}": "providers are the operator's",
    "GET outside /accounts/login/oidc/{provider}/callback": "providers are the operator's",
    "POST outside /accounts/login/oidc/{provider}/code": "providers are the operator's",
    "POST outside /accounts/login/oidc/{provider}/logout": "providers are the operator's",
    "GET outside /user_uploads/thumbnail/{realm_id}/{part}/{secret}/{name}/{form}": "see the file itself",
    "GET outside /exports/temporary/{export_id}/{user_id}/{ticket}/{name}": "the ticket is the right to it",
    "GET outside /user_uploads/temporary/{attachment_id}/{ticket}/{name}": "the ticket is the right to it",
    "GET outside /probe/{ticket}": "sealed by the server for its operator",
    "GET outside /public/style/{digest}.css": "the server's own",
    "GET /thumbnail/status/{realm_id}/{part}/{secret}/{name}": "see the file itself",
    "GET outside /accounts/password/reset/{token}": "a token that is good nowhere is answered the same; using it is tried below",
    "GET outside /accounts/email/confirm/{token}": "shows a form for any token",
    **dict.fromkeys(
        (f"{method} outside /accounts/unsubscribe/{{kind}}/{{token}}" for method in ("GET", "POST")),
        "signed by one organization; at another it is tried in tests/features/notifications/test_missed_mail.py",
    ),
    **{
        key: "only for a directory's token, which opens its own organization: tests/features/integrations/test_scim_protocol.py"
        for key in TABLE
        if " outside /scim/v2/" in key
    },
}
NAMED = [key for key in TABLE if "{" in key and key not in NOTHING_NAMED]


class Scene:
    """An organization with one thing of each kind, and an owner of another one."""

    def __init__(self, stage: Stage) -> None:
        self.realm = realm = Realm(stage)
        self.stranger = Realm(stage).owner
        owner, far = realm.owner, {"scheduled_delivery_timestamp": FAR_OFF}
        channel = stage.channel(*realm.all, realm_id=realm.id)
        message = owner.send(channel.stream_id, "tea", "Hello")
        link = owner.post("invites/multiuse", stream_ids=[])["invite_link"]
        url = upload(owner)
        _, _, realm_id, part, secret, name = url.split("/")
        emoji = unique("emoji").replace(" ", "_")
        check_success(owner.http.post(f"realm/emoji/{emoji}", files={"file": ("x.png", PICTURE)}))
        domain = unique("d").replace(" ", "") + ".example.com"
        owner.post("realm/domains", domain=domain, allow_subdomains=True)
        tus = owner.http.post("tus", headers={"Tus-Resumable": "1.0.0", "Upload-Length": "5"})
        draft = {"type": "", "to": [], "topic": "", "content": "x"}
        playground: Json = {"name": "x", "pygments_language": "C", "url_template": "https://x.example/{code}"}
        group: Json = {"name": unique("group"), "description": "", "members": [owner.id]}
        self.names: dict[str, object] = {
            "user_group_id": owner.post("user_groups/create", **group)["group_id"],
            "user_id": realm.member.id,
            "muted_user_id": realm.member.id,
            "email": realm.member.email,
            "key_id": owner.get("users/me/api_keys")["api_keys"][0]["id"],
            "session_id": 0,
            "bot_id": realm.bot(owner).id,
            "field_id": owner.post("realm/profile_fields", field_type=1, name="Tea")["id"],
            "channel_folder_id": owner.post("channel_folders/create", name="x", description="")["channel_folder_id"],
            "stream_id": channel.stream_id,
            "channel_id": channel.stream_id,
            "topic_id": stage.sql("select topic_id from message where id = %s", message)[0][0],
            "first": "000",
            "invite_id": owner.get("invites")["invites"][0]["id"],
            "key": link.rpartition("/")[2],
            "message_id": message,
            "draft_id": owner.post("drafts", drafts=[draft])["ids"][0],
            "saved_snippet_id": owner.post("saved_snippets", title="x", content="x")["saved_snippet_id"],
            "attachment_id": owner.get("attachments")["attachments"][0]["id"],
            "scheduled_message_id": owner.post("scheduled_messages", type="direct", to=[owner.id], content="x", **far)[
                "scheduled_message_id"
            ],
            "reminder_id": owner.post("reminders", message_id=message, **far)["reminder_id"],
            "filter_id": owner.post("realm/filters", pattern="T(?P<n>[0-9]+)", url_template="https://x.example/{n}")[
                "id"
            ],
            "playground_id": owner.post("realm/playgrounds", **playground)["id"],
            "emoji_name": emoji,
            "domain": domain,
            "upload_id": tus.headers["location"].rpartition("/")[2],
            "realm_id": realm_id,
            "part": part,
            "secret": secret,
            "name": name,
        }
        self.names["session_id"] = self._session()
        give_password(stage, owner)
        self.names["token_id"] = owner.post("scim/tokens", label="x", password=PASSWORD)["id"]
        self.names["hold_id"] = owner.post("legal_holds", user_id=realm.guest.id, password=PASSWORD)["id"]
        self.names["export_id"] = owner.post("export/realm", password=PASSWORD)["id"]
        self.names["passkey_id"] = self._passkey()

    def _passkey(self) -> int:
        columns = "realm_id, user_id, credential, public_key, sign_count, label, transports, is_verifying, is_synced"
        sql = f"insert into passkey ({columns}) values (%s, %s, 'x', 'x', 0, 'x', '{{}}', true, false) returning id"
        [(made,)] = self.realm.stage.sql(sql, self.realm.id, self.realm.member.id)
        return int(made)

    def _session(self) -> int:
        email = unique("person").replace(" ", ".") + "@example.com"
        self.realm.owner.post("users", email=email, password=PASSWORD, full_name="Ada")
        browser = Browser(self.realm.stage.server.url)
        browser.http.headers["host"] = self.realm.host
        try:
            browser.post("sessions", username=email, password=PASSWORD)
            return int(browser.get("sessions")["sessions"][0]["id"])
        finally:
            browser.http.close()

    def call(self, key: str, *, absent: bool) -> tuple[int, str]:
        """What the stranger is told, without the names that were asked for."""
        method, _, path = key.partition(" ")
        outside, _, path = path.rpartition(" ")
        used = re.findall(r"\{(\w+)\}", path)
        values = {name: f"x{ABSENT}@example.com" if name == "email" else ABSENT for name in used}
        if not absent:
            values = {name: str(self.names[name]) for name in used}
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", value)
        fields = {name: value for name, value in TABLE[key].fields.items() if name not in used}
        fields = {name: Template(value).safe_substitute(self.fillers) for name, value in fields.items()}
        given: dict[str, Json] = {"params" if method == "GET" else "data": dict(fields)}
        where = f"{self.realm.stage.server.url}{'' if outside else '/api/v1'}{path}"
        reply = self.stranger.http.request(method, where, **given)  # type: ignore[arg-type]
        return reply.status_code, hidden(reply, values.values())

    @property
    def fillers(self) -> dict[str, object]:
        """For the other fields of a call: people and things of the stranger's own organization."""
        own = self.stranger.id
        return {"unique": "x", "unique_word": "x", "owner": own, "field": 1, "group": 1, "bystander": own, "message": 1}


def hidden(reply: httpx.Response, values: object) -> str:
    text = reply.text
    for value in values:  # type: ignore[attr-defined]
        text = re.sub(rf"(?<![0-9A-Za-z-]){re.escape(value)}(?![0-9A-Za-z])", "*", text)  # no part of utf-8
    return text


@pytest.fixture(scope="module")
def scene(server: Server, backstage: Backstage) -> Iterator[Scene]:
    stage = Stage(server, backstage)
    try:
        yield Scene(stage)
    finally:
        stage.close()


def test_ct_01_every_endpoint_that_names_a_thing_is_tried() -> None:
    assert [key for key in NOTHING_NAMED if key not in TABLE] == []
    assert len(NAMED) > 50


@pytest.mark.parametrize("key", NAMED)
def test_ct_01_what_another_organization_has_does_not_exist(scene: Scene, key: str) -> None:
    status, text = scene.call(key, absent=False)
    assert (status, text) == scene.call(key, absent=True)
    assert status != 200 or key.startswith("DELETE /users/me/muted_users"), text


def test_ct_02_everything_is_still_there(scene: Scene) -> None:
    owner, names = scene.realm.owner, scene.names
    assert names["field_id"] in [field["id"] for field in owner.get("realm/profile_fields")["custom_fields"]]
    assert names["filter_id"] in [one["id"] for one in owner.get("realm/linkifiers")["linkifiers"]]
    assert names["emoji_name"] in [one["name"] for one in owner.get("realm/emoji")["emoji"].values()]
    assert names["domain"] in [one["domain"] for one in owner.get("realm/domains")["domains"]]
    assert names["invite_id"] in [one["id"] for one in owner.get("invites")["invites"]]
    assert names["draft_id"] in [one["id"] for one in owner.get("drafts")["drafts"]]
    assert owner.message(int(str(names["message_id"])))["reactions"] == []
    [group] = [one for one in owner.get("user_groups")["user_groups"] if one["id"] == names["user_group_id"]]
    assert (group["members"], group["deactivated"]) == ([owner.id], False)


def test_ct_03_an_invitation_is_good_in_its_own_organization_only(scene: Scene) -> None:
    stage, other = scene.realm.stage, Realm(scene.realm.stage)
    nobody = stage.nobody(host=other.host)
    email = unique("invited").replace(" ", ".") + "@example.com"
    check_error(nobody.request("POST", "signups", email=email, key=str(scene.names["key"])), "INVITATION_INVALID")
    at_home = stage.nobody(host=scene.realm.host)
    check_success(at_home.request("POST", "signups", email=email, key=str(scene.names["key"])))


def test_ct_04_nobody_names_an_organization_to_act_in(scene: Scene) -> None:
    stranger = scene.stranger
    for more in (
        {"realm": scene.realm.subdomain},
        {"realm_id": scene.realm.id},
        {"forged": "true", "sender": "x@x.example"},
    ):
        sent = stranger.request("POST", "messages", type="direct", to=[stranger.id], content="x", **more).json()
        assert set(more) <= set(sent["ignored_parameters_unsupported"])
        message = stranger.message(sent["id"])
        assert (message["sender_id"], message["recipient_id"] is not None) == (stranger.id, True)
    people = [scene.realm.member.id, scene.realm.member.email]
    for person in people:
        check_error(stranger.request("POST", "messages", type="direct", to=[person], content="x"))
    elsewhere = Speaker(scene.realm.stage.server, stranger.user, host=scene.realm.host)
    assert elsewhere.request("GET", "users/me").status_code == 401
    elsewhere.http.close()
