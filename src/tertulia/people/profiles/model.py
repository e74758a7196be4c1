"""Custom profile fields and values as the API shows them."""

from enum import IntEnum

import msgspec


class FieldType(IntEnum):
    """What can be said in a field."""

    SHORT_TEXT = 1
    PARAGRAPH = 2
    DROPDOWN = 3
    DATE = 4
    URL = 5
    USER = 6
    EXTERNAL_ACCOUNT = 7
    PRONOUNS = 8


TYPE_NAMES = {
    FieldType.SHORT_TEXT: "Short text",
    FieldType.PARAGRAPH: "Paragraph",
    FieldType.DROPDOWN: "Dropdown",
    FieldType.DATE: "Date",
    FieldType.URL: "Link",
    FieldType.USER: "Users",
    FieldType.EXTERNAL_ACCOUNT: "External account",
    FieldType.PRONOUNS: "Pronouns",
}


class ProfileField(msgspec.Struct, frozen=True, omit_defaults=True):
    """A field of a realm."""

    id: int
    type: int
    order: int
    name: str
    hint: str
    field_data: str
    """JSON text; empty for types that need none."""
    required: bool
    editable_by_user: bool
    display_in_profile_summary: bool = False
    use_for_user_matching: bool = False


class FieldPlan(msgspec.Struct, frozen=True):
    """A field to be made or changed, as it was asked for; None: as it is."""

    name: str | None = None
    hint: str | None = None
    field_data: object = None
    required: bool | None = None
    editable_by_user: bool | None = None
    display_in_profile_summary: bool | None = None
    use_for_user_matching: bool | None = None


class Value(msgspec.Struct, frozen=True):
    """A value as it is stored: as text, and for texts also as HTML."""

    field_id: int
    value: str
    rendered: str | None = None
