"""Which archives are kept, and removing the others with the objects that only they needed."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from tertulia.backups.errors import BackupFailed
from tertulia.backups.manifest import Manifest
from tertulia.backups.objects import stored_objects
from tertulia.backups.place import MANIFEST, Place, moment_of

PORTION = 500


class Pruned(NamedTuple):
    kept: list[str]
    removed: list[str]
    objects: int
    """That were removed."""
    bytes: int


def choose_kept(names: Iterable[str], daily: int, weekly: int) -> list[str]:
    """The newest of each of the last days and weeks (UTC) that have any; the newest of all in any case."""
    newest_first = sorted(names, reverse=True)
    moments = {name: moment for name in newest_first if (moment := moment_of(name))}
    kept = set(newest_first[:1])
    kept |= _newest_of_each(moments, daily, lambda moment: moment.date())
    kept |= _newest_of_each(moments, weekly, lambda moment: tuple(moment.isocalendar()[:2]))
    return sorted(kept)


def _newest_of_each(moments: dict[str, datetime], count: int, period: Callable[[datetime], Hashable]) -> set[str]:
    """`moments`: the newest first."""
    found: dict[Hashable, str] = {}
    for name, moment in moments.items():
        found.setdefault(period(moment), name)
    return set(list(found.values())[:count])


async def prune(place: Place, daily: int, weekly: int) -> Pruned:
    """Remove archives that are not to be kept, what killed processes left, and objects that no archive needs.

    An archive's manifest goes first: what is half removed is no archive any more. Whoever calls holds the database's lock.
    """
    if daily < 1 and weekly < 1:
        raise BackupFailed("Say how many to keep: --keep-daily, --keep-weekly, or both.")
    whole, unfinished = await place.archives()
    kept = choose_kept(whole, daily, weekly)
    needed: set[str] = set()
    for name in kept:  # read before anything is removed: a list that is damaged stops it
        needed.update(await objects_of(await place.read_manifest(name), place))
    removed = [name for name in whole if name not in kept]
    await place.store.delete([f"{name}/{MANIFEST}" for name in removed])
    for name in [*removed, *unfinished]:
        await place.store.delete([key async for key, _ in place.store.listed(name)])
    unneeded = [(key, size) async for key, size in stored_objects(place) if key not in needed]
    await _delete([key for key, _ in unneeded], place)
    return Pruned(kept, removed, len(unneeded), sum(size for _, size in unneeded))


async def objects_of(manifest: Manifest, place: Place) -> list[str]:
    """The names of the objects that an archive needs, from its open list."""
    text = b"".join([chunk async for chunk in place.read_part(manifest, "objects")])
    return text.decode().splitlines()


async def _delete(keys: Sequence[str], place: Place) -> None:
    for start in range(0, len(keys), PORTION):
        await place.store.delete(keys[start : start + PORTION])
