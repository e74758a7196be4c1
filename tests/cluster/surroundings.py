"""Faults of what surrounds the processes: their clocks, and where files are kept."""

import time
from pathlib import Path

from tests.cluster.scene import NotHere, Scene
from tests.harness.silence import silent_bucket, silent_service

HOUR = 3600
STORE_SECONDS = 5
UPLOADS = 40
"""More than all web processes have connections to the database."""
FAKETIME = "*/faketime/libfaketimeMT.so.1"


class Clock:
    """The wall clock of some processes. The other one, which only ever goes on, stays as it is: so it is on a machine whose
    time somebody sets."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.set(0)

    def set(self, seconds: int) -> None:
        """So far from the true time. Noticed within a second."""
        self._file.write_text(f"{seconds:+d}\n")

    def environment(self) -> dict[str, str]:
        library = next(Path("/usr/lib").glob(FAKETIME), None)
        if library is None:
            raise NotHere("a clock that can be set is missing: apt-get install libfaketime")
        return {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


def jump_clocks(scene: Scene) -> None:
    """The clocks of a web process, of the relay at work and of both workers jump an hour forward, then two back."""
    cluster = scene.cluster
    clock = Clock(cluster.folder / "clock")
    hurt = [scene.web(), cluster.active_relay(), *cluster.workers]
    for member in hurt:
        member.restart_with(clock.environment())
    cluster.await_ready()
    scene.load.progress(10)
    scene.begin()
    for seconds in (HOUR, -HOUR, 0):
        clock.set(seconds)
        time.sleep(8)
    scene.end()
    for member in hurt:
        member.restart_with({})


def files_away(scene: Scene) -> None:
    """Where files are kept is gone: who uploads is told to come again, and everybody else goes on."""
    folder = scene.cluster.folder / "files"
    away = folder.with_name("files-away")
    assert scene.load.upload() == 200
    scene.begin()
    folder.rename(away)
    folder.touch()  # nothing can be made below it
    try:
        for _ in range(5):
            assert scene.load.upload() == 503
            time.sleep(2)
    finally:
        folder.unlink()
        away.rename(folder)
    assert scene.load.upload() == 200


def silent_store(scene: Scene) -> None:
    """Where files are kept takes every request and never answers. Many upload: they wait, and everybody else goes on."""
    cluster = scene.cluster
    hurt = [*cluster.webs, *cluster.workers]
    with silent_service() as place:
        bucket = {f"TERTULIA_{name.upper()}": value for name, value in silent_bucket(place).items()}
        for member in hurt:
            member.restart_with(bucket | {"TERTULIA_S3_SECONDS": f"{STORE_SECONDS}"})
        cluster.await_ready()
        scene.load.progress(10)
        scene.begin()
        for _ in range(3):
            assert set(scene.load.uploads(UPLOADS)) == {503}
        scene.end()
        for member in hurt:
            member.restart_with({})
    cluster.await_ready()
    assert scene.load.upload() == 200
