"""Subscribing and unsubscribing: the rows, the numbers and the events. Who may do it is decided before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tertulia.channels import events, statements
from tertulia.channels.model import ChannelRecord
from tertulia.channels.records import channel_records, subscribers_of
from tertulia.channels.sight import tell_subscribed
from tertulia.channels.statements import Alike, Joined
from tertulia.groups.sight import seers_of
from tertulia.kernel.db import Transaction
from tertulia.users.sight import tell_unsubscribed


async def subscribe(
    tx: Transaction,
    realm_id: int,
    channel_ids: Sequence[int],
    user_ids: Sequence[int],
    colors: Mapping[int, str] | None = None,
) -> list[Joined]:
    """Subscribe each user to each channel; those that were not subscribed before. `colors`: chosen ones, by channel.

    The number of statements depends neither on the users nor on the channels.
    """
    last_seqs = await statements.lock_conversations(tx, channel_ids)
    ids = sorted(last_seqs)
    chosen = colors or {}
    joined = await statements.activate_subscriptions(tx, ids, user_ids, [chosen.get(channel) for channel in ids])
    if not joined:
        return []
    await statements.open_histories(tx, joined, last_seqs)
    users_of = _by_channel(joined)
    await statements.add_to_subscriber_counts(tx, {channel: len(users) for channel, users in users_of.items()})
    await tell_subscribed(tx, realm_id, [(row.user_id, row.channel_id) for row in joined])
    await _tell_joined(tx, realm_id, users_of, last_seqs)
    return joined


async def unsubscribe(
    tx: Transaction, realm_id: int, channel_ids: Sequence[int], user_ids: Sequence[int]
) -> list[Joined]:
    """Unsubscribe each user from each channel; those that were subscribed before."""
    last_seqs = await statements.lock_conversations(tx, channel_ids)
    left = await statements.deactivate_subscriptions(tx, sorted(last_seqs), user_ids)
    if not left:
        return []
    await statements.close_histories(tx, left, last_seqs)
    users_of = _by_channel(left)
    await statements.add_to_subscriber_counts(tx, {channel: -len(users) for channel, users in users_of.items()})
    await tell_unsubscribed(tx, realm_id, [(row.user_id, row.channel_id) for row in left])
    channels = await channel_records(tx, sorted(users_of))
    blind = await _blind(tx, channels, users_of)
    for channel in channels:
        users = users_of[channel.stream_id]
        seers, outsiders = blind[channel.stream_id]
        events.tell_left(tx, realm_id, channel, users, last_seqs[channel.stream_id])
        events.tell_peers(tx, realm_id, "peer_remove", channel, users, seers)
        events.tell_hidden(tx, realm_id, channel.stream_id, outsiders)
    return left


async def _tell_joined(
    tx: Transaction, realm_id: int, users_of: dict[int, tuple[int, ...]], last_seqs: dict[int, int]
) -> None:
    channels = await channel_records(tx, sorted(users_of))
    blind = await _blind(tx, channels, users_of)
    small = [channel.stream_id for channel in channels if channel.subscriber_count <= events.MAX_LISTED]
    subscribers = await subscribers_of(tx, small) if small else {}
    # Old rows come back with their own colour and mutes: users whose rows are alike hear the same event.
    alike: defaultdict[int, list[Alike]] = defaultdict(list)
    for same in await statements.alike_subscriptions(tx, users_of):
        alike[same.personal.channel_id].append(same)
    for channel in channels:
        number = channel.stream_id
        seers, newcomers = blind[number]
        events.tell_shown(tx, realm_id, channel, newcomers)
        events.tell_joined(tx, realm_id, channel, alike[number], (last_seqs[number], subscribers.get(number)))
        events.tell_peers(tx, realm_id, "peer_add", channel, users_of[number], seers)


async def _blind(
    tx: Transaction, channels: Sequence[ChannelRecord], users_of: dict[int, tuple[int, ...]]
) -> dict[int, tuple[tuple[int, ...], list[int]]]:
    """For each channel: who sees it without being subscribed, if it is private, and which of the users do not."""
    private = [channel.stream_id for channel in channels if channel.invite_only]
    seers = await seers_of(tx, private)
    everybody = {user for channel in channels if not channel.is_web_public for user in users_of[channel.stream_id]}
    has_public = any(not channel.invite_only and not channel.is_web_public for channel in channels)
    guests = await statements.guests_among(tx, sorted(everybody)) if has_public else set()
    found = {}
    for channel in channels:
        users = users_of[channel.stream_id]
        if channel.is_web_public:
            blind: list[int] = []
        elif channel.invite_only:
            seeing = set(seers[channel.stream_id])
            blind = [user for user in users if user not in seeing]
        else:
            blind = [user for user in users if user in guests]
        found[channel.stream_id] = (seers.get(channel.stream_id, ()), blind)
    return found


def _by_channel(rows: Sequence[Joined]) -> dict[int, tuple[int, ...]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        found[row.channel_id].append(row.user_id)
    return {channel: tuple(sorted(users)) for channel, users in found.items()}
