"""Pictures from elsewhere are decoded one at a time, and people take turns."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from tertulia.content.pictures.fitting import NotAPicture
from tertulia.content.storage import Store
from tertulia.files.remote_pictures import fetching
from tertulia.kernel.db import Database
from tertulia.kernel.fetching import Due
from tertulia.kernel.outbound import Answer, FollowedAnswer, Outbound
from tertulia.kernel.settings import Settings


async def test_who_names_many_waits_for_their_own_and_others_come_next(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    async def follow(_outbound: Outbound, url: str, *_: object) -> FollowedAnswer:
        return FollowedAnswer(url, Answer(200, {}, url.encode()))

    async def shrink(source: Path, *_: object) -> None:
        await asyncio.sleep(0.05)
        decoded.append(source.read_bytes())
        raise NotAPicture

    monkeypatch.setattr(Outbound, "follow", follow)
    monkeypatch.setattr(fetching, "shrink", shrink)
    fetcher = fetching.Fetching(cast(Database, None), cast(Store, None), Settings())
    due = [Due(number, 1, person, f"{person}", 1) for number, person in enumerate([7, 7, 7, 7, 8])]
    await asyncio.gather(*map(fetcher.fetch, due), return_exceptions=True)
    assert decoded.index(b"8") <= 1
