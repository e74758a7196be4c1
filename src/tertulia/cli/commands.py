"""All commands under one name."""

import typer

from tertulia.cli import accounts, audit, dev, directory, doctor, migrate, processes, sealing

app = typer.Typer(
    name="tertulia",
    help="A team chat server. Try it: `tertulia dev`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(dev.app, name="dev")
for command in (processes.serve, processes.web, processes.relay, processes.worker, migrate.migrate, doctor.doctor):
    app.command()(command)
app.add_typer(accounts.realms, name="realm")
app.add_typer(accounts.users, name="user")
app.add_typer(accounts.keys, name="key")
app.add_typer(accounts.scim_tokens, name="scim-token")
app.add_typer(sealing.app, name="secrets")
app.add_typer(audit.app, name="audit")
app.add_typer(directory.app, name="directory")
