"""Endpoints of the drafts feature."""

from typing import Annotated

import msgspec

from tertulia.drafts import actions, queries
from tertulia.drafts.model import Draft, SentDraft
from tertulia.kernel.auth import Human
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, patch, post

MAX_DRAFTS = 1000


class Kept(msgspec.Struct):
    """The answer of POST /drafts."""

    ids: list[int]


class Drafts(msgspec.Struct):
    """The answer of GET /drafts."""

    count: int
    drafts: list[Draft]


@get("/drafts")
async def get_drafts(caller: Human, reader: Reader) -> Drafts:
    """Your drafts, the one edited last at the end."""
    await actions.check_wanted(reader, caller)
    drafts = await queries.drafts_of(reader, caller.user_id)
    return Drafts(len(drafts), drafts)


@post("/drafts")
async def create_drafts(
    caller: Human, tx: Transaction, *, drafts: Annotated[list[SentDraft], msgspec.Meta(max_length=MAX_DRAFTS)]
) -> Kept:
    """Keep drafts on the server, all of them or none."""
    return Kept(await actions.create_drafts(tx, caller, drafts))


@patch("/drafts/{draft_id}")
async def edit_draft(caller: Human, tx: Transaction, *, draft_id: int, draft: SentDraft) -> None:
    """Replace one of your drafts."""
    await actions.edit_draft(tx, caller, draft_id, draft)


@delete("/drafts/{draft_id}")
async def delete_draft(caller: Human, tx: Transaction, *, draft_id: int) -> None:
    """Drop one of your drafts."""
    await actions.delete_draft(tx, caller, draft_id)
