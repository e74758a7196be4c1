"""Answers in the shape of SCIM: resources, lists, refusals. Known to the kernel by `Feature.refusals`; needs no library."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal, Taken
from tertulia.kernel.reply import Reply

PREFIX = "/scim/v2"
SCIM_JSON = "application/scim+json"
ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error"
LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
FORBIDDEN_CODES = frozenset({"UNAUTHORIZED_PRINCIPAL"})
ALWAYS = frozenset({"schemas", "id"})
USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group"
_ATTRIBUTE_NAMES = (f"{USER_SCHEMA.lower()}:", f"{GROUP_SCHEMA.lower()}:")
_encode = msgspec.json.Encoder(order="deterministic").encode

Resource = dict[str, Any]


class Description(msgspec.Struct, frozen=True):
    """What the service says of itself; the schemas and the kinds of resources by their ids."""

    config: Resource
    schemas: dict[str, Resource]
    resource_types: dict[str, Resource]


class Selection(msgspec.Struct, frozen=True):
    """Which attributes a client wants to see; names in lower case, without the schema."""

    wanted: frozenset[str] | None = None
    unwanted: frozenset[str] = frozenset()

    def shows(self, attribute: str) -> bool:
        """Whether anything of an attribute is to be shown."""
        name = attribute.lower()
        if self.wanted is not None:
            return attribute in ALWAYS or any(_top(one) == name for one in self.wanted)
        return attribute in ALWAYS or name not in self.unwanted

    def of(self, resource: Resource) -> Resource:
        """The part of a resource that is to be shown."""
        if self.wanted is None and not self.unwanted:
            return resource
        return {name: self._part(name, value) for name, value in resource.items() if self.shows(name)}

    def _part(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._part(name, one) for one in value]
        if not isinstance(value, dict):
            return value
        below = f"{name.lower()}."
        if self.wanted is not None and name.lower() not in self.wanted:
            return {key: one for key, one in value.items() if below + key.lower() in self.wanted}
        return {key: one for key, one in value.items() if below + key.lower() not in self.unwanted}


def selection_of(wanted: Sequence[str], unwanted: Sequence[str]) -> Selection:
    """What `attributes` and `excludedAttributes` say."""
    return Selection(_names(wanted) or None, _names(unwanted))


def _names(listed: Sequence[str]) -> frozenset[str]:
    names = (name.strip().lower() for name in listed)
    return frozenset(_without_schema(name) for name in names if name)


def _without_schema(name: str) -> str:
    for schema in _ATTRIBUTE_NAMES:
        name = name.removeprefix(schema)
    return name


def _top(name: str) -> str:
    return name.partition(".")[0]


def version_of(resource: Mapping[str, Any]) -> str:
    """The entity tag of a resource: another one as soon as anything in it is another."""
    digest = hashlib.sha256(_encode({name: value for name, value in resource.items() if name != "meta"}))
    return f'W/"{digest.hexdigest()[:32]}"'


def with_meta(resource: Resource, kind: str, location: str, created: str | None, *, whole: bool = True) -> Resource:
    """A resource with what SCIM says about every resource. One that is not whole has no version."""
    meta = {"resourceType": kind, "location": location, "created": created}
    if whole:
        meta["version"] = version_of(resource)
    return {**resource, "meta": {name: value for name, value in meta.items() if value is not None}}


def one(resource: Resource, selection: Selection, status: int = 200) -> Reply:
    """The answer that is a resource."""
    meta = resource["meta"]
    headers = {"Location": meta["location"]} | ({"ETag": meta["version"]} if "version" in meta else {})
    return Reply(_encode(selection.of(resource)), status, headers, SCIM_JSON)


def unchanged(resource: Resource) -> Reply:
    """The answer to whoever has the resource already."""
    return Reply(b"", 304, {"ETag": resource["meta"]["version"]}, SCIM_JSON)


def plain(resource: Resource) -> Reply:
    """An answer without versions: of what does not change while the server runs."""
    return Reply(_encode(resource), content_type=SCIM_JSON)


def page(resources: Collection[Resource], total: int, start_index: int) -> Reply:
    """A page of a list."""
    body = {
        "schemas": [LIST_SCHEMA],
        "totalResults": total,
        "startIndex": start_index,
        "itemsPerPage": len(resources),
        "Resources": list(resources),
    }
    return Reply(_encode(body), content_type=SCIM_JSON)


def nothing() -> Reply:
    """The answer after which there is nothing to say."""
    return Reply(b"", 204, None, SCIM_JSON)


class ScimRefusal(Refusal):
    """A refusal in the words of SCIM (RFC 7644, section 3.12)."""

    def __init__(self, msg: str, scim_type: str = "", status: int = 400) -> None:
        super().__init__(msg, status=status)
        self.scim_type = scim_type


def no_such_resource() -> Refusal:
    """What is not there, or out of reach."""
    return ScimRefusal("There is no such resource.", status=404)


def not_implemented() -> Refusal:
    """What the protocol has and this service does not."""
    return ScimRefusal("This service does not do that.", status=501)


def refuse(_call: Call, refusal: Refusal) -> Reply:
    """How a refusal looks below /scim/v2, whoever raised it."""
    status, scim_type = refusal.status, ""
    if isinstance(refusal, ScimRefusal):
        scim_type = refusal.scim_type
    elif isinstance(refusal, Taken):
        status, scim_type = 409, "uniqueness"
    elif refusal.code in FORBIDDEN_CODES:
        status = 403
    elif refusal.code == "CANNOT_DEACTIVATE_GROUP_IN_USE":
        status = 409
    elif status == 400:
        scim_type = "invalidSyntax" if refusal.code == "INVALID_JSON" else "invalidValue"
    body = {"schemas": [ERROR_SCHEMA], "status": str(status), "detail": refusal.msg}
    return Reply(_encode(body | ({"scimType": scim_type} if scim_type else {})), status, refusal.headers, SCIM_JSON)
