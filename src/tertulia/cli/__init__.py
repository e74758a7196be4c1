"""The command `tertulia`: one word per process of the server, and what an operator does by hand.

Each command imports what it runs when it runs, so that `--help` and the start of a small process stay quick. What goes
wrong in an expected way (a missing program, a setting, a refused name) is one line on standard error and exit code 1;
everything else is a traceback.
"""

import sys


def main() -> None:
    """The entry point of the command and of `python -m tertulia`."""
    from tertulia.kernel.process import leave, load_quickly, open_standard_files

    load_quickly()
    open_standard_files()
    try:
        _run()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        leave(end.code or 0)
    leave(0)


def _run() -> None:
    from tertulia.cli.commands import app
    from tertulia.cli.completion import answer_shell
    from tertulia.cli.errors import explain

    answer_shell()
    try:
        app(prog_name="tertulia")
    except Exception as problem:
        if (told := explain(problem)) is None:
            raise
        print(f"tertulia: {told}", file=sys.stderr)
        sys.exit(1)
