"""Encryption for one browser (RFC 8291, aes128gcm), and the signature that push services know us by (RFC 8292). Pure but for
randomness."""

import base64
import os
import struct
import time

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tertulia.kernel.urls import split_url

POINT_LENGTH, SECRET_LENGTH, SALT_LENGTH = 65, 16, 16
RECORD_SIZE = 4096
MAX_PAYLOAD = RECORD_SIZE - SALT_LENGTH - 5 - POINT_LENGTH - 17
"""What push services take, less our header, the padding's first byte and the tag."""
SIGNED_SECONDS = 12 * 3600
_CURVE = ec.SECP256R1()


def encrypt(payload: bytes, public_key: bytes, auth_secret: bytes) -> bytes:
    """A payload as only the browser with this key reads it."""
    if len(payload) > MAX_PAYLOAD:
        raise ValueError("the payload is too long")
    own = ec.generate_private_key(_CURVE)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, public_key)
    point, salt = point_of(own), os.urandom(SALT_LENGTH)
    secret = _derive(own.exchange(ec.ECDH(), theirs), auth_secret, b"WebPush: info\0" + public_key + point, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + struct.pack("!IB", RECORD_SIZE, len(point)) + point
    return header + AESGCM(key).encrypt(nonce, payload + b"\x02", None)


def is_point(data: bytes) -> bool:
    """Whether this is a public key of the curve that Web Push uses."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, data)
    except ValueError:
        return False
    return len(data) == POINT_LENGTH


class Signer:
    """Signs our requests to push services."""

    def __init__(self, private_key: bytes, contact: str) -> None:
        self._key = ec.derive_private_key(int.from_bytes(private_key, "big"), _CURVE)
        self._contact = contact
        self.public_key = to_text(point_of(self._key))

    def header(self, endpoint: str) -> str:
        """The Authorization header of a request to that address."""
        parts = split_url(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": int(time.time()) + SIGNED_SECONDS,
            "sub": self._contact,
        }
        signed = b".".join(
            to_text(msgspec.json.encode(part)).encode() for part in ({"typ": "JWT", "alg": "ES256"}, claims)
        )
        r, s = decode_dss_signature(self._key.sign(signed, ec.ECDSA(SHA256())))
        signature = to_text(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
        return f"vapid t={signed.decode()}.{signature}, k={self.public_key}"


def new_private_key() -> bytes:
    """A key of our own."""
    return ec.generate_private_key(_CURVE).private_numbers().private_value.to_bytes(32, "big")


def point_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    """The public half of a key."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def to_text(data: bytes) -> str:
    """Base64 as the web writes it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_text(text: str) -> bytes:
    """The bytes of base64 as browsers write it; raises ValueError."""
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
