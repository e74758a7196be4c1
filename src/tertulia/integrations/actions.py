"""From what a service posted to a message."""

from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qs

import msgspec

from tertulia.integrations.model import Integration, Post
from tertulia.integrations.slack_incoming.mrkdwn import EVERYBODY
from tertulia.integrations.wording import fit_content, fit_topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.json_guard import JsonTrouble, check_depth
from tertulia.messages.actions import Draft, Sending
from tertulia.messages.rules import ToChannel, ToPeople
from tertulia.users.queries import owner_id_of

_WILDCARDS_REFUSED = ("STREAM_WILDCARD_MENTION_NOT_ALLOWED", "TOPIC_WILDCARD_MENTION_NOT_ALLOWED")
_FORM = "application/x-www-form-urlencoded"


def decode_payload(body: bytes, content_type: str) -> Any:
    """The JSON value in a body; some services put it into a form, as the field `payload`."""
    try:
        if content_type.partition(";")[0].strip().lower() == _FORM and not body.lstrip().startswith(b"{"):
            body = parse_qs(body.decode()).get("payload", [""])[-1].encode()
        check_depth(body)
        return msgspec.json.decode(body)
    except JsonTrouble as trouble:
        raise Refusal(f"The request body {trouble}", code="INVALID_JSON") from None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Refusal("The request body is not valid JSON", code="INVALID_JSON") from None


def wants(event: str, only: list[str] | None, exclude: list[str] | None) -> bool:
    """Whether whoever wrote the address wants to hear of such events."""
    if only is not None and not any(fnmatchcase(event, pattern) for pattern in only):
        return False
    return not any(fnmatchcase(event, pattern) for pattern in exclude or ())


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
    client, content = f"{integration.display_name} webhook", fit_content(post.content)
    if channel is None:
        to: ToChannel | ToPeople = await _owner(database, bot)
    else:
        named = int(channel) if channel.isascii() and channel.isdigit() and len(channel) < 19 else channel
        to = ToChannel(named, fit_topic(post.topic, integration.display_name) if topic is None else topic)
    try:
        await sending.send(bot, Draft(to, content, client))
    except Refusal as refusal:
        if refusal.code not in _WILDCARDS_REFUSED:
            raise
        # What happened there is to be known, even if not everybody may be called for it.
        await sending.send(bot, Draft(to, content.replace(EVERYBODY, EVERYBODY.replace("@", "@_")), client))


async def _owner(database: Database, bot: Caller) -> ToPeople:
    async with database.reader() as reader:
        owner_id = await owner_id_of(reader, bot.user_id)
    if owner_id is None:
        raise Refusal("stream is missing: this bot has no owner to tell.")
    return ToPeople(ids=(owner_id,))
