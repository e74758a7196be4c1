"""An export of Slack becomes an archive: how many messages a second, and how much memory. No server is needed for this."""

import os
import sys
import tempfile
from pathlib import Path

from bench.backup import watched
from bench.report import Figure, Report
from tests.harness.slack_export import write_large

_CONVERT = """
import asyncio, sys
from pathlib import Path
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.accounts import Request
from tertulia.archives.converting.slack.actions import convert
file, folder = Path(sys.argv[1]), Path(sys.argv[2])
asyncio.run(convert(Request(file, "team"), folder / "made.tar", folder, Incidents(folder), lambda *_: None))
"""


def measure(*, quick: bool, messages: int | None = None) -> Report:
    messages = messages or (20_000 if quick else 200_000)
    with tempfile.TemporaryDirectory(prefix="tertulia-bench-") as place:
        folder = Path(place)
        python = [sys.executable, "-c"]
        file = write_large(folder / "export.zip", messages)
        start = watched(folder, [*python, "import tertulia.archives.converting.slack.actions"], os.environ)
        made = watched(folder, [*python, _CONVERT, str(file), str(folder)], os.environ)
        assert made.code == 0, made.said
        sizes = f"a zip of {file.stat().st_size / 1e6:.0f} MB, an archive of {(folder / 'made.tar').stat().st_size / 1e6:.0f} MB"
    return Report(
        "bench slack",
        {"messages": f"{messages:,} in 20 channels: a third with markup, a tenth in threads; {sizes}"},
        [
            Figure("conversion", messages / (made.seconds - start.seconds), "messages/s"),
            Figure("  by processor time", messages / (made.cpu - start.cpu), "messages/s"),
            Figure("  most memory", made.memory / 1e6, "MB"),
        ],
        [],
    )
