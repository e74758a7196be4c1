"""Pure decisions about profile fields: what a field may be, and what may be said in it."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Annotated

import msgspec

from tertulia.content.markup import render_description
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character
from tertulia.kernel.urls import split_url
from tertulia.people.profiles.accounts import CUSTOM, EXTERNAL_ACCOUNTS, USERNAME
from tertulia.people.profiles.model import FieldPlan, FieldType, ProfileField, Value
from tertulia.people.users.model import ProfileEntry

MAX_IN_SUMMARY = 2
MAX_NAME_LENGTH = 40
MAX_HINT_LENGTH = 80
MAX_CHOICES = 200
MAX_DATA_LENGTH = 20_000
MAX_URL_LENGTH = 2000
MAX_USERS = 100
MAX_TEXT_LENGTH = {
    FieldType.SHORT_TEXT: 50,
    FieldType.PARAGRAPH: 500,
    FieldType.URL: MAX_URL_LENGTH,
    FieldType.EXTERNAL_ACCOUNT: 50,
    FieldType.PRONOUNS: 50,
}
MATCHING_TYPES = (FieldType.SHORT_TEXT, FieldType.EXTERNAL_ACCOUNT)
RENDERED_TYPES = (FieldType.SHORT_TEXT, FieldType.PARAGRAPH)

_UserId = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the choices of a dropdown."""

    text: str
    order: str | int


class AccountKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where an external account is."""

    subtype: str
    url_pattern: str = ""


# Fields


def new_field(type: int, plan: FieldPlan, order: int) -> ProfileField:
    """The field that was asked for; its id is not known yet."""
    if type not in list(FieldType):
        raise Refusal("Invalid field type.")
    name, hint = plan.name or "", plan.hint or ""
    data = clean_field_data(type, plan.field_data)
    if type == FieldType.EXTERNAL_ACCOUNT and (known := EXTERNAL_ACCOUNTS.get(_account_kind(plan.field_data).subtype)):
        name, hint = name if name.strip() else known["name"], hint or known["hint"]
    return ProfileField(
        id=0,
        type=type,
        order=order,
        name=clean_name(name),
        hint=clean_hint(hint),
        field_data=data,
        required=bool(plan.required),
        editable_by_user=plan.editable_by_user is not False,
        display_in_profile_summary=bool(plan.display_in_profile_summary),
        use_for_user_matching=bool(plan.use_for_user_matching),
    )


def changed_field(field: ProfileField, plan: FieldPlan) -> ProfileField:
    """The field with what was asked for; its type stays."""
    asked = {name: value for name, value in msgspec.structs.asdict(plan).items() if value is not None}
    if "name" in asked:
        asked["name"] = clean_name(asked["name"])
    if "hint" in asked:
        asked["hint"] = clean_hint(asked["hint"])
    if "field_data" in asked:
        asked["field_data"] = clean_field_data(field.type, asked["field_data"])
    return msgspec.structs.replace(field, **asked)


def check_among(field: ProfileField, others: Sequence[ProfileField]) -> None:
    """Refuse a field that does not fit to the others of the realm."""
    if any(other.name.lower() == field.name.lower() for other in others):
        raise Refusal("A field with that label already exists.")
    if field.display_in_profile_summary:
        if field.type == FieldType.USER:
            raise Refusal("Fields of this type can't be displayed in the profile summary.")
        if sum(other.display_in_profile_summary for other in others) >= MAX_IN_SUMMARY:
            raise Refusal(f"Only {MAX_IN_SUMMARY} fields can be displayed in the profile summary.")
    if field.use_for_user_matching and field.type not in MATCHING_TYPES:
        raise Refusal("Fields of this type can't be used to find users.")


def clean_name(name: str) -> str:
    """A label as it is stored."""
    name = name.strip()
    if not name:
        raise Refusal("Label cannot be blank.")
    if len(name) > MAX_NAME_LENGTH:
        raise Refusal(f"name is too long (limit: {MAX_NAME_LENGTH} characters)")
    if (position := bad_character(name)) is not None:
        raise Refusal(f"Invalid character in the label, at position {position}.")
    return name


def clean_hint(hint: str) -> str:
    """A hint as it is stored."""
    if len(hint) > MAX_HINT_LENGTH:
        raise Refusal(f"hint is too long (limit: {MAX_HINT_LENGTH} characters)")
    return hint


def clean_field_data(type: int, data: object) -> str:
    """What a type needs to know, as JSON text."""
    if type == FieldType.DROPDOWN:
        text = msgspec.json.encode(_clean_choices(data)).decode()
    elif type == FieldType.EXTERNAL_ACCOUNT:
        text = msgspec.json.encode(_account_kind(data)).decode()
    elif data:
        raise Refusal("Fields of this type have no field_data.")
    else:
        text = ""
    if len(text) > MAX_DATA_LENGTH:
        raise Refusal(f"field_data is too long (limit: {MAX_DATA_LENGTH} characters)")
    return text


def _clean_choices(data: object) -> dict[str, Choice]:
    try:
        choices = msgspec.convert(data or {}, dict[str, Choice])
    except msgspec.ValidationError as error:
        raise Refusal("field_data needs a text and an order for each choice.") from error
    if not choices:
        raise Refusal("Field must have at least one choice.")
    if len(choices) > MAX_CHOICES:
        raise Refusal(f"There are too many choices (limit: {MAX_CHOICES}).")
    if not all(
        key.strip() and choice.text.strip() and str(choice.order).isdecimal() for key, choice in choices.items()
    ):
        raise Refusal("A choice needs a key, a text and a number as its order.")
    if len({choice.text.strip().lower() for choice in choices.values()}) < len(choices):
        raise Refusal("Field must not have duplicate choices.")
    return {key: Choice(choice.text.strip(), str(choice.order)) for key, choice in choices.items()}


def choices_of(field: ProfileField) -> dict[str, Choice]:
    """The choices of a dropdown by their keys."""
    return msgspec.json.decode(field.field_data, type=dict[str, Choice])


def _account_kind(data: object) -> AccountKind:
    try:
        kind = msgspec.convert(data or {}, AccountKind)
    except msgspec.ValidationError as error:
        raise Refusal("field_data needs a subtype, and for custom accounts a url_pattern.") from error
    if kind.subtype in EXTERNAL_ACCOUNTS and not kind.url_pattern:
        return kind
    if kind.subtype != CUSTOM:
        raise Refusal("Invalid external account type")
    if kind.url_pattern.count("%") != 1 or USERNAME not in kind.url_pattern:
        raise Refusal(f"The URL pattern of an external account holds {USERNAME} once, and no other %.")
    if not _is_url(kind.url_pattern.replace(USERNAME, "username")):
        raise Refusal("The URL pattern of an external account is not a URL.")
    return kind


def check_order(order: Sequence[int], fields: Sequence[ProfileField]) -> None:
    """Refuse an order that does not name every field once."""
    if sorted(order) != sorted(field.id for field in fields):
        raise Refusal("The order does not name every field once.")


# Values


def check_editable(field: ProfileField, *, by_administrator: bool) -> None:
    """Refuse what people may not say of themselves."""
    if not field.editable_by_user and not by_administrator:
        raise Refusal("You are not allowed to change this field. Contact an administrator to update it.")


def value_of(field: ProfileField, entry: ProfileEntry) -> Value | None:
    """What is stored of an entry; None if it takes back what was said. Whether users exist is not known here."""
    if field.type == FieldType.USER:
        ids = user_ids_of(field, entry)
        return Value(field.id, msgspec.json.encode(ids).decode()) if ids else None
    text = entry.value
    if not isinstance(text, str):
        raise Refusal(f"{field.name} is not a string")
    if not text.strip():
        return None
    _check_text(field, text)
    return Value(field.id, text, render_description(text) if field.type in RENDERED_TYPES else None)


def user_ids_of(field: ProfileField, entry: ProfileEntry) -> list[int]:
    """The users named in an entry. A JSON text is as good as a list."""
    ids: object = entry.value
    if isinstance(ids, str):
        try:
            ids = msgspec.json.decode(ids or "[]", type=list[_UserId])
        except (msgspec.DecodeError, RecursionError) as error:
            raise Refusal(f"{field.name} is not a list of user IDs") from error
    assert isinstance(ids, list)
    if len(ids) > MAX_USERS:
        raise Refusal(f"{field.name} is too long (limit: {MAX_USERS} items)")
    return list(dict.fromkeys(ids))


def _check_text(field: ProfileField, text: str) -> None:
    limit = MAX_TEXT_LENGTH.get(FieldType(field.type))
    if limit is not None and len(text) > limit:
        raise Refusal(f"{field.name} is too long (limit: {limit} characters)")
    if field.type == FieldType.DROPDOWN and text not in choices_of(field):
        raise Refusal(f"'{text[:100]}' is not a valid choice for '{field.name}'.")
    if field.type == FieldType.DATE and not _is_date(text):
        raise Refusal(f"{field.name} is not a date")
    if field.type == FieldType.URL and not _is_url(text):
        raise Refusal(f"{field.name} is not a URL")


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(dt.date.fromisoformat(text))
    except ValueError:
        return False


def _is_url(text: str) -> bool:
    """Only links that are harmless to follow: a profile is shown to everybody."""
    try:
        parts = split_url(text)
        _ = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and text.isprintable()
        and not any(char in " <>\"'`\\" for char in text)
    )
