"""Who has to have a second factor (pure)."""

from tertulia.kernel.auth import Role
from tertulia.organization.realms.settings import RealmSettings


def is_required(settings: RealmSettings, role: int) -> bool:
    """Whether the organization asks it of people with that role."""
    if settings.second_factor_rule == "administrators":
        return role <= Role.ADMINISTRATOR
    return settings.second_factor_rule == "everybody"


def clean_code(code: str) -> str:
    """A code as it was made: people type blanks and hyphens, and small letters."""
    return "".join(char for char in code if char.isalnum()).upper()
