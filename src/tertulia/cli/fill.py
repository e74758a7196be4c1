"""`tertulia dev fill`: large data for trying and measuring, with COPY and progress bars."""

import asyncio
import json
from typing import Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.target import DataFolder, dev_settings


def fill(
    users: Annotated[int, typer.Option(min=0, help="People to add.")] = 0,
    channels: Annotated[int, typer.Option(min=0, help="Public channels to add.")] = 0,
    messages: Annotated[int, typer.Option(min=0, help="Messages to add, spread over the new channels.")] = 0,
    subscribers: Annotated[
        int | None, typer.Option(min=0, help="Subscribers of each new channel.  [default: everybody]")
    ] = None,
    unread: Annotated[bool, typer.Option("--unread", help="Leave the messages unread for everybody.")] = False,
    realm: Annotated[str, typer.Option(help="The organization's subdomain; empty: the main one.")] = "",
    data: DataFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON at the end.")] = False,
) -> None:
    """Add many users, channels, subscriptions and messages to the database of a running `tertulia dev`, and of no other.

    Clients that are connected hear of the channels and subscriptions, not of the users and messages.
    """
    if messages and not channels:
        raise CommandFailed("Messages go into the new channels: ask for at least one with --channels.")
    from rich.console import Console

    from tertulia.cli.bulk import Wanted, fill_database

    settings = dev_settings(data)
    wanted = Wanted(users, channels, messages, subscribers, unread)
    console = Console(stderr=True)
    filled = asyncio.run(fill_database(settings, realm, wanted, console))
    if as_json:
        print(json.dumps({"users": filled.users, "channels": filled.channels, "messages": filled.messages}))
        return
    console.print(f"Added {filled.users:,} users and {filled.messages:,} messages.")
    for channel in filled.channels[:10]:
        console.print(f"  channel {channel['name']} (id {channel['stream_id']})", highlight=False)
    if len(filled.channels) > 10:
        console.print(f"  ... {len(filled.channels):,} channels in all")
