"""Endpoints of resumable uploads: tus 1.0."""

import msgspec

from tertulia.files.resumable.actions import PART, Resumable, alone
from tertulia.files.resumable.model import Upload
from tertulia.files.resumable.rules import (
    ABOUT,
    ALWAYS,
    OFFSET_TYPE,
    check_version,
    conflict,
    length_of,
    metadata_of,
    offset_of,
    refused,
    too_much,
)
from tertulia.files.uploads.actions import Uploading
from tertulia.files.uploads.names import url_of
from tertulia.kernel.auth import Person
from tertulia.kernel.body import body_chunks
from tertulia.kernel.call import Call
from tertulia.kernel.endpoint import Reply, delete, get, patch, post
from tertulia.kernel.errors import Refusal

_PATH = "/api/v1/tus"


@post("/tus", streams=True, about=ABOUT)
@post("/tus/", streams=True, about=ABOUT, listed=False)
async def begin_upload(caller: Person, call: Call, uploading: Uploading) -> Reply:
    """Begin an upload that can be resumed (tus 1.0): send `Upload-Length`, and `Upload-Metadata` with `filename`."""
    check_version(call)
    size = length_of(call)
    metadata = metadata_of(call)
    name = metadata.get("filename") or metadata.get("name") or ""
    upload = await Resumable(uploading, caller).begin(name, size)
    return _reply(upload, 201, {"Location": f"{_PATH}/{upload.id}"})


@get("/tus/{upload_id}", streams=True)
async def get_upload(caller: Person, call: Call, uploading: Uploading, *, upload_id: str) -> Reply:
    """How much of an upload has arrived: `Upload-Offset`. (tus asks by HEAD.)"""
    upload = await Resumable(uploading, caller).find(upload_id)
    check_version(call)
    return _reply(upload, 200, {"Upload-Length": str(upload.size), "Cache-Control": "no-store"})


@patch("/tus/{upload_id}", streams=True, unlimited=True)
async def continue_upload(caller: Person, call: Call, uploading: Uploading, *, upload_id: str) -> Reply:
    """Send what follows after `Upload-Offset`. The answer to the last part is the file's `url` and `filename`."""
    with alone(caller, upload_id):
        upload = await _continued(Resumable(uploading, caller), call, upload_id)
    return _reply(upload, 204 if upload.path_id is None else 200, {})


async def _continued(resumable: Resumable, call: Call, upload_id: str) -> Upload:
    upload = await resumable.find(upload_id)
    check_version(call)
    if (call.header("content-type") or "").partition(";")[0].strip().lower() != OFFSET_TYPE:
        raise refused(f"The content type must be {OFFSET_TYPE}.", 415)
    if offset_of(call) != upload.arrived:
        raise conflict()
    left = upload.size - upload.arrived
    try:
        return await resumable.append(upload, body_chunks(call, left, kept=PART))
    except Refusal as refusal:
        raise (
            too_much() if refusal.code == "PAYLOAD_TOO_LARGE" and "message" not in refusal.extra else refusal
        ) from None


@delete("/tus/{upload_id}", streams=True)
async def end_upload(caller: Person, call: Call, uploading: Uploading, *, upload_id: str) -> Reply:
    """Give up an upload that is not complete."""
    await Resumable(uploading, caller).end(upload_id)
    check_version(call)
    return Reply(b"", 204, ALWAYS)


def _reply(upload: Upload, status: int, more: dict[str, str]) -> Reply:
    headers = {**ALWAYS, "Upload-Offset": str(upload.arrived), "Upload-Expires": upload.expires, **more}
    body = b""
    if upload.path_id is not None:
        body = msgspec.json.encode({"url": url_of(upload.path_id), "filename": upload.file_name})
    return Reply(body, status, headers)
