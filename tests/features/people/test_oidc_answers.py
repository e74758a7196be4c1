"""Answers that no provider of OpenID Connect should give."""

import gzip
import time
from collections.abc import Callable, Iterator

import pytest
from starlette.responses import Response

from tertulia.people.sessions.oidc.failure import ProviderFailure
from tests.harness.crooked_provider import CrookedProvider, crooked_provider, ours_of, somebody_at


@pytest.fixture(scope="module")
def provider() -> Iterator[CrookedProvider]:
    with crooked_provider() as provider:
        yield provider


ODD: dict[str, Callable[[], Response]] = {
    "no end of brackets": lambda: Response(b"[" * 100_000, media_type="application/json"),
    "megabytes": lambda: Response(b" " * 2_000_000 + b"{}", media_type="application/json"),
    "megabytes that came as kilobytes": lambda: Response(
        gzip.compress(b" " * 20_000_000 + b"{}"), headers={"Content-Encoding": "gzip"}, media_type="application/json"
    ),
    "a list": lambda: Response(b"[1]", media_type="application/json"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("what", ["description", "keys", "token", "userinfo"])
async def test_what_no_provider_should_say_is_a_failure_of_the_provider_and_takes_moments(
    provider: CrookedProvider, what: str, odd: str
) -> None:
    provider.reset()
    provider.person = {"sub": "somebody"}  # no address: the user information is asked
    provider.instead = {what: ODD[odd]()}
    ours, began = ours_of(provider), time.thread_time()
    with pytest.raises(ProviderFailure) as failed:
        await somebody_at(ours)
    assert failed.value.is_away == odd.startswith("megabytes"), failed.value
    assert time.thread_time() - began < 0.5


async def test_of_thousands_of_keys_few_are_looked_at(provider: CrookedProvider) -> None:
    provider.reset()
    provider.person = {"sub": "somebody", "email": "a@example.com", "email_verified": True}
    known = provider.key.as_dict(private=False)
    provider.more_keys = [known | {"kid": f"other {number}"} for number in range(20)]
    assert (await somebody_at(ours_of(provider))).subject == "somebody"
    provider.more_keys *= 50
    began = time.thread_time()
    with pytest.raises(ProviderFailure):
        await somebody_at(ours_of(provider))
    assert time.thread_time() - began < 0.5
