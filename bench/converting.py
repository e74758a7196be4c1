"""An export of another chat becomes an archive: how many messages a second, and how much memory. No server is needed for this."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.backup import watched
from bench.report import Figure, Report

_CONVERT = """
import asyncio, importlib, sys
from pathlib import Path
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.accounts import Request
convert = importlib.import_module(f"tertulia.archives.converting.{sys.argv[1]}.actions").convert
file, folder = Path(sys.argv[2]), Path(sys.argv[3])
asyncio.run(convert(Request(file, "team"), folder / "made.tar", folder, Incidents(folder), lambda *_: None))
"""


def measure(source: str, write: Callable[[Path, int], Path], *, quick: bool, messages: int | None = None) -> Report:
    """`source`: the converter's folder; `write`: makes an export of so many messages."""
    messages = messages or (20_000 if quick else 200_000)
    with tempfile.TemporaryDirectory(prefix="tertulia-bench-") as place:
        folder = Path(place)
        python = [sys.executable, "-c"]
        file = write(folder / "export.zip", messages)
        start = watched(folder, [*python, f"import tertulia.archives.converting.{source}.actions"], os.environ)
        made = watched(folder, [*python, _CONVERT, source, str(file), str(folder)], os.environ)
        assert made.code == 0, made.said
        sizes = f"a zip of {file.stat().st_size / 1e6:.0f} MB, an archive of {(folder / 'made.tar').stat().st_size / 1e6:.0f} MB"
    return Report(
        f"bench {source}",
        {"messages": f"{messages:,} in 20 channels: a third with markup, a tenth in threads; {sizes}"},
        [
            Figure("conversion", messages / (made.seconds - start.seconds), "messages/s"),
            Figure("  by processor time", messages / (made.cpu - start.cpu), "messages/s"),
            Figure("  most memory", made.memory / 1e6, "MB"),
        ],
        [],
    )
