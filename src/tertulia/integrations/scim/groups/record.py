"""A group as SCIM shows it."""

from collections.abc import Sequence

from tertulia.integrations.scim.answers import GROUP_SCHEMA, Resource, with_meta
from tertulia.integrations.scim.groups.queries import GroupRow, MemberRow


def group_record(row: GroupRow, members: Sequence[MemberRow] | None, base: str) -> Resource:
    """The resource of a group; without members where nobody asked for them."""
    resource: Resource = {"schemas": [GROUP_SCHEMA], "id": str(row.id), "displayName": row.name}
    if row.external_id is not None:
        resource["externalId"] = row.external_id
    if members:
        resource["members"] = [
            {"value": str(one.id), "$ref": f"{base}/Users/{one.id}", "type": "User"} for one in members
        ]
    return with_meta(resource, "Group", f"{base}/Groups/{row.id}", row.created, whole=members is not None)
