"""Who may have which export (pure): a list of what is allowed, by kind and role."""

from tertulia.archives.form.manifest import Scope
from tertulia.kernel.auth import Role

LOWEST_ROLES: dict[Scope, Role] = {"public": Role.ADMINISTRATOR, "consenting": Role.OWNER}
"""Who may at least make and fetch it. Private data of those who agree is for owners; what is not named is for nobody."""


def may_have(role: int, scope: Scope) -> bool:
    """Whether somebody of this role may make and fetch an export of the organization."""
    lowest = LOWEST_ROLES.get(scope)
    return lowest is not None and role <= lowest
