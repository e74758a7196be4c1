"""What a mail becomes: where it goes, and its text (pure)."""

import re

from tertulia.content.markup.writing import Quotation, write
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import without_bad_characters
from tertulia.messaging.sending.rules import ToChannel, ToPeople
from tertulia.notifications.mail_in.cutting import cut_reply, cut_signature
from tertulia.notifications.mail_in.model import Received, Target
from tertulia.organization.realms.limits import MAX_TOPIC_LENGTH
from tertulia.organization.realms.settings import settings_of

NO_SUBJECT = "(no subject)"
_ANSWER = r"(?:re|aw|sv|antw|vs|odp|rép|res|ynt|回复|答复)"
_FORWARD = r"(?:fwd?|wg|tr|rv|enc|doorst|vb|i|转发)"
_BEFORE = re.compile(rf"\s*(?:{_ANSWER}|{_FORWARD})(?:\[\d{{1,3}}\])?\s?[:：]\s*", re.IGNORECASE)
_IS_ANSWER = re.compile(rf"\s*{_ANSWER}(?:\[\d{{1,3}}\])?\s?[:：]", re.IGNORECASE)


def place_of(target: Target, received: Received) -> ToChannel | ToPeople:
    """Where it goes."""
    if target.participants is not None:
        me = target.caller.user_id
        return ToPeople(ids=tuple(one for one in target.participants if one != me) or (me,))
    if target.is_reply:
        return ToChannel(target.conversation_id, target.topic or "")
    return ToChannel(target.conversation_id, "" if _has_one_topic(target) else topic_of(received.subject))


def topic_of(subject: str) -> str:
    """The topic of a mail to a channel: its subject, without what mail programs put before it."""
    about = " ".join(without_bad_characters(subject[:500]).split())
    while (before := _BEFORE.match(about)) is not None and before.end():
        about = about[before.end() :]
    if len(about) > MAX_TOPIC_LENGTH:
        about = about[: MAX_TOPIC_LENGTH - 1].rstrip() + "…"
    return about or NO_SUBJECT


def text_of(target: Target, received: Received) -> str:
    """What is said; empty if nothing is.

    Mail to a channel comes from anybody: it says from whom, as they say, and what stands in it mentions nobody.
    """
    if target.is_reply:
        return cut_reply(received.text)
    said = cut_reply(received.text) if _IS_ANSWER.match(received.subject) else cut_signature(received.text)
    head = [f"From: {received.sender[:300]}"]
    if _has_one_topic(target) or len(received.subject) > MAX_TOPIC_LENGTH:
        head.append(f"Subject: {received.subject[:500]}")
    return "\n".join(write((line,)) for line in head) + (f"\n\n{write((Quotation(said),))}" if said.strip() else "")


def with_links(text: str, links: list[tuple[str, str]]) -> str:
    """The text with what was enclosed below it."""
    told = "\n".join(f"[{name}]({address})" for name, address in links)
    joined = f"{text}\n\n{told}".strip("\n") if told else text
    if not joined.strip():
        raise Refusal("There is nothing in this mail but what it quotes.")
    return joined


def _has_one_topic(target: Target) -> bool:
    own = target.topics_policy
    return (settings_of(target.caller).topics_policy if own == "inherit" else own) == "empty_topic_only"
