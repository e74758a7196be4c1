"""Events of channels and subscriptions, and who hears them.

Of a channel hear those who see it: of a public one every member, of a web-public one guests as well, of a private one its
subscribers and those who see it without being subscribed (organization/groups/visibility.py). Who is subscribed
is nothing for guests outside. Whoever comes to see a channel hears `stream` create first, whoever no longer does
`stream` delete last.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.model import ChannelRecord
from tertulia.conversations.channels.records import subscription_record, with_inherited
from tertulia.conversations.channels.statements import Alike
from tertulia.events.log.record import Audience, Change, record
from tertulia.kernel.db import Transaction

KNOWS_INHERITED = "notification_settings_null"
MAX_IDS = 10_000
"""So many users in one event at most: an event must fit into a message of the log."""
MAX_LISTED = 1000
"""A channel with more subscribers comes without the list of them: clients ask for it when they need it."""


def audience_of(channel: ChannelRecord, seers: Sequence[int]) -> Audience:
    """Those who see a channel. `seers`: of a private one, those who do without being subscribed."""
    if channel.is_web_public:
        return Audience(realm=True)
    return Audience(members=not channel.invite_only, channel=channel.stream_id, users=tuple(seers))


def tell_created(tx: Transaction, realm_id: int, channel: ChannelRecord, seers: Sequence[int]) -> None:
    """A channel is there."""
    event = {"op": "create", "streams": [channel]}
    if channel.invite_only:
        for users in _portions(seers):
            tx.emit(realm_id, record(Audience(users=users), "stream", event))
    else:
        tx.emit(realm_id, record(audience_of(channel, ()), "stream", event))


def tell_shown(tx: Transaction, realm_id: int, channel: ChannelRecord, users: Sequence[int]) -> None:
    """These users come to see a channel."""
    for portion in _portions(users):
        event = {"op": "create", "streams": [channel]}
        tx.emit(realm_id, record(Audience(users=portion), "stream", event))


def tell_hidden(tx: Transaction, realm_id: int, channel_id: int, users: Sequence[int]) -> None:
    """These users see the channel no longer."""
    for portion in _portions(users):
        event = {"op": "delete", "stream_ids": [channel_id], "streams": [{"stream_id": channel_id}]}
        tx.emit(realm_id, record(Audience(users=portion), "stream", event))


def tell_joined(
    tx: Transaction,
    realm_id: int,
    channel: ChannelRecord,
    alike: Iterable[Alike],
    moment: tuple[int, list[int] | None],
) -> None:
    """These users are subscribed. `moment`: the number of the last message, and the subscribers unless there are many.

    Clients that do not know of inherited notification settings hear what is inherited instead.
    """
    seq, subscribers = moment
    known: dict[str, Any] = {"partial_subscribers": []} if subscribers is None else {"subscribers": subscribers}
    for same in alike:
        own = msgspec.structs.replace(subscription_record(channel, same.personal), **known)
        resolved = with_inherited(own, same.inherited)
        for portion in _portions(same.user_ids):
            change = Change(channel=channel.stream_id, users=portion, joined=True, seq=seq)
            knowing = Audience(users=portion, needs=KNOWS_INHERITED if resolved is not own else "")
            added = {"op": "add", "subscriptions": [own]}
            tx.emit(realm_id, record(knowing, "subscription", added, changes=(change,)))
            if resolved is not own:
                others = Audience(users=portion, lacks=KNOWS_INHERITED)
                tx.emit(realm_id, record(others, "subscription", {"op": "add", "subscriptions": [resolved]}))


def tell_left(tx: Transaction, realm_id: int, channel: ChannelRecord, users: Sequence[int], seq: int) -> None:
    """These users are no longer subscribed."""
    for portion in _portions(users):
        change = Change(channel=channel.stream_id, users=portion, joined=False, seq=seq)
        gone = {"op": "remove", "subscriptions": [{"stream_id": channel.stream_id, "name": channel.name}]}
        tx.emit(realm_id, record(Audience(users=portion), "subscription", gone, changes=(change,)))


def tell_peers(
    tx: Transaction, realm_id: int, op: str, channel: ChannelRecord, users: Sequence[int], seers: Sequence[int]
) -> None:
    """Those who know a channel's subscribers hear who came or went: all of them in one event."""
    to = Audience(members=not channel.invite_only, channel=channel.stream_id, users=tuple(seers))
    for portion in _portions(users):
        event = {"op": op, "stream_ids": [channel.stream_id], "user_ids": portion}
        tx.emit(realm_id, record(to, "subscription", event))


def tell_defaults(tx: Transaction, realm_id: int, channel_ids: Sequence[int]) -> None:
    """The default channels are these now. Guests do not get any."""
    event: dict[str, Any] = {"default_streams": channel_ids}
    tx.emit(realm_id, record(Audience(members=True), "default_streams", event))


def _portions(users: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(users), MAX_IDS):
        yield tuple(users[start : start + MAX_IDS])
