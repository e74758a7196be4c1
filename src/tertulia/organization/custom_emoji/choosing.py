"""Which emoji somebody means, and whether they may choose it."""

import re

from tertulia.content.emoji import EXTRA_EMOJI, find_code, is_code
from tertulia.kernel.compat import emoji_type_of
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.organization.custom_emoji import queries
from tertulia.organization.custom_emoji.model import CUSTOM, EXTRA, UNICODE, Emoji

INVALID_CODE = "Invalid emoji code"
_NAME = re.compile(r"[^\s:]{1,100}")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


async def by_name(reader: Reader, realm_id: int, name: str) -> Emoji | None:
    """What a name alone stands for: a custom emoji before the service's own, and that before those of Unicode."""
    custom = await queries.find_active(reader, realm_id, name)
    if custom is not None:
        return Emoji(custom.name, str(custom.id), CUSTOM)
    if name == EXTRA_EMOJI:
        return Emoji(name, name, EXTRA)
    code = find_code(name)
    return None if code is None else Emoji(name, code, UNICODE)


async def complete(
    reader: Reader, realm_id: int, name: str, code: str | None, reaction_type: str | None
) -> tuple[str, str]:
    """Code and type, as far as they are not given: a code says what type it is of, else the name says both."""
    if code is not None and reaction_type is None:
        reaction_type = _type_of_code(code)
    if code is None or reaction_type is None:
        named = await by_name(reader, realm_id, name)
        if named is None:
            raise Refusal(f"There is no emoji named '{name}'.")
        code = named.emoji_code if code is None else code
        reaction_type = named.reaction_type if reaction_type is None else reaction_type
    return code.lower() if reaction_type == UNICODE else code, emoji_type_of(reaction_type)


def _type_of_code(code: str) -> str | None:
    if is_code(code.lower()):
        return UNICODE
    if code == EXTRA_EMOJI:
        return EXTRA
    return CUSTOM if _NUMBER.fullmatch(code) else None


async def choose(reader: Reader, realm_id: int, name: str, code: str, reaction_type: str) -> Emoji:
    """The emoji of a name, code and type; refuses one that does not exist or is deactivated."""
    if reaction_type == CUSTOM:
        custom = await queries.find_emoji(reader, realm_id, int(code)) if _NUMBER.fullmatch(code) else None
        if custom is None:
            raise Refusal("Invalid custom emoji")
        if custom.name != name:
            raise Refusal("Invalid custom emoji name")
        if custom.is_deactivated:
            raise Refusal("This custom emoji has been deactivated.")
        return Emoji(name, code, CUSTOM)
    if reaction_type == EXTRA:
        if code != EXTRA_EMOJI:
            raise Refusal(INVALID_CODE)
        if name != code:
            raise Refusal("Invalid emoji name")
        return Emoji(name, code, EXTRA)
    check_type(reaction_type)
    if not is_code(code):
        raise Refusal(INVALID_CODE)
    # Clients carry different lists of names: a known code is enough, if the name could be one.
    if not _NAME.fullmatch(name):
        raise Refusal("Invalid emoji name")
    return Emoji(name, code, UNICODE)


def check_type(reaction_type: str) -> None:
    """Refuse a type that no emoji has."""
    if reaction_type not in (UNICODE, CUSTOM, EXTRA):
        raise Refusal("Invalid emoji type")


async def is_known(reader: Reader, realm_id: int, code: str, reaction_type: str | None) -> bool:
    """Whether there is such a code, in its type or, if that is not said, in any."""
    if reaction_type in (None, UNICODE) and is_code(code.lower()):
        return True
    if reaction_type in (None, EXTRA) and code == EXTRA_EMOJI:
        return True
    may_be_custom = reaction_type in (None, CUSTOM) and _NUMBER.fullmatch(code) is not None
    return may_be_custom and await queries.find_emoji(reader, realm_id, int(code)) is not None
