"""Fixtures of tests about who comes to an organization."""

from collections.abc import Iterator

import pytest

from tests.harness.realm import Realm
from tests.harness.visitor import Visitor


@pytest.fixture
def visitor(realm: Realm) -> Iterator[Visitor]:
    """Somebody at the door of the test's own organization."""
    one = Visitor(realm)
    try:
        yield one
    finally:
        one.http.close()
