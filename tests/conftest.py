"""What every test shares: coroutine tests and fixtures run on asyncio, through the plugin that comes with anyio."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
