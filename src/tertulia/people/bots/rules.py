"""Pure decisions about bots."""

import re

from tertulia.kernel.auth import BotType, Role
from tertulia.kernel.errors import Refusal
from tertulia.kernel.urls import split_url
from tertulia.people.users.model import Account
from tertulia.people.users.rules import is_email

_SHORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,55}")
MAX_URL_LENGTH = 2000


def bot_email(short_name: str, domain: str) -> str:
    """A bot's address; refuses short names that make none."""
    email = f"{short_name.strip()}-bot@{domain}"
    if not _SHORT_NAME.fullmatch(short_name.strip()) or not is_email(email):
        raise Refusal("Bad name or username: a short name has letters, digits, dots, hyphens and underscores.")
    return email


def check_type(bot_type: int) -> None:
    """Refuse types of bots that cannot be made."""
    if bot_type == BotType.EMBEDDED:
        raise Refusal("Embedded bots are not enabled.")
    if bot_type not in tuple(BotType):
        raise Refusal("Invalid bot type")


def rights_for(bot_type: int) -> tuple[str, ...]:
    """The permissions of which one is needed to make such a bot."""
    if bot_type == BotType.INCOMING_WEBHOOK:
        return "can_create_bots_group", "can_create_write_only_bots_group"
    return ("can_create_bots_group",)


def check_url(text: str) -> str:
    """Refuse what is no address of a web server; credentials would be shown to everybody who sees the bot."""
    try:
        parts = split_url(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
        _ = parts.port
    except ValueError:
        is_good = False
    if not is_good or len(text) > MAX_URL_LENGTH or any(char.isspace() or not char.isprintable() for char in text):
        raise Refusal("payload_url is not the URL of a web server.")
    return text


def check_new_owner(owner: Account | None) -> Account:
    """Refuse whoever cannot own bots."""
    if owner is None:
        raise Refusal("Failed to change owner, no such user")
    if not owner.is_active:
        raise Refusal("Failed to change owner, user is deactivated")
    if owner.is_bot:
        raise Refusal("Failed to change owner, bots can't own other bots")
    if owner.role == Role.GUEST:
        raise Refusal("Failed to change owner, guests can't own bots")
    return owner


def check_reads_by(user_id: int, bot: Account) -> None:
    """Refuse whoever is not the owner: administrators manage the bots of others, and do not read by them."""
    if bot.bot_owner_id != user_id:
        raise Refusal("Only the owner of a bot gets its API key, or says where it sends what it hears.")


def no_such_bot() -> Refusal:
    """No bot the caller could mean."""
    return Refusal("No such bot")
