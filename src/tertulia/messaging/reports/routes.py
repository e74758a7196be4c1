"""The endpoint of reports."""

from tertulia.content.markup.writing import ChannelLink, Mention, Quotation, Text, worded
from tertulia.kernel.auth import Caller, Human
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import RateLimits, parse_rates
from tertulia.kernel.settings import Settings
from tertulia.messaging.reading.access import Reached, access_message
from tertulia.messaging.reports.rules import MAX_QUOTED, Kind, clean_description, topic_about
from tertulia.messaging.reports.words import Words, words_of
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.queries import get_realm
from tertulia.organization.realms.settings import NO_CHANNEL
from tertulia.people.users.authentication.queries import get_owner

REPORTS = parse_rates("10/3600,30/86400")


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
    description: str = "",
) -> None:
    """Report a message you can read: its content is posted in the channel for moderation requests."""
    description = clean_description(report_type, description)
    if settings.rate_limits:
        await limits.spend(call, "report", str(caller.user_id), REPORTS)
    async with database.transaction() as tx:
        message = await access_message(tx, caller, message_id)
        await _tell(tx, caller, message, report_type, description)


async def _tell(tx: Transaction, caller: Caller, message: Reached, kind: Kind, description: str) -> None:
    rules = (await get_realm(tx, caller.realm_id)).settings
    if rules.moderation_request_channel_id == NO_CHANNEL:
        raise Refusal("This organization has no channel for moderation requests.")
    sender = (await get_owner(tx, message.sender_id)).caller
    words = words_of(rules.default_language)
    said = _said(words, caller, sender, message, rules.empty_topic_display_name)
    notice = Notice(
        (*said, *_reason(words, kind, description, message.content)),
        channel_id=rules.moderation_request_channel_id,
        topic=topic_about(words.topic, sender.full_name),
        seen_by=caller.user_id,
    )
    await tell(tx, caller.realm_id, [notice])


def _said(words: Words, caller: Caller, sender: Caller, message: Reached, empty: str) -> Text:
    """Who reported what."""
    people = {"who": _person(caller), "sender": _person(sender)}
    if message.channel is None:
        return worded(words.reported_direct, **people)
    place = ChannelLink(message.conversation_id, message.channel, message.topic or empty, message.id)
    return worded(words.reported, place=place, **people)


def _reason(words: Words, kind: Kind, description: str, content: str) -> Text:
    """Why somebody reports a message, and what it says."""
    said: Text = (Quotation(description),) if description else ()
    cut: Text = (words.cut,) if len(content) > MAX_QUOTED else ()
    reason = worded(words.reason, reason=words.kinds[kind])
    return (*reason, *said, words.message, Quotation(content[:MAX_QUOTED]), *cut)


def _person(who: Caller) -> Mention:
    return Mention(who.user_id, who.full_name)
