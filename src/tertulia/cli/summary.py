"""What `tertulia dev` shows when it is ready: addresses, logins, and a command to try."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tertulia.cli.demo import Demo
from tertulia.cli.folder import DevFolder, State

_ROLES = {100: "owner", 200: "administrator", 300: "moderator", 400: "member", 600: "guest"}


def show_summary(console: Console, state: State, demo: Demo, folder: DevFolder, seconds: float) -> None:
    console.print()
    console.print(Text.assemble("Tertulia is ready at ", (state.url, "bold cyan"), f" after {seconds:.1f} s."))
    console.print(_logins(demo))
    _show_addresses(console, state, demo, folder)
    console.print("Try it:", style="bold")
    # Printed raw: a command to paste must not be wrapped or coloured.
    console.out(try_it(state.url, demo), highlight=False)
    console.print("\nCtrl-C stops everything; the data stays. [dim]--fresh starts over.[/dim]")


def try_it(url: str, demo: Demo) -> str:
    """A command that sends a message to the first channel, ready to paste."""
    user = demo.users[0]
    return (
        f"curl -u {user.email}:{user.api_key} {url}/api/v1/messages \\\n"
        f"  -d type=channel -d to={demo.channels[0].stream_id} -d topic=hello --data-urlencode 'content=Hello!'"
    )


def _logins(demo: Demo) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("who", "email", "password", "API key"):
        table.add_column(title, no_wrap=title != "who")
    for user in demo.users:
        who = "bot" if user.password is None else _ROLES[user.role]
        table.add_row(who, user.email, user.password or "-", user.api_key)
    return table


def _show_addresses(console: Console, state: State, demo: Demo, folder: DevFolder) -> None:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("channels", ", ".join(f"{channel.name} ({channel.stream_id})" for channel in demo.channels))
    table.add_row("API", f"{state.url}/api/docs")
    table.add_row("PostgreSQL", state.postgres_url)
    table.add_row("NATS", state.nats_url)
    table.add_row("data, logs", str(folder.path))
    console.print()
    console.print(table)
    console.print()
