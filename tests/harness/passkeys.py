"""An authenticator with passkeys for tests, and the browser around it: the client's side of WebAuthn, made of `cryptography`.

It does as it is told: where a test wants it to lie, it says so in the `Lies`.
"""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Protocol

import cbor2
import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

from tests.harness.browser import Browser
from tests.harness.passwords import PASSWORD
from tests.harness.server import User
from tests.harness.talk import Json

PRESENT, VERIFIED, ELIGIBLE, SYNCED, ATTESTED, EXTENDED = 1, 4, 8, 16, 64, 128
ES256, EDDSA, RS256 = -7, -8, -257
Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


class Open(Protocol):
    """Opens a browser."""

    def __call__(self, host: str | None = None, url: str | None = None) -> Browser: ...


@dataclass
class Lies:
    """What an honest browser or authenticator would not say."""

    origin: str | None = None
    rp_id: str | None = None
    type: str | None = None
    challenge: str | None = None
    cross_origin: bool = False
    is_present: bool = True
    handle: str | None = None
    """Of whom the passkey says it is; empty: it does not say."""
    signature: bytes | None = None
    credential: bytes | None = None
    """What the new passkey calls itself."""
    key: dict[int, object] = field(default_factory=dict)
    """What the public key of the new passkey says besides."""
    extensions: object = None
    """What the authenticator says besides; None: nothing."""


HONEST = Lies()


@dataclass
class Credential:
    """A passkey in the authenticator."""

    id: bytes
    key: Key
    rp_id: str
    handle: str
    count: int = 0


@dataclass
class PasskeyDevice:
    """An authenticator at a page. It asks for a PIN (`verifies`) or not, and counts its uses or not."""

    origin: str
    verifies: bool = True
    counts: bool = True
    algorithm: int = ES256
    flags: int = 0
    attestation: dict[str, Any] = field(default_factory=lambda: {"fmt": "none", "attStmt": {}})
    credentials: list[Credential] = field(default_factory=list)

    def make(self, options: Json, lies: Lies = HONEST) -> Json:
        """As `navigator.credentials.create`."""
        assert {"type": "public-key", "alg": self.algorithm} in options["pubKeyCredParams"]
        made = Credential(
            lies.credential or secrets.token_bytes(20),
            _new_key(self.algorithm),
            options["rp"]["id"],
            options["user"]["id"],
        )
        self.credentials.append(made)
        public = cbor2.dumps(_cose(made.key) | lies.key)
        attested = bytes(16) + len(made.id).to_bytes(2, "big") + made.id + public
        data = self._data(made, lies, attested)
        statement = {**self.attestation, "authData": data}
        return {
            "id": text(made.id),
            "rawId": text(made.id),
            "type": "public-key",
            "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
            "response": {
                "clientDataJSON": text(self._client_data("webauthn.create", options["challenge"], lies)),
                "attestationObject": text(cbor2.dumps(statement)),
                "transports": ["internal", "hybrid", "telepathy"],
            },
        }

    def use(self, options: Json, lies: Lies = HONEST, credential: Credential | None = None) -> Json:
        """As `navigator.credentials.get`."""
        allowed = {one["id"] for one in options["allowCredentials"]}
        chosen = credential or next(one for one in self.credentials if not allowed or text(one.id) in allowed)
        if self.counts:
            chosen.count += 1
        data = self._data(chosen, lies)
        client_data = self._client_data("webauthn.get", options["challenge"], lies)
        signature = lies.signature or _sign(chosen.key, data + hashlib.sha256(client_data).digest())
        response = {
            "clientDataJSON": text(client_data),
            "authenticatorData": text(data),
            "signature": text(signature),
            "userHandle": chosen.handle if lies.handle is None else lies.handle or None,
        }
        return {"id": text(chosen.id), "rawId": text(chosen.id), "type": "public-key", "response": response}

    def _data(self, credential: Credential, lies: Lies, attested: bytes = b"") -> bytes:
        extensions = b"" if lies.extensions is None else cbor2.dumps(lies.extensions)
        flags = PRESENT * lies.is_present + VERIFIED * self.verifies + self.flags
        flags += ATTESTED * bool(attested) + EXTENDED * bool(extensions)
        host = hashlib.sha256((lies.rp_id or credential.rp_id).encode()).digest()
        return host + bytes([flags]) + credential.count.to_bytes(4, "big") + attested + extensions

    def _client_data(self, kind: str, challenge: str, lies: Lies) -> bytes:
        said = {
            "type": lies.type or kind,
            "challenge": lies.challenge or challenge,
            "origin": lies.origin or self.origin,
            "crossOrigin": lies.cross_origin,
        }
        return json.dumps(said).encode()


def text(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def add_passkey(browser: Browser, device: PasskeyDevice, label: str = "My key", **proof: object) -> Json:
    """Add a passkey of the device to the account that is logged in."""
    begun = browser.post("users/me/passkeys/options", **proof or {"password": PASSWORD})
    return browser.post("users/me/passkeys", label=label, credential=device.make(begun["public_key"]))


def sign_in(browser: Browser, device: PasskeyDevice, lies: Lies | None = None) -> httpx.Response:
    options = browser.post("sessions/passkey/options")["public_key"]
    return browser.request("POST", "sessions/passkey", passkey=device.use(options, lies or Lies()))


def by_password(browser: Browser, user: User, **step: object) -> httpx.Response:
    return browser.request("POST", "sessions", username=user.email, password=PASSWORD, **step)


def challenged(reply: httpx.Response, code: str = "SECOND_FACTOR_REQUIRED", status: int = 401) -> Json:
    """What passkeys are asked with, in a refusal."""
    body = reply.json()
    assert (reply.status_code, body["code"]) == (status, code), body
    assert "passkey" in body["methods"]
    found: Json = body["passkey"]
    return found


def passkeys(browser: Browser) -> list[Json]:
    found: list[Json] = browser.get("users/me/passkeys")["passkeys"]
    return found


def _new_key(algorithm: int) -> Key:
    if algorithm == EDDSA:
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm == RS256:
        return rsa.generate_private_key(65537, 2048)
    return ec.generate_private_key(ec.SECP256R1())


def _cose(key: Key) -> dict[int, object]:
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return {1: 1, 3: EDDSA, -1: 6, -2: key.public_key().public_bytes_raw()}
    if isinstance(key, rsa.RSAPrivateKey):
        numbers = key.public_key().public_numbers()
        return {1: 3, 3: RS256, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")}
    point = key.public_key().public_numbers()
    return {1: 2, 3: ES256, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}


def _sign(key: Key, data: bytes) -> bytes:
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(data)
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), hashes.SHA256())
    return key.sign(data, ec.ECDSA(hashes.SHA256()))
