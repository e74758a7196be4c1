"""The relay's connection to NATS: nats-py's client, with a way to send a publish command that is encoded already.

nats-py builds and checks the headers of each message one by one, which was half of what the relay spent on an event: a
backlog of 60,000 transactions with one event each was stored at 4,700 events/s with `publish` and at 20,700 with `put`
(two shared cores). The relay's headers are a fixed form with numbers in it. What is used here of nats-py's inside is what
its own `publish` uses, and every test of the relay runs through it.
"""

from typing import Final

from nats.errors import ConnectionClosedError

from tertulia.events.log.nats_client import NatsClient

WANTED_PAYLOAD: Final = 8 * 1024 * 1024
"""How large a message NATS must take. An event that does not fit is lost, and with it all queues of its realm."""


class RelayConnection(NatsClient):
    async def put(self, command: bytes) -> None:
        """Send a whole protocol command. It is in the buffer, in its order, before this yields."""
        if not self.is_connected:
            raise ConnectionClosedError
        await self._send_command(command)
        if self._flush_queue is not None and self._flush_queue.empty():
            await self._flush_pending()


def encode_publish(subject: str, reply: str, headers: bytes, data: bytes) -> bytes:
    """`headers` with the version line before and the empty line after them."""
    size = len(headers)
    return b"HPUB %b %b %d %d\r\n%b%b\r\n" % (subject.encode(), reply.encode(), size, size + len(data), headers, data)
