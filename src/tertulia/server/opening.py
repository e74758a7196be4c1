"""What a web process answers before its engines are there: nothing for a moment, in which they are there as a rule, and then
that it is not ready. A closed port would say nothing.
"""

import asyncio
from contextlib import suppress
from typing import Final

from tertulia.kernel.call import AsgiApp, Receive, Scope, Send
from tertulia.kernel.door import VISIT
from tertulia.kernel.errors import error_body, server_not_ready

PATIENCE_SECONDS: Final = 3.0


class Opening:
    """The application, once there is one."""

    def __init__(self) -> None:
        self.app: AsgiApp | None = None
        self._opened = asyncio.Event()

    def open(self, app: AsgiApp) -> None:
        """Here it is."""
        self.app = app
        self._opened.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if self.app is None:
            if VISIT in scope:
                scope[VISIT].end(tells=False)  # it waits for the engines, and says nothing of how busy we are
            with suppress(TimeoutError):
                await asyncio.wait_for(self._opened.wait(), PATIENCE_SECONDS)
        if self.app is not None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = server_not_ready("The server is starting, and waits for its database. Please try again.")
            headers = {"content-type": "application/json", **(refusal.headers or {}), "connection": "close"}
            raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
            await send({"type": "http.response.body", "body": error_body(refusal)})
