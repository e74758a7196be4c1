"""Which bots a message calls, what is posted to a bot's server, and what its answer means (pure)."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from tertulia.content.markup.writing import Mention, Text, worded
from tertulia.integrations.outgoing.model import HookCall, Posted, Said, Trigger
from tertulia.integrations.outgoing.words import Words
from tertulia.kernel.outbound import Answer
from tertulia.messaging.reading.model import MessageRecord, Participant
from tertulia.messaging.sending.model import Outgoing
from tertulia.messaging.sending.rules import ToChannel, ToPeople

ATTEMPTS = 3
RETRY_SECONDS = (2.0, 10.0)
"""How long after a failed call it is made again."""
SLACK = 2


class Failed(Exception):
    """A call had no good answer. The text says why, for the bot's owner."""

    def __init__(self, reason: str, *, again: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        """Whether it may succeed a little later."""


def bots_called(message: Outgoing) -> tuple[int, ...]:
    """Bots whose servers are called: mentioned in a channel, or in the direct conversation."""
    if message.sender.is_bot:
        return ()  # two of them would never stop
    return message.text.webhooks if message.place.is_channel else message.place.webhooks


def request_of(call: HookCall, message: MessageRecord, host: str) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a call."""
    if call.interface == SLACK:
        form = urlencode(_slack_form(call, message, host)).encode()
        return form, {"Content-Type": "application/x-www-form-urlencoded"}
    posted = Posted(call.bot.email, call.bot.full_name, message.content, message, call.token, trigger_of(message))
    return msgspec.json.encode(posted), {"Content-Type": "application/json"}


def trigger_of(message: MessageRecord) -> Trigger:
    """Why the bot is called."""
    return "mention" if message.type == "stream" else "direct_message"


def _slack_form(call: HookCall, message: MessageRecord, host: str) -> dict[str, str]:
    """As an outgoing webhook of Slack posts it; a direct conversation stands for a channel."""
    is_channel = message.type == "stream"
    return {
        "token": call.token,
        "team_id": f"T{call.bot.realm_id}",
        "team_domain": host,
        "service_id": str(call.bot.user_id),
        "channel_id": f"{'C' if is_channel else 'D'}{message.recipient_id}",
        "channel_name": str(message.display_recipient) if is_channel else "directmessage",
        "thread_ts": str(message.timestamp),
        "timestamp": str(message.timestamp),
        "user_id": f"U{message.sender_id}",
        "user_name": message.sender_full_name,
        "text": message.content,
        "trigger_word": trigger_of(message),
    }


def said_in(call: HookCall, answer: Answer) -> str | None:
    """What the bot says, if anything. Whatever type the answer claims to have: it is JSON, or empty."""
    if not 200 <= answer.status < 300:
        again = answer.status >= 500 or answer.status == 429
        raise Failed(f"the server answered with the status {answer.status}", again=again)
    if not answer.body.strip():
        return None
    try:
        value: Any = msgspec.json.decode(answer.body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Failed("the answer is not JSON", again=False) from None
    if not isinstance(value, dict):
        return None
    said = msgspec.convert({name: value.get(name) for name in Said.__struct_fields__}, Said)
    if said.response_not_required is True:
        return None
    found = said.text if call.interface == SLACK else said.response_string if said.content is None else said.content
    if found is not None and not isinstance(found, str):
        raise Failed("what the bot would say is not a text", again=False)
    return found.strip() or None if found else None


def place_of(message: MessageRecord) -> ToChannel | ToPeople:
    """Where the bot answers: where it was spoken to."""
    if isinstance(message.stream_id, int):
        return ToChannel(message.stream_id, message.subject)
    # Encoded and read again: of a message that was loaded, the people are JSON already.
    people = msgspec.json.decode(msgspec.json.encode(message.display_recipient), type=list[Participant])
    return ToPeople(ids=tuple(person.id for person in people))


def told_owner(words: Words, call: HookCall, message: MessageRecord | None, reason: str) -> Text:
    """What the owner hears of a call that came to nothing."""
    bot = Mention(call.bot.user_id, call.bot.full_name)
    if message is not None and message.type == "stream":
        return worded(words.failed_in, bot=bot, channel=str(message.display_recipient), reason=reason)
    return worded(words.failed, bot=bot, reason=reason)
