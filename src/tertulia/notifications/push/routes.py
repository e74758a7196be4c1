"""Endpoints of Web Push."""

from typing import Annotated

import msgspec

from tertulia.conversations.read_state.queries import unread_messages
from tertulia.kernel.auth import Caller, Human
from tertulia.kernel.bounds import hold_count
from tertulia.kernel.cookies import session_digest
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import RateLimits, parse_rates
from tertulia.kernel.settings import Settings
from tertulia.notifications.push import queries
from tertulia.notifications.push.bounds import SUBSCRIPTIONS
from tertulia.notifications.push.keys import PushKeys
from tertulia.notifications.push.model import Subscription
from tertulia.notifications.push.posting import GONE, PushPost
from tertulia.notifications.push.rules import badge_count, check_endpoint, check_keys, test_payload_of
from tertulia.organization.realms.routes import realm_url
from tertulia.people.users.authentication.holding import hold_access

TESTS = parse_rates("5/600")
MAX_BADGE = 1000
Asked = Annotated[tuple[int, ...], msgspec.Meta(max_length=200)]


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


class UnreadAnswer(msgspec.Struct):
    """The answer of GET /users/me/unread."""

    badge_count: int
    unread_message_ids: list[int]


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
    await hold_access(tx, caller)  # it ends with what the caller is logged in by
    await hold_count(tx, SUBSCRIPTIONS, caller.user_id)
    made = await queries.put_subscription(tx, owner, address, browser, _login(call, caller, settings))
    await queries.delete_oldest(tx, *owner, tx.bounds.limit(SUBSCRIPTIONS))
    return Subscribed(made)


@get("/users/me/push_subscriptions")
async def get_push_subscriptions(caller: Human, call: Call, reader: Reader, settings: Settings) -> Subscriptions:
    """Your browsers that get push notifications."""
    login = _login(call, caller, settings)
    return Subscriptions(await queries.subscriptions_of(reader, caller.realm_id, caller.user_id, login))


@post("/users/me/push_subscriptions/test")
async def test_push(
    caller: Human,
    call: Call,
    database: Database,
    settings: Settings,
    limits: RateLimits,
    post: PushPost,
    *,
    endpoint: str,
) -> None:
    """Push a notification to this browser at once, to see whether it arrives.

    The answer says whether its push service took it. A person does so five times in ten minutes.
    """
    async with database.reader() as reader:
        address = await queries.find_address(reader, caller.user_id, endpoint)
        language, _ = await queries.own_choices(reader, caller.user_id)
    if address is None:
        raise no_such_subscription()
    if settings.rate_limits:
        await limits.spend(call, "test-push", str(caller.user_id), TESTS)
    payload = test_payload_of(caller.user_id, realm_url(caller, call, settings), language)
    status = await post.post(address, payload, is_urgent=True)
    if status in GONE:
        async with database.transaction() as tx:
            await queries.forget_subscription(tx, address.subscription_id, address.endpoint)
    if status >= 300:
        raise Refusal("The push service of your browser did not take it.", code="PUSH_NOT_TAKEN")


@get("/users/me/unread")
async def get_unread(caller: Human, reader: Reader, *, message_ids: Asked = ()) -> UnreadAnswer:
    """What a device needs to know before it shows something: the number on the client's icon, and which of the messages that it
    shows already you have not read yet.

    `badge_count` counts what your setting `desktop_icon_count_display` says, up to 1,000.
    """
    _, display = await queries.own_choices(reader, caller.user_id)
    unread = await unread_messages(reader, caller.user_id, MAX_BADGE)
    return UnreadAnswer(badge_count(unread, display), await queries.find_unread(reader, caller.user_id, message_ids))


@delete("/users/me/push_subscriptions")
async def unsubscribe_from_pushes(caller: Human, tx: Transaction, *, endpoint: str) -> None:
    """Stop push notifications at this browser."""
    if not await queries.delete_subscription(tx, caller.user_id, endpoint):
        raise no_such_subscription()


def no_such_subscription() -> Refusal:
    """The refusal about a browser that is not known, or somebody else's."""
    return Refusal("There is no such push subscription of yours.")


def _login(call: Call, caller: Caller, settings: Settings) -> tuple[bytes | None, int | None]:
    """By what the caller is logged in: a session or a key."""
    return (session_digest(call, settings), None) if call.by_session else (None, caller.key_id)
