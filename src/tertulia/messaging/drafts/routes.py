"""Endpoints of the drafts feature."""

from typing import Annotated, Any

import msgspec

from tertulia.conversations.channels.rules import no_such_id
from tertulia.kernel.auth import Human
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import NoSuchId, delete, get, patch, post
from tertulia.kernel.errors import Refusal
from tertulia.messaging.drafts import actions, queries
from tertulia.messaging.drafts.model import Draft, SentDraft

MAX_DRAFTS = 1000


class DraftsCreated(msgspec.Struct):
    """The answer of POST /drafts."""

    ids: list[int]


class Drafts(msgspec.Struct):
    """The answer of GET /drafts."""

    count: int
    drafts: list[Draft]


def no_such_channel(sent: Any) -> Refusal | None:
    """The refusal for a channel draft that names what can be no channel."""
    for draft in sent if isinstance(sent, list) else [sent]:
        if isinstance(draft, dict) and draft.get("type") == "stream":
            to = draft.get("to")
            if isinstance(to, list) and len(to) == 1 and (refusal := no_such_id(to)):
                return refusal
    return None


SomeDrafts = Annotated[list[SentDraft], msgspec.Meta(max_length=MAX_DRAFTS), NoSuchId(no_such_channel)]
OneDraft = Annotated[SentDraft, NoSuchId(no_such_channel)]


@get("/drafts")
async def get_drafts(caller: Human, reader: Reader) -> Drafts:
    """Your drafts, the one edited last at the end."""
    await actions.check_wanted(reader, caller)
    drafts = await queries.drafts_of(reader, caller.user_id)
    return Drafts(len(drafts), drafts)


@post("/drafts")
async def create_drafts(caller: Human, tx: Transaction, *, drafts: SomeDrafts) -> DraftsCreated:
    """Keep drafts on the server, all of them or none."""
    return DraftsCreated(await actions.create_drafts(tx, caller, drafts))


@patch("/drafts/{draft_id}")
async def edit_draft(caller: Human, tx: Transaction, *, draft_id: int, draft: OneDraft) -> None:
    """Replace one of your drafts."""
    await actions.edit_draft(tx, caller, draft_id, draft)


@delete("/drafts/{draft_id}")
async def delete_draft(caller: Human, tx: Transaction, *, draft_id: int) -> None:
    """Drop one of your drafts."""
    await actions.delete_draft(tx, caller, draft_id)
