"""What an authenticator has signed, checked (pure): the one place that knows the library for it.

Whatever the bytes of a stranger make the library say, it means that they were not verified.

The library is loaded by the first ceremony, in a thread (`load_library`): that takes a quarter of a second, and most processes
never need it.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import msgspec
import structlog

from tertulia.people.factors.passkeys.cbor import check_authenticator_data, check_cbor
from tertulia.people.factors.passkeys.model import NewCredential
from tertulia.people.factors.passkeys.party import Party
from tertulia.people.users.assertion import Assertion

log = structlog.get_logger()
T = TypeVar("T")

ALGORITHMS = (-8, -7, -257)
"""EdDSA, ECDSA with SHA-256, RSASSA-PKCS1-v1_5 with SHA-256, as COSE numbers them."""
MAX_PUBLIC_KEY = 1024
MAX_CREDENTIAL = 1023


class NotVerified(Exception):
    """It is not what it should be."""


class Made(msgspec.Struct, frozen=True):
    """A passkey that an authenticator has made."""

    credential: bytes
    public_key: bytes
    sign_count: int
    is_verifying: bool
    is_synced: bool


class Used(msgspec.Struct, frozen=True):
    """That a passkey was used."""

    sign_count: int
    is_synced: bool


class ClientData(msgspec.Struct, frozen=True, rename="camel"):
    """What the browser says of the page; the library looks at the rest of it."""

    challenge: str
    cross_origin: bool = False


async def load_library() -> None:
    """Before anything is checked."""
    await asyncio.to_thread(import_module, "webauthn")


def text_of(data: bytes) -> str:
    """Bytes as they travel: base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def bytes_of(text: str) -> bytes:
    """The bytes of such a text."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error) as error:
        raise NotVerified("this is no base64url") from error


def challenge_in(client_data: str) -> bytes:
    """Which challenge was signed, as the browser says. Of the rest only this is checked: no page of another site framed ours."""
    try:
        said = msgspec.json.decode(bytes_of(client_data), type=ClientData)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NotVerified("the client data cannot be read") from error
    if said.cross_origin:
        raise NotVerified("the page was in a frame of another site")
    return bytes_of(said.challenge)


def check_made(party: Party, challenge: bytes, new: NewCredential) -> Made:
    """The passkey that was made for this challenge."""
    from webauthn import verify_registration_response
    from webauthn.helpers.cose import COSEAlgorithmIdentifier

    def check() -> Made:
        found = verify_registration_response(
            credential=_without_attestation(new),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            supported_pub_key_algs=[COSEAlgorithmIdentifier(number) for number in ALGORITHMS],
        )
        if found.credential_id != bytes_of(new.raw_id):
            raise NotVerified("the credential is another one than it says")
        if len(found.credential_id) > MAX_CREDENTIAL or len(found.credential_public_key) > MAX_PUBLIC_KEY:
            raise NotVerified("the key is too large")
        return Made(
            found.credential_id,
            found.credential_public_key,
            found.sign_count,
            found.user_verified,
            found.credential_backed_up,
        )

    return _checked(check)


def check_used(party: Party, challenge: bytes, used: Assertion, public_key: bytes, *, must_verify: bool) -> Used:
    """That the passkey with this public key has signed this challenge. Its count is for the caller to compare."""
    from webauthn import verify_authentication_response

    def check() -> Used:
        check_cbor(public_key)
        found = verify_authentication_response(
            credential=_with_harmless_data(used),
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=public_key,
            credential_current_sign_count=0,
            require_user_verification=must_verify,
        )
        return Used(found.new_sign_count, found.credential_backed_up)

    return _checked(check)


def _without_attestation(new: NewCredential) -> dict[str, Any]:
    """What was sent, with no statement about the make of the authenticator: certificates of strangers are not even parsed."""
    from webauthn.helpers import encode_cbor, parse_cbor

    sent: dict[str, Any] = msgspec.to_builtins(new)
    attestation = bytes_of(new.response.attestation_object)
    check_cbor(attestation)
    data = parse_cbor(attestation)["authData"]
    if not isinstance(data, bytes):  # of a number the library would make as many zeros
        raise NotVerified("the authenticator data are no bytes")
    check_authenticator_data(data)
    plain = {"fmt": "none", "attStmt": {}, "authData": data}
    sent["response"]["attestationObject"] = text_of(encode_cbor(plain))
    return sent


def _with_harmless_data(used: Assertion) -> dict[str, Any]:
    """What was sent, with the very bytes that were looked at: the library decodes base64 in its own way."""
    sent: dict[str, Any] = msgspec.to_builtins(used)
    data = bytes_of(used.response.authenticator_data)
    check_authenticator_data(data)
    sent["response"]["authenticatorData"] = text_of(data)
    return sent


def _checked(check: Callable[[], T]) -> T:
    try:
        return check()
    except NotVerified:
        raise
    except Exception as error:
        # The library raises its own and others' exceptions, depending on which byte is wrong.
        log.info("a passkey was not verified", why=repr(error))
        raise NotVerified(str(error)) from error
