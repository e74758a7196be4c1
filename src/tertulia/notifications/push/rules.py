"""What a push says (pure)."""

import msgspec

from tertulia.kernel.errors import Refusal
from tertulia.kernel.urls import split_url
from tertulia.notifications.concerns.places import Spot, place_of
from tertulia.notifications.push.crypto import MAX_PAYLOAD, SECRET_LENGTH, from_text, is_point
from tertulia.notifications.push.model import Payload, Push
from tertulia.notifications.push.plain import plain_text
from tertulia.people.users.visibility.actions import UNKNOWN_AVATAR, UNKNOWN_NAME

MAX_TEXT = 300
MAX_ENDPOINT = 2000


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
    """What is sent, as JSON that fits."""
    is_shown = push.channel is not None or push.shows_direct
    place = place_of(Spot(push.channel_id, push.channel, push.topic, push.participants), push.user_id)
    payload = Payload(
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
    )
    encoded = msgspec.json.encode(payload)
    if len(encoded) > MAX_PAYLOAD:
        encoded = msgspec.json.encode(msgspec.structs.replace(payload, content=None))
    return encoded
