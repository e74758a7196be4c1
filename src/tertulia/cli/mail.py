"""Mail: whether ours arrive, and the process that takes mail in."""

from typing import Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.output import AsJson, print_json
from tertulia.cli.processes import ConfigFile, begin, run_until_stopped
from tertulia.cli.target import DataFolder, target_settings

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def mail(context: typer.Context, config: ConfigFile = None) -> None:
    """Run the process that takes in mail, behind a mail server that knows it by LMTP or SMTP. Or see whether mails leave."""
    if context.invoked_subcommand is None:
        settings = begin(config, "mail")
        from tertulia.server.mail import run_mail

        run_until_stopped(lambda stop: run_mail(settings, stop))


@app.command("test")
def send_test(
    recipient: Annotated[str, typer.Argument(help="Where to.")], as_json: AsJson = False, data: DataFolder = None
) -> None:
    """Send a mail to this address now, without the worker, and say what the mail server says."""
    import smtplib

    from tertulia.kernel.mail import Refused, choose_way, compose, sender_of

    settings = target_settings(data)
    open_way = choose_way(settings)
    if open_way is None:
        raise CommandFailed("No mail is sent: set TERTULIA_SMTP_URL.")
    sender, text = sender_of(settings), f"This is a test of {settings.url_of('')}: mails arrive.\n"
    way = open_way()
    try:
        way.send(compose(sender, recipient, "Mails arrive", text))
        way.end()
    except (Refused, OSError, smtplib.SMTPException, ValueError) as problem:
        raise CommandFailed(f"The mail was not taken: {problem}") from problem
    if as_json:
        print_json({"taken": True, "from": sender, "to": recipient})
    else:
        print(f"Taken: from {sender} to {recipient}")
