"""Endpoints of Web Push."""

import msgspec

from tertulia.kernel.auth import Caller, Human
from tertulia.kernel.bounds import hold_count
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.notifications.push import queries
from tertulia.notifications.push.bounds import SUBSCRIPTIONS
from tertulia.notifications.push.keys import PushKeys
from tertulia.notifications.push.model import Subscription
from tertulia.notifications.push.rules import check_endpoint, check_keys


class PublicKey(msgspec.Struct):
    """The answer of GET /users/me/push_subscriptions/key."""

    public_key: str
    """For `applicationServerKey`: base64 as the web writes it."""


class Subscribed(msgspec.Struct):
    """The answer of POST /users/me/push_subscriptions."""

    id: int


class Subscriptions(msgspec.Struct):
    """The answer of GET /users/me/push_subscriptions."""

    subscriptions: list[Subscription]


@get("/users/me/push_subscriptions/key")
async def get_push_key(_caller: Human, keys: PushKeys) -> PublicKey:
    """The key a browser subscribes with (Web Push, VAPID)."""
    return PublicKey((await keys.signer()).public_key)


@post("/users/me/push_subscriptions")
async def subscribe_to_pushes(
    caller: Human, call: Call, tx: Transaction, settings: Settings, *, endpoint: str, p256dh: str, auth: str
) -> Subscribed:
    """Get Web Push notifications of messages at this browser, while you are not active.

    `endpoint`, `p256dh` and `auth` are those of the browser's `PushSubscription` (the last two are in its `keys`). It
    lasts as long as the session or API key that it was made with. A person has at most 20: the oldest are deleted.
    """
    address, browser = check_endpoint(endpoint, is_development=settings.development), check_keys(p256dh, auth)
    owner = (caller.realm_id, caller.user_id)
    await hold_count(tx, SUBSCRIPTIONS, caller.user_id)
    made = await queries.put_subscription(tx, owner, address, browser, _login(call, caller, settings))
    await queries.delete_oldest(tx, *owner, tx.bounds.limit(SUBSCRIPTIONS))
    return Subscribed(made)


@get("/users/me/push_subscriptions")
async def get_push_subscriptions(caller: Human, call: Call, reader: Reader, settings: Settings) -> Subscriptions:
    """Your browsers that get push notifications."""
    login = _login(call, caller, settings)
    return Subscriptions(await queries.subscriptions_of(reader, caller.realm_id, caller.user_id, login))


@delete("/users/me/push_subscriptions")
async def unsubscribe_from_pushes(caller: Human, tx: Transaction, *, endpoint: str) -> None:
    """Stop push notifications at this browser."""
    if not await queries.delete_subscription(tx, caller.user_id, endpoint):
        raise Refusal("There is no such push subscription of yours.")


def _login(call: Call, caller: Caller, settings: Settings) -> tuple[bytes | None, int | None]:
    """By what the caller is logged in: a session or a key."""
    return (session_digest(call, settings), None) if call.by_session else (None, caller.key_id)
