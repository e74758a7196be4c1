"""Endpoints behind the link by which an organization begins. Without authentication: whoever has the key is the owner.

The key never stands in an address: proxies write these down.
"""

from typing import Annotated

import msgspec

from tertulia.conversations.beginnings.actions import BeginningRequest, begin, check_request
from tertulia.conversations.channels.words import words_of
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Call, post
from tertulia.kernel.languages import asked_language
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.routes import get_realm_of
from tertulia.organization.realms.waiting import check_waiting
from tertulia.people.factors.actions import clear_newcomer
from tertulia.people.sessions.actions import begin_session
from tertulia.people.sessions.origin import check_same_origin
from tertulia.people.sessions.routes import Session

MAX_CHANNELS = 10
Names = Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_CHANNELS)]


class Waiting(msgspec.Struct):
    """What a key stands for."""

    realm_name: str
    """As its operator called it; the owner may call it otherwise."""


class Begun(Session, kw_only=True):
    """The owner's session, and where they are greeted."""

    channel_id: int
    topic: str


@post("/beginnings/look")
async def look_at_beginning(call: Call, database: Database, *, key: str) -> Waiting:
    """Look at the organization that waits for its owner. Used, expired and unknown keys are answered alike."""
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
        await check_waiting(reader, realm, key)
    return Waiting(realm.name)


@post("/beginnings")
async def begin_organization(
    call: Call, database: Database, settings: Settings,
    *, key: str, realm_name: str, email: str, full_name: str, password: str, channels: Names,
) -> Begun:  # fmt: skip
    """Begin an organization by the key that whoever runs the server made: its name, its owner, its first channels.

    Newcomers are subscribed to these channels; the first has a topic to begin with. This browser is logged in as the owner, as
    POST /sessions does. Both begin in the language that the browser asks for. A key is good once, for a day.
    """
    check_same_origin(call, settings)
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
    request = BeginningRequest(
        realm_name, email, full_name, password, channels, asked_language(call.header("accept-language"))
    )
    beginning = await check_request(database, settings, realm, key, request)
    async with database.transaction() as tx:
        owner, channel_id, greeted_in = await begin(tx, realm, key, beginning)
        cleared = await clear_newcomer(tx, realm, owner.id)
        csrf_token = await begin_session(tx, call, settings, owner, cleared, by_password=True)
    topic = words_of(greeted_in).first_topic
    return Begun(owner.id, owner.email, csrf_token, channel_id=channel_id, topic=topic)
