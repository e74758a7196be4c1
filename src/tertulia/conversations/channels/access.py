"""The one way to a channel: what a user may not reach looks like what does not exist.

`find_channel` and `get_channel` are for what is said in a channel (content access), `find_visible_channel` and its kin for
what is known about it (metadata access). What they answer is true at the moment of their statement: inside a
transaction that holds the conversation's lock, until the commit.
"""

from collections.abc import Collection, Sequence

from tertulia.conversations.channels.model import Channel, RuledChannel
from tertulia.conversations.channels.queries import ChannelKey, channels_by_key, ruled_channels
from tertulia.conversations.channels.rules import name_key_of, no_such_channel
from tertulia.conversations.channels.statements import lock_conversations
from tertulia.kernel.auth import Caller
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.errors import Refusal


class ChannelFinder:
    """Finds channels for concurrent requests in one statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._channels: Coalescer[ChannelKey, Channel] = Coalescer(self._read)

    async def find(self, caller: Caller, named: int | str) -> Channel | None:
        """The channel the caller names by id or name, if they may read it or send to it."""
        channel = await self._channels.load(_key(caller, named))
        return channel if channel and (channel.may_read or channel.may_send) else None

    async def _read(self, keys: Sequence[ChannelKey]) -> dict[ChannelKey, Channel]:
        async with self._database.reader() as reader:
            return await channels_by_key(reader, keys)


async def find_channel(reader: Reader, caller: Caller, named: int | str) -> Channel | None:
    """The channel the caller names by id or name, if they have content access."""
    channel = await _find(reader, caller, named)
    return channel if channel and channel.may_read else None


async def get_channel(reader: Reader, caller: Caller, named: int | str) -> Channel:
    """As `find_channel`; refuses what is out of reach."""
    channel = await find_channel(reader, caller, named)
    if channel is None:
        raise no_such_channel(named)
    return channel


async def get_channels(reader: Reader, caller: Caller, ids: Collection[int]) -> dict[int, Channel]:
    """As `get_channel`, for many in one statement."""
    if not ids:
        return {}
    keys = {channel_id: _key(caller, channel_id) for channel_id in ids}
    found = await channels_by_key(reader, list(keys.values()))
    for channel_id, key in keys.items():
        if key not in found or not found[key].may_read:
            raise no_such_channel(channel_id)
    return {channel_id: found[key] for channel_id, key in keys.items()}


async def get_active_channel(reader: Reader, caller: Caller, named: int | str) -> Channel:
    """As `get_channel`; refuses what is archived, too."""
    channel = await get_channel(reader, caller, named)
    if channel.is_archived:
        raise no_such_channel(named)
    return channel


async def find_visible_channel(reader: Reader, caller: Caller, named: int | str) -> Channel | None:
    """The channel the caller names by id or name, if they have metadata access."""
    channel = await _find(reader, caller, named)
    return channel if channel and channel.may_see else None


async def get_visible_channel(reader: Reader, caller: Caller, named: int | str) -> Channel:
    """As `find_visible_channel`; refuses what is out of reach."""
    channel = await find_visible_channel(reader, caller, named)
    if channel is None:
        raise no_such_channel(named)
    return channel


async def get_ruled_channel(reader: Reader, caller: Caller, channel_id: int) -> RuledChannel:
    """A channel with all that the caller may do in it; refuses without metadata access."""
    for channel in await ruled_channels(reader, caller.realm_id, caller.user_id, [channel_id]):
        if channel.may_see:
            return channel
    raise no_such_channel(channel_id)


async def _find(reader: Reader, caller: Caller, named: int | str) -> Channel | None:
    key = _key(caller, named)
    return (await channels_by_key(reader, [key])).get(key)


async def hold_channels_named(tx: Transaction, caller: Caller, names: Sequence[str]) -> dict[str, int]:
    """Channels that the caller reaches, held as by those who talk in them: their names stay until the commit."""
    keys = {name: _key(caller, name) for name in names}
    before = await channels_by_key(tx, list(keys.values()))
    await lock_conversations(tx, [channel.id for channel in before.values()])
    found = await channels_by_key(tx, list(keys.values()))
    for name, key in keys.items():
        channel = found.get(key)
        if channel is None or key not in before or not channel.may_read or channel.is_archived:
            raise no_such_channel(name)
    return {name: found[key].id for name, key in keys.items()}


async def check_channel(reader: Reader, caller: Caller, channel_id: int, *, is_private: bool = False) -> None:
    """Refuse a channel, named by a setting, that the caller does not reach or that is out of use."""
    channel = await get_active_channel(reader, caller, channel_id)
    if is_private and not channel.invite_only:
        raise Refusal("This setting names a private channel: not everybody may read what is said there.")


def _key(caller: Caller, named: int | str) -> ChannelKey:
    if isinstance(named, int):
        return ChannelKey(caller.realm_id, caller.user_id, named, None)
    return ChannelKey(caller.realm_id, caller.user_id, None, name_key_of(named))
