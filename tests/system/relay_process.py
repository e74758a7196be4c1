"""A relay as a process of its own, for tests that kill it. Settings come from the environment."""

import asyncio
import signal

import uvloop

from tertulia.events.relay.process import run_relay
from tertulia.kernel.log import configure_logging
from tertulia.kernel.settings import load_settings


async def main() -> None:
    settings = load_settings()
    configure_logging(settings, "relay")
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await run_relay(settings, stop)


if __name__ == "__main__":
    uvloop.run(main())
