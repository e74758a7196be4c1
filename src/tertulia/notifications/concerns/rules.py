"""Whether and why a message concerns somebody who is not looking (pure)."""

import functools

import msgspec

from tertulia.conversations.read_state.marks import TopicPolicy, Wildcard
from tertulia.notifications.concerns.model import Decision, Facts, Trigger
from tertulia.notifications.concerns.quiet import quiet_until
from tertulia.organization.realms.limits import PRESENCE_OFFLINE_SECONDS
from tertulia.people.preferences.model import UserSettings

ACTIVE_SECONDS = PRESENCE_OFFLINE_SECONDS
"""Whoever did something so short a time ago sits at a client, which tells them itself. The same number is published."""

_NOBODY = Decision(None, None, False, False)


class Way(msgspec.Struct, frozen=True):
    """What somebody chose for one way of being told, as far as this message is concerned."""

    is_wanted: bool
    """Direct messages and mentions."""
    followed: bool
    channel: bool
    channel_trigger: Trigger


@functools.lru_cache(maxsize=4096)
def read_settings(stored: str) -> UserSettings:
    """What is stored of an account's settings. Most people have the same."""
    return msgspec.json.decode(stored, type=UserSettings)


def decide(facts: Facts) -> Decision:
    """Whether this person is told of this message, by which way, and why."""
    if not facts.is_unread or facts.is_sender_muted:
        return _NOBODY
    chosen = read_settings(facts.settings)
    is_active = facts.active_seconds is not None and facts.active_seconds < ACTIVE_SECONDS
    push = Way(
        chosen.enable_offline_push_notifications,
        chosen.enable_followed_topic_push_notifications,
        _own_or(facts.push_notifications, general=chosen.enable_stream_push_notifications),
        "stream_push",
    )
    mail = Way(
        chosen.enable_offline_email_notifications,
        chosen.enable_followed_topic_email_notifications,
        _own_or(facts.email_notifications, general=chosen.enable_stream_email_notifications),
        "stream_email",
    )
    is_quiet = quiet_until(chosen, facts.timezone, facts.now) is not None
    return Decision(
        push=None if is_active or is_quiet else trigger_of(facts, chosen, push),
        # One switch ends every mail about messages: it is the one that a mail's own link turns off.
        mail=trigger_of(facts, chosen, mail) if mail.is_wanted else None,
        is_quiet=is_quiet,
        is_active=is_active,
    )


def decide_anew(facts: Facts, before: Facts | None) -> Decision:
    """As `decide`. `before`: as it was with the text that they were told of, if there was one; who was told is not told again."""
    told = decide(facts)
    if before is None:
        return told
    former = decide(before)
    return msgspec.structs.replace(
        told, push=None if former.push else told.push, mail=None if former.mail else told.mail
    )


def trigger_of(facts: Facts, chosen: UserSettings, way: Way) -> Trigger | None:
    """The most urgent reason; mutes of topics and channels do not matter to what is meant for this person."""
    if way.is_wanted:
        if facts.is_direct:
            return "direct_message"
        if facts.is_named or facts.in_group:
            return "mentioned"
        if called := _called(facts, chosen):
            return called
    if facts.is_direct:
        return None
    if facts.policy == TopicPolicy.FOLLOWED and way.followed:
        return "followed_topic"
    return way.channel_trigger if way.channel and _is_heard(facts) else None


def _called(facts: Facts, chosen: UserSettings) -> Trigger | None:
    """By a mention of everybody in the topic or in the channel."""
    if facts.wildcard & Wildcard.TOPIC and facts.takes_part:
        trigger: Trigger = "topic_wildcard_mentioned"
    elif facts.wildcard & Wildcard.CHANNEL:
        trigger = "stream_wildcard_mentioned"
    else:
        return None
    if facts.policy == TopicPolicy.FOLLOWED and chosen.enable_followed_topic_wildcard_mentions_notify:
        return trigger
    wants = _own_or(facts.wildcard_mentions_notify, general=chosen.wildcard_mentions_notify)
    return trigger if wants and _is_heard(facts) else None


def _is_heard(facts: Facts) -> bool:
    """Following a topic of a muted channel does not unmute it here: following has settings of its own."""
    if facts.is_channel_muted:
        return facts.policy == TopicPolicy.UNMUTED
    return facts.policy != TopicPolicy.MUTED


def _own_or(own: bool | None, *, general: bool) -> bool:
    return general if own is None else own
