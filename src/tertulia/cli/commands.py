"""All commands under one name."""

import typer

from tertulia.cli import (
    accounts,
    audit,
    backup,
    completion,
    config,
    dev,
    directory,
    doctor,
    health,
    holding,
    importing,
    init,
    mail,
    migrate,
    move,
    moving,
    processes,
    queues,
    sealing,
    search,
    serve,
    status,
)
from tertulia.cli import erasing as _erasing  # noqa: F401 -- adds commands to `accounts.users`
from tertulia.cli import organizations as _organizations  # noqa: F401 -- adds commands to `accounts.realms`
from tertulia.cli import people as _people  # noqa: F401 -- and to `accounts.users`

app = typer.Typer(
    name="tertulia",
    help="A team chat server. Try it: `tertulia dev`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(dev.app, name="dev")
for command in (init.init, serve.serve, processes.web, processes.worker, migrate.migrate, doctor.doctor):
    app.command()(command)
app.add_typer(status.relay, name="relay")
app.command()(status.stats)
app.command()(status.version)
app.command()(health.health)
app.add_typer(backup.app, name="backup")
app.command()(backup.restore)
app.command()(moving.export)
app.add_typer(moving.app, name="archive")
app.add_typer(importing.app, name="import")
app.add_typer(move.app, name="move")
app.command()(completion.completion)
app.add_typer(accounts.realms, name="realm")
app.add_typer(accounts.users, name="user")
app.add_typer(accounts.keys, name="key")
app.add_typer(accounts.scim_tokens, name="scim-token")
app.add_typer(mail.app, name="mail")
app.add_typer(queues.app, name="queue")
app.add_typer(search.app, name="search")
app.add_typer(config.app, name="config")
app.add_typer(sealing.app, name="secrets")
app.add_typer(audit.app, name="audit")
app.add_typer(holding.app, name="hold")
app.add_typer(directory.app, name="directory")
