"""What a push says (pure)."""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.read_state.model import Unread
from tertulia.kernel.errors import Refusal
from tertulia.kernel.urls import split_url
from tertulia.notifications.concerns.places import Spot, place_of
from tertulia.notifications.push.crypto import MAX_PAYLOAD, SECRET_LENGTH, from_text, is_point
from tertulia.notifications.push.model import Declared, Payload, Push, TestPayload
from tertulia.notifications.push.plain import plain_text
from tertulia.notifications.push.words import words_of
from tertulia.people.users.visibility.actions import UNKNOWN_AVATAR, UNKNOWN_NAME

MAX_TEXT = 300
MAX_ENDPOINT = 2000
DECLARATIVE = 8030
"""By this number browsers know a push that they may show by themselves."""
SETTINGS = "#settings/notifications"
COUNT_ALL, COUNT_NOTHING = 1, 4
"""Of `desktop_icon_count_display`; those between count direct messages and mentions."""


def check_endpoint(endpoint: str, *, is_development: bool) -> str:
    """Refuse what cannot be the address of a push service."""
    try:
        parts = split_url(endpoint)
        is_good = bool(parts.hostname) and not parts.username
        is_good &= parts.scheme == "https" or (is_development and parts.scheme == "http")
        _ = parts.port
    except ValueError:
        is_good = False
    if (
        not is_good
        or len(endpoint) > MAX_ENDPOINT
        or not endpoint.isascii()
        or not endpoint.isprintable()
        or " " in endpoint
    ):
        raise Refusal("endpoint is not the address of a push service.")
    return endpoint


def check_keys(p256dh: str, auth: str) -> tuple[bytes, bytes]:
    """The browser's keys as bytes; refuses what is none."""
    try:
        public_key, secret = from_text(p256dh), from_text(auth)
    except ValueError:
        raise Refusal("p256dh and auth are base64, as browsers write it.") from None
    if not is_point(public_key):
        raise Refusal("p256dh is not a public key.")
    if len(secret) != SECRET_LENGTH:
        raise Refusal(f"auth has {SECRET_LENGTH} bytes.")
    return public_key, secret


def payload_of(push: Push, realm_url: str) -> bytes:
    """What is sent, as JSON that fits: what is said twice goes first, then the text."""
    payload = _payload(push, realm_url)
    whole = msgspec.structs.replace(
        payload, web_push=DECLARATIVE, mutable=True, notification=_declared(payload, push.language)
    )
    without_text = msgspec.structs.replace(payload, content=None)
    forms = (msgspec.json.encode(form) for form in (whole, payload, without_text))
    return next((form for form in forms if len(form) <= MAX_PAYLOAD), msgspec.json.encode(without_text))


def _payload(push: Push, realm_url: str) -> Payload:
    is_shown = push.channel is not None or push.shows_direct
    place = place_of(Spot(push.channel_id, push.channel, push.topic, push.participants), push.user_id)
    words = words_of(push.language)
    return Payload(
        type="message",
        message_id=push.message_id,
        trigger=push.trigger,
        realm_url=realm_url,
        user_id=push.user_id,
        sender_id=push.sender_id,
        sender_full_name=UNKNOWN_NAME if push.sender_is_hidden else push.sender_full_name,
        icon=UNKNOWN_AVATAR if push.sender_is_hidden else f"/avatar/{push.sender_id}",
        timestamp=push.sent_at,
        url=f"{place}/near/{push.message_id}",
        tag=place,
        channel_id=push.channel_id,
        channel=push.channel,
        topic=None if push.topic is None else push.topic or push.empty_topic,
        content=plain_text(push.rendered, MAX_TEXT) if is_shown else None,
        words={"reply": words.reply, "mark_read": words.mark_read, "failed": words.failed},
    )


def _declared(payload: Payload, language: str) -> Declared:
    """The same for a browser that shows it by itself. The service worker, where it is asked, makes more of it."""
    where = "" if payload.channel is None else f" · #{payload.channel} > {payload.topic}"
    return Declared(
        title=payload.sender_full_name + where,
        navigate=f"{payload.realm_url}/{payload.url}",
        body=payload.content or "",
        tag=payload.tag,
        lang=words_of(language).language,
        data={"url": payload.url, "userId": payload.user_id, "messageId": payload.message_id},
    )


def test_payload_of(user_id: int, realm_url: str, language: str) -> bytes:
    """What somebody pushes to their own browser."""
    words = words_of(language)
    declared = Declared(
        title=words.test_title,
        navigate=f"{realm_url}/{SETTINGS}",
        body=words.test_body,
        tag="test",
        lang=words.language,
        data={"url": SETTINGS, "userId": user_id},
    )
    return msgspec.json.encode(TestPayload(user_id, realm_url, declared))


def badge_count(unread: Sequence[Unread], display: int) -> int:
    """The number on the icon of the installed client, as the person's `desktop_icon_count_display` wants it."""
    if display == COUNT_ALL:
        return sum(len(place.ids) for place in unread if not place.is_muted)
    if display == COUNT_NOTHING:
        return 0
    direct = {one for place in unread if place.participants is not None for one in place.ids}
    return len(direct.union(*(place.mentions for place in unread)))
