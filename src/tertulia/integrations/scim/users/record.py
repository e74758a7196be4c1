"""A person as SCIM shows them."""

from tertulia.integrations.scim.answers import USER_SCHEMA, Resource, with_meta
from tertulia.integrations.scim.users.queries import UserRow
from tertulia.integrations.scim.users.rules import WORK


def user_record(row: UserRow, base: str) -> Resource:
    """The resource of a person; `base` is where /scim/v2 of the organization is."""
    parts = {"formatted": row.formatted_name, "givenName": row.given_name, "familyName": row.family_name}
    name = {part: text for part, text in parts.items() if text is not None}
    resource: Resource = {
        "schemas": [USER_SCHEMA],
        "id": str(row.id),
        "userName": row.user_name,
        "displayName": row.full_name,
        "emails": [{"value": row.email, "type": WORK, "primary": True}],
        "active": row.is_active,
    }
    if name:
        resource["name"] = name
    if row.external_id is not None:
        resource["externalId"] = row.external_id
    return with_meta(resource, "User", f"{base}/Users/{row.id}", row.created)
