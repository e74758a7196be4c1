"""What is published at /Schemas, and what is read: two models of each resource, of the library scim2-models.

Published is what always holds: an account has one address, a name, and is active or not. Read is everything that
providers send: several addresses of which one counts, no name at all, attributes nobody here knows.
"""

from typing import Annotated, Any

from pydantic import Field
from scim2_models import (
    URN,
    CaseExact,
    ComplexAttribute,
    Mutability,
    Reference,
    Required,
    Resource,
    Returned,
    ScimPolicy,
    Uniqueness,
)

from tertulia.integrations.scim.answers import GROUP_SCHEMA, USER_SCHEMA

TOLERANT = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
"""Providers send attributes that we do not have, and Entra ID has a way of its own to change lists."""


class Name(ComplexAttribute):
    """The parts of a person's name."""

    formatted: str | None = None
    given_name: str | None = None
    family_name: str | None = None


class PublishedEmail(ComplexAttribute):
    """The address of the account."""

    value: Annotated[str | None, Required.true] = None
    type: Annotated[str | None, Mutability.read_only] = None
    primary: Annotated[bool | None, Mutability.read_only] = None


class User(Resource[Any]):
    """A person's account."""

    __schema__ = URN(USER_SCHEMA)

    user_name: Annotated[str | None, Required.true, Uniqueness.server] = None
    """What the provider calls the person; unless something else is said, the address of the account."""
    display_name: Annotated[str | None, Required.true] = None
    """The name that others see."""
    name: Name | None = None
    emails: Annotated[list[PublishedEmail] | None, Required.true] = None
    """The address of the account: there is one."""
    active: Annotated[bool | None, Required.true] = None
    """Whether the account is in use. A deactivated one has no sessions and no keys, and keeps its messages."""


class WrittenEmail(ComplexAttribute):
    """One of the addresses that a provider sends."""

    value: str | None = None
    display: str | None = None
    type: str | None = None
    primary: bool | None = None


class WrittenUser(Resource[Any]):
    """A person as providers send them."""

    __schema__ = URN(USER_SCHEMA)

    user_name: Annotated[str | None, Required.true] = None
    display_name: str | None = None
    name: Name | None = None
    emails: list[WrittenEmail] | None = None
    active: bool | None = None


class Member(ComplexAttribute):
    """Somebody in a group."""

    value: Annotated[str | None, Mutability.immutable, CaseExact.true, Required.true] = None
    """The id of a person."""
    ref: Annotated[Reference[User] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])


class Group(Resource[Any]):
    """A user group of the organization."""

    __schema__ = URN(GROUP_SCHEMA)

    display_name: Annotated[str | None, Required.true, Uniqueness.server, CaseExact.true] = None
    """The name of the group."""
    members: Annotated[list[Member] | None, Returned.default] = None
    """The people who are in it directly."""


class WrittenMember(ComplexAttribute):
    """Somebody whom a provider names."""

    value: str | None = None
    type: str | None = None


class WrittenGroup(Resource[Any]):
    """A group as providers send it."""

    __schema__ = URN(GROUP_SCHEMA)

    display_name: Annotated[str | None, Required.true] = None
    members: list[WrittenMember] | None = None
