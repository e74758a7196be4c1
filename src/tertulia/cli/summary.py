"""What `tertulia dev` shows when it is ready: addresses, logins, and a command to try."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tertulia.cli.demo import Demo
from tertulia.cli.folder import DevFolder, State
from tertulia.kernel.auth import Role

_ROLES: dict[int, str] = {
    Role.OWNER: "owner",
    Role.ADMINISTRATOR: "admin",
    Role.MODERATOR: "moderator",
    Role.MEMBER: "member",
    Role.GUEST: "guest",
}


def show_summary(console: Console, state: State, demo: Demo, folder: DevFolder, seconds: float, login_url: str) -> None:
    console.print()
    console.print(Text.assemble("Tertulia is ready at ", (state.url, "bold cyan"), f" after {seconds:.1f} s."))
    console.print(Text.assemble("Open it as its owner (once): ", (login_url, "cyan")), soft_wrap=True)
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
        f"curl -u {user.email}:{user.api_key} \\\n"
        f"  {url}/api/v1/messages \\\n"
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
    lines = {
        "channels": ", ".join(f"{channel.name} ({channel.stream_id})" for channel in demo.channels),
        "API": f"{state.url}/api/docs",
        "PostgreSQL": state.postgres_url,
        "NATS": state.nats_url,
        "metrics": ", ".join(f"{name} {url}/metrics" for name, url in state.metrics.items()),
        "data, logs": str(folder.path),
    }
    console.print()
    for name, value in lines.items():
        # Never wrapped: a broken address cannot be copied.
        console.print(Text.assemble((f"{name:12}", "dim"), value), soft_wrap=True)
    console.print()
