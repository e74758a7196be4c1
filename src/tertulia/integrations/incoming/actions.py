"""From what a service posted to a message."""

import time
from typing import Any

import msgspec

from tertulia.integrations.incoming import queries
from tertulia.integrations.incoming.model import Integration, Post
from tertulia.integrations.incoming.slack_incoming.mrkdwn import EVERYBODY
from tertulia.integrations.incoming.table import INTEGRATIONS
from tertulia.integrations.incoming.wording import fit_content, fit_topic
from tertulia.kernel.auth import BotType, Caller
from tertulia.kernel.call import MAX_CLIENT_NAME, Call
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.json_guard import JsonTrouble, check_depth
from tertulia.kernel.sealing import PREFIX as SEALED_PREFIX
from tertulia.kernel.urlencoded import read_urlencoded
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import SendRequest
from tertulia.messaging.sending.rules import ToChannel, ToPeople
from tertulia.organization.audit_log import Act, note, user
from tertulia.people.bots.actions import hold_bot
from tertulia.people.bots.queries import set_signed_only
from tertulia.people.users.authentication.actions import unsigned
from tertulia.people.users.queries import owner_id_of

_WILDCARDS_REFUSED = ("STREAM_WILDCARD_MENTION_NOT_ALLOWED", "TOPIC_WILDCARD_MENTION_NOT_ALLOWED")
MIN_SECRET = 8
SIGNED = [integration.name for integration in INTEGRATIONS.values() if integration.is_signed]
_FORM = "application/x-www-form-urlencoded"


def decode_payload(body: bytes, content_type: str) -> Any:
    """The JSON value in a body; some services put it into a form, as the field `payload`."""
    try:
        if content_type.partition(";")[0].strip().lower() == _FORM and not body.lstrip().startswith(b"{"):
            fields: dict[str, Any] = {}
            read_urlencoded(body, fields)
            text = fields.get("payload")
            body = text.encode() if isinstance(text, str) else b""
        check_depth(body)
        return msgspec.json.decode(body)
    except JsonTrouble as trouble:
        raise Refusal(f"The request body {trouble}", code="INVALID_JSON") from None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Refusal("The request body is not valid JSON", code="INVALID_JSON") from None


async def check_signature(database: Database, bot: Caller, integration: Integration, call: Call) -> None:
    """Refuses what is not signed, where a secret is set: by this door, and by those of services that have none, because
    whoever has the address has the key for all of them. Before anything is read of the payload.
    """
    if not bot.signed_only:
        return
    if integration.is_signed is None:
        raise unsigned()
    async with database.reader() as reader:
        secret = await queries.find_secret(reader, bot.user_id, integration.name)
    if secret is None or not integration.is_signed(secret, dict(call.headers), call.body, time.time()):
        raise unsigned()


async def set_secret(tx: Transaction, caller: Caller, bot_id: int, name: str, secret: str) -> None:
    """What a service signs with when it posts for a bot; empty: nothing."""
    bot = await hold_bot(tx, caller, bot_id)
    if bot.bot_type != BotType.INCOMING_WEBHOOK and secret:
        raise Refusal("Only an incoming webhook bot has secrets: the key of any other opens more than webhooks.")
    integration = INTEGRATIONS.get(name)
    if integration is None or integration.is_signed is None:
        raise Refusal(f"integration is one of: {', '.join(sorted(SIGNED))}.")
    if not secret:
        await queries.delete_secret(tx, bot.id, name)
        await set_signed_only(tx, bot.id, signed_only=await queries.has_secrets(tx, bot.id))
        note(tx, caller.realm_id, Act.BOT_CHANGED, user(bot.id), webhook_secret=(True, False))
        return
    if len(secret) < MIN_SECRET or "\0" in secret or secret.startswith(SEALED_PREFIX):
        raise Refusal(f"secret has at least {MIN_SECRET} characters, such as a service makes them.")
    if not integration.can_be_secret(secret):
        raise Refusal(f"secret is none that {integration.display_name} signs with: copy the whole of it.")
    await queries.put_secret(tx, bot.id, name, secret)
    await set_signed_only(tx, bot.id, signed_only=True)
    note(tx, caller.realm_id, Act.BOT_CHANGED, user(bot.id), webhook_secret=(None, True))


def wants(event: str, only: list[str] | None, exclude: list[str] | None) -> bool:
    """Whether whoever wrote the address wants to hear of such events."""
    if only is not None and not any(_fits(event, pattern) for pattern in only):
        return False
    return not any(_fits(event, pattern) for pattern in exclude or ())


def _fits(event: str, pattern: str) -> bool:
    """`*` is any characters. `fnmatch` makes a regular expression of it, and other signs of its own can take it seconds."""
    first, *inner = pattern.split("*")
    if not inner:
        return event == pattern
    *inner, last = inner
    place, end = len(first), len(event) - len(last)
    if not (event.startswith(first) and event.endswith(last) and place <= end):
        return False
    for part in inner:
        found = event.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


async def say(
    sending: Sending,
    database: Database,
    bot: Caller,
    integration: Integration,
    post: Post,
    channel: str | None,
    topic: str | None,
) -> None:
    """Send it to the channel, or to the bot's owner."""
    client = f"{integration.display_name} webhook"[:MAX_CLIENT_NAME].strip()
    content = fit_content(post.content)
    if channel is None:
        to: ToChannel | ToPeople = await _owner(database, bot)
    else:
        named = int(channel) if channel.isascii() and channel.isdigit() and len(channel) < 19 else channel
        to = ToChannel(named, fit_topic(post.topic, integration.display_name) if topic is None else topic)
    try:
        await sending.send(bot, SendRequest(to, content, client))
    except Refusal as refusal:
        if refusal.code not in _WILDCARDS_REFUSED:
            raise
        # What happened there is to be known, even if not everybody may be called for it.
        await sending.send(bot, SendRequest(to, content.replace(EVERYBODY, EVERYBODY.replace("@", "@_")), client))


async def _owner(database: Database, bot: Caller) -> ToPeople:
    async with database.reader() as reader:
        owner_id = await owner_id_of(reader, bot.user_id)
    if owner_id is None:
        raise Refusal("stream is missing: this bot has no owner to tell.")
    return ToPeople(ids=(owner_id,))
