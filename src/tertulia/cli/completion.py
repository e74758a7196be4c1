"""`tertulia completion`: the shell finishes commands and options."""

import os
from enum import StrEnum
from typing import Final

import typer

VARIABLE: Final = "_TERTULIA_COMPLETE"
"""By it the shell asks the command itself how a line may go on."""


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Shell) -> None:
    """Print what a shell needs to finish commands and options: `eval "$(tertulia completion bash)"`."""
    from typer._completion_shared import get_completion_script

    typer.echo(get_completion_script(prog_name="tertulia", complete_var=VARIABLE, shell=shell.value))


def answer_shell() -> None:
    """Be ready for a shell that asks. Not otherwise: it takes time at every start."""
    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
