"""Subscribing and unsubscribing: the rows, the numbers and the events. Who may do it is decided before."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tertulia.conversations.channels import events, statements
from tertulia.conversations.channels.model import ChannelRecord
from tertulia.conversations.channels.records import channel_records, subscribers_of
from tertulia.conversations.channels.statements import Alike, Joined
from tertulia.conversations.channels.visibility import tell_subscribed
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import FEW_PEOPLE, Transaction
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, note
from tertulia.organization.groups.seers import seers_of
from tertulia.people.users.visibility.events import tell_unsubscribed


async def subscribe(
    tx: Transaction,
    realm_id: int,
    channel_ids: Sequence[int],
    user_ids: Sequence[int],
    colors: Mapping[int, str] | None = None,
) -> list[Joined]:
    """Subscribe each user to each channel; returns those that were not subscribed before. `colors`: chosen ones, by channel.

    Whoever calls it holds the conversations (`lock_conversations`). The number of statements depends neither on the users nor
    on the channels.
    """
    if len(user_ids) > FEW_PEOPLE:
        tx.holds_others_back()
    last_seqs = await statements.last_seqs(tx, channel_ids)
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
    tx: Transaction,
    realm_id: int,
    channel_ids: Sequence[int],
    user_ids: Sequence[int],
    pairs: Sequence[Joined] = (),
) -> list[Joined]:
    """Unsubscribe each user from each channel, and others from some of them; returns those that were subscribed before.

    Whoever calls it holds the conversations."""
    if len(user_ids) > FEW_PEOPLE:
        tx.holds_others_back()
    last_seqs = await statements.last_seqs(tx, channel_ids)
    left = await statements.deactivate_subscriptions(tx, sorted(last_seqs), user_ids, pairs)
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


def note_others(tx: Transaction, caller: Caller, act: Act, pairs: Iterable[tuple[int, int]]) -> None:
    """Put it into the log whom the caller subscribed or unsubscribed (user, channel). Coming and going oneself is not noted."""
    by_channel: defaultdict[int, list[int]] = defaultdict(list)
    for user_id, channel_id in sorted(pairs):
        if user_id != caller.user_id:
            by_channel[channel_id].append(user_id)
    for channel_id, users in by_channel.items():
        note(tx, caller.realm_id, act, audit_log.channel(channel_id), users=(None, users))
