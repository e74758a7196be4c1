"""Endpoints of one's own files: upload, list, delete."""

from typing import Any

import msgspec

from tertulia.files.uploads import queries
from tertulia.files.uploads.actions import Uploading, remove_file
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.files.uploads.names import url_of
from tertulia.files.uploads.rules import size_limit, too_large
from tertulia.kernel.auth import Person
from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.one_file import OneFile


class Uploaded(msgspec.Struct):
    """The answer of POST /user_uploads."""

    url: str
    """Put it into a message to share the file."""
    uri: str
    """The same, under its older name."""
    filename: str


class Attachments(msgspec.Struct):
    """The answer of GET /attachments."""

    attachments: list[AttachmentRecord]
    upload_space_used: int
    """Bytes that the whole organization has uploaded."""


@post("/user_uploads", streams=True)
async def upload_file(caller: Person, call: Call, uploading: Uploading) -> Uploaded:
    """Upload one file (multipart, any field name). It is yours alone until a message links it."""
    body = OneFile(call, size_limit(uploading.settings))
    try:
        name = await body.open()
        stored = await uploading.keep(caller, name, body.chunks())
    except Refusal as refusal:
        if refusal.status == 413:
            raise too_large(uploading.settings, close=bool(refusal.headers)) from None
        raise
    url = url_of(stored.path_id)
    return Uploaded(url, url, stored.name)


@get("/attachments", returns=Attachments)
async def list_attachments(caller: Person, reader: Reader) -> dict[str, Any]:
    """The files you have uploaded, and the messages that link them."""
    files = await queries.files_of(reader, caller.realm_id, caller.user_id)
    return {"attachments": msgspec.Raw(files.attachments), "upload_space_used": files.used}


@delete("/attachments/{attachment_id}")
async def delete_attachment(caller: Person, tx: Transaction, *, attachment_id: int) -> None:
    """Delete a file of yours. Messages that link it keep their text."""
    await remove_file(tx, caller, attachment_id)
