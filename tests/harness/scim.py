"""A directory that keeps people and groups by SCIM, as a client over HTTP."""

from typing import Any

import httpx

from tertulia.integrations.scim.tokens.actions import make_token
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Json, unique

SCIM_JSON = "application/scim+json"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"


def token_of(stage: Stage, realm_id: int) -> str:
    """A new token of an organization, as the operator makes it."""
    return stage.write(lambda tx: make_token(tx, realm_id, unique("directory"), None)).token


class Directory:
    """Calls /scim/v2 of an organization. Close it."""

    def __init__(self, server: Server | Web, host: str, token: str) -> None:
        self.http = httpx.Client(
            base_url=f"{server.url}/scim/v2",
            headers={"host": host, "authorization": f"Bearer {token}", "content-type": SCIM_JSON},
            timeout=60,
        )

    @classmethod
    def of(cls, realm: Realm) -> "Directory":
        """With a new token of the organization."""
        return cls(realm.stage.server, realm.host, token_of(realm.stage, realm.id))

    def request(self, method: str, path: str, body: object = None, **options: Any) -> httpx.Response:
        """Any call. A body is JSON."""
        reply = (
            self.http.request(method, path, json=body, **options)
            if body is not None
            else self.http.request(method, path, **options)
        )
        if reply.content:
            assert reply.headers["content-type"] == SCIM_JSON, reply.text
        return reply

    def get(self, path: str, **query: object) -> Json:
        """A resource, or a list of them."""
        return success(self.request("GET", path, params=query))

    def make_user(self, user_name: str | None = None, **attributes: object) -> Json:
        """A new person."""
        name = user_name or address()
        return success(self.request("POST", "/Users", {"schemas": [USER], "userName": name, **attributes}), 201)

    def make_group(self, name: str, *members: str, **attributes: object) -> Json:
        """A new group."""
        listed = [{"value": id} for id in members]
        body = {"schemas": [GROUP], "displayName": name, "members": listed, **attributes}
        return success(self.request("POST", "/Groups", body), 201)

    def patch(self, path: str, *operations: Json, **options: Any) -> httpx.Response:
        """A PATCH with these operations."""
        return self.request("PATCH", path, {"schemas": [PATCH_OP], "Operations": list(operations)}, **options)

    def find(self, kind: str, filter: str) -> list[Json]:
        """All that a filter finds."""
        found: list[Json] = self.get(f"/{kind}", filter=filter)["Resources"]
        return found

    def members(self, group_id: str) -> set[str]:
        """Who is in a group."""
        return {member["value"] for member in self.get(f"/Groups/{group_id}").get("members", [])}


def address() -> str:
    """An address that nobody has."""
    return unique("person").replace(" ", ".") + "@example.com"


def success(reply: httpx.Response, status: int = 200) -> Json:
    """The body of a success."""
    assert reply.status_code == status, (reply.status_code, reply.text)
    body: Json = reply.json()
    return body


def refused(reply: httpx.Response, status: int, scim_type: str | None = None) -> str:
    """What a refusal says, which has the shape of SCIM."""
    assert reply.status_code == status, (reply.status_code, reply.text)
    body = reply.json()
    assert body["schemas"] == [ERROR]
    assert body["status"] == str(status)
    assert body.get("scimType") == scim_type, body
    assert reply.headers["content-type"] == SCIM_JSON
    return str(body["detail"])
