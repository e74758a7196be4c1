"""`tertulia dev`: everything on this machine, from nothing to a running server with a demo organization."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from tertulia.cli.fill import fill
from tertulia.cli.mail_previews import mails

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
app.command(name="fill")(fill)
app.command(name="mails")(mails)


@app.callback()
def dev(
    context: typer.Context,
    port: Annotated[int | None, typer.Option(help="The web port; 0 takes a free one.  [default: 9991]")] = None,
    data: Annotated[Path | None, typer.Option(help="Where the data is kept.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw the data away and start over.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON when ready, for programs.")] = False,
) -> None:
    """Run a whole server on this machine to try it out: engines, web, relay, worker and a demo organization."""
    if context.invoked_subcommand is not None:
        return
    from tertulia.cli.supervise import stop_on_signals

    with stop_on_signals():
        _run(data, port, fresh=fresh, as_json=as_json)


def _run(data: Path | None, port: int | None, *, fresh: bool, as_json: bool) -> None:
    from tertulia.cli.ensemble import Ensemble
    from tertulia.cli.folder import default_folder, open_folder
    from tertulia.cli.target import named_settings

    started = time.monotonic()
    settings = named_settings()
    with open_folder(data or default_folder(), fresh=fresh) as folder:
        ensemble = Ensemble(settings, settings.port if port is None else port, folder, quiet=as_json)
        try:
            ensemble.start()
            if as_json:
                sys.stdout.write(ensemble.as_json() + "\n")
                sys.stdout.flush()
            else:
                ensemble.show(time.monotonic() - started)
            while True:
                ensemble.tick()
                time.sleep(0.05)
        finally:
            ensemble.stop()
