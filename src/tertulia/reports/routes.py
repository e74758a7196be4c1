"""The endpoint of reports."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Caller, Human
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import RateLimits, parse_rates
from tertulia.kernel.settings import Settings
from tertulia.messages.access import Reached, access_message
from tertulia.notices import Notice, tell
from tertulia.realms.queries import get_realm
from tertulia.realms.settings import NO_CHANNEL, decode_settings
from tertulia.reports.rules import MAX_DESCRIPTION, Kind, check_description, report_text, topic_about
from tertulia.users.owner_queries import get_owner

REPORTS = parse_rates("10/3600,30/86400")
Description = Annotated[str, msgspec.Meta(max_length=MAX_DESCRIPTION)]


@post("/messages/{message_id}/report")
async def report_message(
    caller: Human,
    call: Call,
    database: Database,
    settings: Settings,
    limits: RateLimits,
    *,
    message_id: int,
    report_type: Kind,
    description: Description = "",
) -> None:
    """Tell the moderators of a message you can read: what it says goes to the channel for moderation requests."""
    check_description(report_type, description)
    if settings.rate_limits:
        await limits.spend(call, "report", str(caller.user_id), REPORTS)
    async with database.transaction() as tx:
        message = await access_message(tx, caller, message_id)
        await _tell(tx, caller, message, report_type, description)


async def _tell(tx: Transaction, caller: Caller, message: Reached, kind: Kind, description: str) -> None:
    rules = decode_settings((await get_realm(tx, caller.realm_id)).settings)
    if rules.moderation_request_channel_id == NO_CHANNEL:
        raise Refusal("This organization has no channel for moderation requests.")
    sender = (await get_owner(tx, message.sender_id)).caller
    content = report_text(
        _person(caller), _person(sender), _place(message, rules.empty_topic_display_name), kind, description,
        message.content,
    )  # fmt: skip
    notice = Notice(
        content=content, channel_id=rules.moderation_request_channel_id, topic=topic_about(sender.full_name)
    )
    await tell(tx, caller.realm_id, [notice])


def _place(message: Reached, empty: str) -> str:
    if message.channel is None:
        return "a direct message"
    return f"a message (#**{message.channel}>{message.topic or empty}@{message.id}**)"


def _person(who: Caller) -> str:
    return f"@_**{who.full_name}|{who.user_id}**"
