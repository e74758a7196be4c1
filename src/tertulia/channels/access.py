"""The one way to a channel: what a user may not reach looks like what does not exist."""

from collections.abc import Sequence

from tertulia.channels.model import Channel
from tertulia.channels.queries import ChannelKey, channels_by_key
from tertulia.channels.rules import may_read, name_key_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.errors import Refusal


class ChannelFinder:
    """Finds channels for concurrent requests in one statement."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._channels: Coalescer[ChannelKey, Channel] = Coalescer(self._read)

    async def find(self, caller: Caller, named: int | str) -> Channel | None:
        """The channel the caller names by id or name, if they may read it."""
        channel = await self._channels.load(_key(caller, named))
        return channel if channel and may_read(channel, is_guest=caller.is_guest) else None

    async def _read(self, keys: Sequence[ChannelKey]) -> dict[ChannelKey, Channel]:
        async with self._database.reader() as reader:
            return await channels_by_key(reader, keys)


async def find_channel(reader: Reader, caller: Caller, named: int | str) -> Channel | None:
    """As `ChannelFinder.find`, inside a transaction or snapshot."""
    key = _key(caller, named)
    channel = (await channels_by_key(reader, [key])).get(key)
    return channel if channel and may_read(channel, is_guest=caller.is_guest) else None


async def check_channel(reader: Reader, caller: Caller, channel_id: int) -> None:
    """Refuse a channel, named by a setting, that the caller does not reach or that is out of use."""
    channel = await find_channel(reader, caller, channel_id)
    if channel is None or channel.is_archived:
        raise Refusal("Invalid channel ID")


def _key(caller: Caller, named: int | str) -> ChannelKey:
    if isinstance(named, int):
        return ChannelKey(caller.realm_id, caller.user_id, named, None)
    return ChannelKey(caller.realm_id, caller.user_id, None, name_key_of(named))
