"""What tus asks of headers, and how it says no (pure)."""

import base64
import binascii

from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal

VERSION = "1.0.0"
EXTENSIONS = "creation,termination,expiration"
OFFSET_TYPE = "application/offset+octet-stream"
EXPOSED = (
    "Location, Upload-Offset, Upload-Length, Upload-Expires, Tus-Resumable, Tus-Version, Tus-Extension, X-Request-Id"
)
ALWAYS = {"Tus-Resumable": VERSION, "Access-Control-Expose-Headers": EXPOSED}
ALLOWED = "Authorization, Content-Type, X-CSRF-Token, X-Request-Id, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset"
ABOUT = {
    **ALWAYS,
    "Tus-Version": VERSION,
    "Tus-Extension": EXTENSIONS,
    "Access-Control-Allow-Headers": ALLOWED,
}
MAX_METADATA = 4096


def refused(msg: str, status: int = 400, code: str | None = None) -> Refusal:
    """Clients of tus read `message` and the status."""
    codes = {404: "NOT_FOUND", 413: "PAYLOAD_TOO_LARGE"}
    headers = {**ALWAYS, "Tus-Version": VERSION}
    return Refusal(msg, code=code or codes.get(status, "UPLOAD_REFUSED"), status=status, headers=headers, message=msg)


def no_such_upload() -> Refusal:
    """Never begun, somebody else's, given up or expired."""
    return refused("There is no such upload.", 404)


def conflict() -> Refusal:
    """The upload is further, or not as far."""
    return refused("The upload continues at another offset: ask for it.", 409)


def too_much() -> Refusal:
    """More comes than was said."""
    return refused("There are more bytes than the upload's length.", 413)


def check_version(call: Call) -> None:
    """Refuse a client that speaks another version."""
    if (call.header("tus-resumable") or VERSION) != VERSION:
        raise refused(f"This server speaks tus {VERSION}.", 412)


def length_of(call: Call) -> int:
    """The size that a new upload will have."""
    sent = call.header("upload-length")
    if sent is None:
        raise refused("The header Upload-Length is missing: the size must be known.", 411)
    return _number(sent, "Upload-Length")


def offset_of(call: Call) -> int:
    """Where a client goes on."""
    sent = call.header("upload-offset")
    if sent is None:
        raise refused("The header Upload-Offset is missing.")
    return _number(sent, "Upload-Offset")


def _number(sent: str, header: str) -> int:
    if not sent.isascii() or not sent.isdigit() or len(sent) > 18:
        raise refused(f"The header {header} is not a number.")
    return int(sent)


def metadata_of(call: Call) -> dict[str, str]:
    """What a client says of a new upload; `filename` is what we look at."""
    header = call.header("upload-metadata") or ""
    found = {}
    if len(header) > MAX_METADATA:
        raise refused("The header Upload-Metadata is too long.")
    for pair in filter(None, map(str.strip, header.split(","))):
        key, _, value = pair.partition(" ")
        try:
            found[key] = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise refused("The header Upload-Metadata is malformed.") from None
    return found
