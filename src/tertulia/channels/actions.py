"""What can be done to channels. Everything here runs in the caller's transaction."""

from collections import defaultdict
from collections.abc import Sequence

from tertulia.channels import statements
from tertulia.channels.model import color_for
from tertulia.channels.records import channel_records, subscription_record
from tertulia.channels.rules import clean_channel_name, name_key_of
from tertulia.channels.statements import Joined
from tertulia.events.record import Audience, Change, record
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.users.sight import tell_subscribed, tell_unsubscribed


async def create_channel(
    tx: Transaction,
    realm_id: int,
    name: str,
    *,
    creator_id: int | None = None,
    invite_only: bool = False,
    description: str = "",
) -> int:
    """Make a channel and tell those who can see it; its id."""
    name = clean_channel_name(name)
    channel_id = await statements.insert_channel(
        tx, realm_id, (name, name_key_of(name)), creator_id, description, invite_only=invite_only
    )
    if channel_id is None:
        raise Refusal(
            f"The channel '{name}' already exists.", code="CHANNEL_ALREADY_EXISTS", status=409, channel_name=name
        )
    if not invite_only:
        streams = await channel_records(tx, [channel_id])
        tx.emit(realm_id, record(Audience(members=True), "stream", {"op": "create", "streams": streams}))
    return channel_id


async def subscribe(
    tx: Transaction, realm_id: int, channel_ids: Sequence[int], user_ids: Sequence[int]
) -> list[Joined]:
    """Subscribe each user to each channel; those that were not subscribed before."""
    last_seqs = await statements.lock_conversations(tx, channel_ids)
    ids = sorted(last_seqs)
    joined = await statements.activate_subscriptions(tx, ids, user_ids, [color_for(channel) for channel in ids])
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
    for channel in await channel_records(tx, sorted(users_of)):
        users = users_of[channel.stream_id]
        change = Change(channel=channel.stream_id, users=users, joined=False, seq=last_seqs[channel.stream_id])
        gone = {"op": "remove", "subscriptions": [{"stream_id": channel.stream_id, "name": channel.name}]}
        tx.emit(realm_id, record(Audience(users=users), "subscription", gone, changes=(change,)))
        _tell_peers(tx, realm_id, "peer_remove", channel.stream_id, users, is_public=not channel.invite_only)
    return left


async def _tell_joined(
    tx: Transaction, realm_id: int, users_of: dict[int, tuple[int, ...]], last_seqs: dict[int, int]
) -> None:
    channels = {channel.stream_id: channel for channel in await channel_records(tx, sorted(users_of))}
    # Old rows come back with their own colour and mutes: users whose rows are alike hear the same event.
    for personal, users in await statements.alike_subscriptions(tx, users_of):
        channel = channels[personal.channel_id]
        change = Change(channel=channel.stream_id, users=users, joined=True, seq=last_seqs[channel.stream_id])
        added = {"op": "add", "subscriptions": [subscription_record(channel, personal)]}
        tx.emit(realm_id, record(Audience(users=users), "subscription", added, changes=(change,)))
    for channel_id, users in sorted(users_of.items()):
        _tell_peers(tx, realm_id, "peer_add", channel_id, users, is_public=not channels[channel_id].invite_only)


def _tell_peers(
    tx: Transaction, realm_id: int, op: str, channel: int, users: tuple[int, ...], *, is_public: bool
) -> None:
    audience = Audience(members=is_public, channel=channel)
    event = {"op": op, "stream_ids": [channel], "user_ids": users}
    tx.emit(realm_id, record(audience, "subscription", event))


def _by_channel(rows: Sequence[Joined]) -> dict[int, tuple[int, ...]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        found[row.channel_id].append(row.user_id)
    return {channel: tuple(sorted(users)) for channel, users in found.items()}
