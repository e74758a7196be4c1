"""What the gate measures, and the least that could be done instead."""

import json
from itertools import cycle

import msgspec

from bench.gate.bare_statements import (
    BareStatement,
    change_one_row,
    mark_read,
    read_100_messages,
    read_state_of,
    read_subscribers,
    store_messages,
)
from bench.gate.case import Case, RequestCase
from bench.gate.poll_case import PollsReleased
from bench.gate.scene import CLIENTS, Scene
from bench.http_bytes import request, send_request
from bench.polls import Registered

BARE_BATCH = 16
"""Messages that the reference of many senders stores in one transaction."""
MARKED = 5
UNREAD = 20
"""Of each channel that there is to read."""

_UNREAD = "update read_state set read = '{}', history = '{[1,)}' where conversation_id = $1 and user_id = $2"
_READ_BUT = """
update read_state set history = '{[1,)}',
    read = int8multirange(int8range(1, last_seq + 1 - case when conversation_id = any($2::bigint[]) then $3 else 0 end))
from conversation where conversation.id = conversation_id and user_id = $1
"""


def _bare_messages(scene: Scene, count: int) -> BareStatement:
    """The reference of sending: so many messages stored in one transaction."""
    return store_messages(scene.bare_channel.stream_id, scene.bare_topic, scene.bare_user.user_id, count)


class SendAlone(RequestCase):
    """One message after the other."""

    name = "send alone"
    each = 80

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.bare = _bare_messages(scene, 1)

    def next_request(self, client: int) -> bytes:
        return send_request(self.scene.quiet_channels[0].stream_id, self.scene.people[client])


class SendWith64(RequestCase):
    """64 clients, each in all channels in turn."""

    name = "send with 64 clients"
    clients = CLIENTS
    each = 10
    slice = 5
    is_alone = False
    units = CLIENTS * slice

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.bare = _bare_messages(scene, BARE_BATCH)
        turned = [scene.channels[at:] + scene.channels[:at] for at in range(len(scene.channels))]
        self._channels = [cycle(turned[client % len(turned)]) for client in range(self.clients)]

    def next_request(self, client: int) -> bytes:
        return send_request(next(self._channels[client]).stream_id, self.scene.people[client])


class Writers(RequestCase):
    """64 people in one channel, until it has 10,000 messages: what each has read becomes a list of many ranges."""

    name = "64 writers in one channel"
    clients = CLIENTS
    each = 16
    slice = 8
    is_alone = False
    units = CLIENTS * slice

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.bare = _bare_messages(scene, BARE_BATCH)
        self._channel_id = 0

    async def begin(self) -> None:
        self._channel_id = (await self.scene.fresh_channel()).stream_id

    def next_request(self, client: int) -> bytes:
        return send_request(self._channel_id, self.scene.people[client])


class Fetch(RequestCase):
    """100 messages, of those that were there from the beginning: what other cases send makes no difference."""

    each = 40

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.bare = read_100_messages(scene.read_channels[0].stream_id)

    def narrow(self) -> list[object]:
        return []

    def next_request(self, client: int) -> bytes:
        window = {"anchor": str(self.scene.newest_read), "num_before": "100", "num_after": "0"}
        window |= {"include_anchor": "false", "narrow": json.dumps(self.narrow())}
        return request("GET", "/api/v1/messages", self.scene.people[client], window)


class FetchChannel(Fetch):
    name = "fetch of 100, channel"

    def narrow(self) -> list[object]:
        return [["channel", self.scene.read_channels[0].name]]


class FetchTopic(Fetch):
    name = "fetch of 100, topic"

    def narrow(self) -> list[object]:
        return [["channel", self.scene.read_channels[0].name], ["topic", self.scene.read_topic]]


class FetchFeed(Fetch):
    name = "fetch of 100, feed"


class Register(RequestCase):
    """The whole initial state, of somebody with messages to read."""

    name = "register"
    each = 12

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._user = scene.people[1]
        self.bare = read_state_of(self._user.user_id)

    async def begin(self) -> None:
        channels = [channel.stream_id for channel in self.scene.read_channels]
        await self.scene.admin.execute(_READ_BUT, self._user.user_id, channels, UNREAD)

    def next_request(self, client: int) -> bytes:
        return request("POST", "/api/v1/register", self._user, {"apply_markdown": "true"})

    async def finish(self, answers: list[bytes]) -> None:
        queues = [msgspec.json.decode(answer, type=Registered).queue_id for answer in answers]
        await self.scene.delete_queues((self._user, queue_id) for queue_id in queues)


class Typing(RequestCase):
    """Somebody starts to write in a channel."""

    name = "typing"
    each = 80

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.bare = read_subscribers(scene.quiet_channels[0].stream_id)

    def next_request(self, client: int) -> bytes:
        place = {"type": "channel", "stream_id": str(self.scene.quiet_channels[0].stream_id), "topic": "bench"}
        return request("POST", "/api/v1/typing", self.scene.people[client], {"op": "start"} | place)


class MarkRead(RequestCase):
    """Some messages at a time, from the oldest on."""

    name = "marking read"
    each = 50

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._user = scene.people[2]
        self._ids: list[int] = []
        self.bare = mark_read(scene.bare_channel.stream_id, scene.bare_user.user_id)

    async def begin(self) -> None:
        channel_id = self.scene.read_channels[1].stream_id
        sql = "select id from message where conversation_id = $1 order by id desc"
        self._ids = [row["id"] for row in await self.scene.admin.fetch(sql, channel_id)]
        await self.scene.admin.execute(_UNREAD, channel_id, self._user.user_id)

    def next_request(self, client: int) -> bytes:
        ids = [self._ids.pop() for _ in range(MARKED)]
        fields = {"messages": json.dumps(ids), "op": "add", "flag": "read"}
        return request("POST", "/api/v1/messages/flags", self._user, fields)


class React(RequestCase):
    """Somebody reacts to a message, and takes it back."""

    name = "a reaction"
    each = 50
    slice = 2
    units = slice

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._user = scene.people[3]
        self._methods = cycle(("POST", "DELETE"))
        self.bare = change_one_row(scene.bare_topic)

    def next_request(self, client: int) -> bytes:
        path = f"/api/v1/messages/{self.scene.newest_read}/reactions"
        return request(next(self._methods), path, self._user, {"emoji_name": "tada"})


CASES: tuple[type[Case], ...] = (
    SendAlone,
    SendWith64,
    Writers,
    FetchChannel,
    FetchTopic,
    FetchFeed,
    Typing,
    MarkRead,
    React,
    PollsReleased,
    Register,
)
