"""What a web process answers before its engines are there: that it is not ready. A closed port would say nothing."""

from tertulia.kernel.errors import error_body, server_not_ready
from tertulia.kernel.call import AsgiApp, Receive, Scope, Send


class Opening:
    """The application, once there is one."""

    def __init__(self) -> None:
        self.app: AsgiApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if self.app is not None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = server_not_ready("The server is starting, and waits for its database. Please try again.")
            headers = {"content-type": "application/json", **(refusal.headers or {}), "connection": "close"}
            raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
            await send({"type": "http.response.body", "body": error_body(refusal)})
