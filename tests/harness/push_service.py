"""A push service with one browser behind it: what is posted is decrypted as a browser does (RFC 8188, 8291)."""

import base64
import hmac
import json
import os
import struct
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.harness.bot_server import BotServer, Posted
from tests.harness.talk import Json, Speaker

CURVE = ec.SECP256R1()


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def data(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Pushed(NamedTuple):
    """What the browser's service worker would get, and what the push service saw."""

    payload: Json
    headers: dict[str, str]


class Browser:
    """A browser that is subscribed at a push service."""

    def __init__(
        self, service: BotServer, path: str = "/push/one", private_key: bytes = b"", secret: bytes = b""
    ) -> None:
        self.service, self.endpoint = service, service.url + path
        if private_key:
            self._key = ec.derive_private_key(int.from_bytes(private_key, "big"), CURVE)
        else:
            self._key = ec.generate_private_key(CURVE)
        self._secret = secret or os.urandom(16)
        self._public = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def fields(self) -> dict[str, str]:
        """As `PushSubscription.toJSON()` has them."""
        return {"endpoint": self.endpoint, "p256dh": text(self._public), "auth": text(self._secret)}

    def subscribe(self, speaker: Speaker) -> "Browser":
        speaker.post("users/me/push_subscriptions", **self.fields)
        return self

    def next(self) -> Pushed:
        return self.read(self.service.next())

    def read(self, posted: Posted) -> Pushed:
        assert posted.headers["content-encoding"] == "aes128gcm"
        return Pushed(json.loads(self.decrypt(posted.body)), posted.headers)

    def decrypt(self, body: bytes) -> bytes:
        salt, (size, length) = body[:16], struct.unpack("!IB", body[16:21])
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size
        shared = self._key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
        secret = _expand(_extract(self._secret, shared), b"WebPush: info\0" + self._public + sender, 32)
        extracted = _extract(salt, secret)
        key = _expand(extracted, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _expand(extracted, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        assert plain.endswith(b"\x02"), "the last record ends with this"
        return plain[:-1]


def check_signature(authorization: str, public_key: str) -> Json:
    """The claims of a VAPID header that is signed with that key."""
    scheme, _, rest = authorization.partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert (scheme, parts["k"]) == ("vapid", public_key)
    head, body, signature = parts["t"].split(".")
    raw = data(signature)
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, data(public_key))
    key.verify(der, f"{head}.{body}".encode(), ec.ECDSA(SHA256()))
    assert json.loads(data(head)) == {"typ": "JWT", "alg": "ES256"}
    claims: Json = json.loads(data(body))
    return claims


def _extract(salt: bytes, secret: bytes) -> bytes:
    return hmac.digest(salt, secret, "sha256")


def _expand(key: bytes, info: bytes, length: int) -> bytes:
    return HKDFExpand(SHA256(), length, info).derive(key)
