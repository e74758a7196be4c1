"""Whether CBOR of a stranger is harmless: its bytes are walked before a library makes anything of them (pure).

Libraries read all of CBOR. With a tag in it a text becomes a regular expression, and compiling that holds the process for a
minute. What authenticators send (CTAP2's canonical form) has no tags, no open ends and little depth, so nothing else is read.
"""

MAX_DEPTH = 5
"""An attestation of several makers: map, list, map, map, list of certificates."""
MAX_ITEMS = 64
MAX_AUTHENTICATOR_DATA = 2500
"""The longest name and the longest key that we take, of about a kilobyte each, and extensions."""

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(8)
_HEAD = 37
"""The digest of the host, the flags and the count."""
_FLAGS_AT = 32
_ATTESTED, _EXTENDED = 0x40, 0x80
_AAGUID = 16


class Harmful(ValueError):
    """It is no CBOR that an authenticator would send."""


def check_cbor(data: bytes) -> None:
    """Refuse what is not one harmless value, and nothing after it."""
    if _end_of_value(data, 0) != len(data):
        raise Harmful("something follows the value")


def check_authenticator_data(data: bytes) -> None:
    """Refuse authenticator data whose CBOR is not harmless: the public key of a new passkey, and extensions."""
    if not _HEAD <= len(data) <= MAX_AUTHENTICATOR_DATA:
        raise Harmful("authenticator data of this length")
    flags, at = data[_FLAGS_AT], _HEAD
    if flags & _ATTESTED:
        id_at = at + _AAGUID + 2
        at = _end_of_map(data, id_at + int.from_bytes(data[id_at - 2 : id_at], "big"))
    if flags & _EXTENDED:
        at = _end_of_map(data, at)
    if at != len(data):
        raise Harmful("something follows the authenticator data")


def _end_of_map(data: bytes, start: int) -> int:
    """Where the map ends that starts there.

    The library finds that end by encoding the map anew. If that gave other bytes, it would go on to read at a place that was
    not walked as a beginning.
    """
    from webauthn.helpers import encode_cbor, parse_cbor  # loaded for a ceremony only

    end = _end_of_value(data, start)
    part = data[start:end]
    if part[0] >> 5 != _MAP or encode_cbor(parse_cbor(part)) != part:
        raise Harmful("not a map in its one form")
    return end


def _end_of_value(data: bytes, start: int) -> int:
    walk = _Walk(data, start)
    walk.pass_value(MAX_DEPTH)
    return walk.at


class _Walk:
    """A place in the bytes, and how many items may still come."""

    def __init__(self, data: bytes, at: int) -> None:
        self.at = at
        self._data = data
        self._items_left = MAX_ITEMS

    def pass_value(self, depth: int) -> None:
        kind, number = self._pass_head()
        if kind in (_BYTES, _TEXT):
            self._pass_bytes(number)
        elif kind in (_ARRAY, _MAP):
            if depth == 0:
                raise Harmful("too deep")
            for _ in range(2 * number if kind == _MAP else number):
                self.pass_value(depth - 1)
        elif kind == _TAG:
            raise Harmful("a tag")

    def _pass_head(self) -> tuple[int, int]:
        self._items_left -= 1
        if self._items_left < 0:
            raise Harmful("too many items")
        first = self._pass_bytes(1)[0]
        kind, size = first >> 5, first & 0x1F
        if size < 24:
            return kind, size
        if size > 27:
            raise Harmful("an open end")
        return kind, int.from_bytes(self._pass_bytes(1 << (size - 24)), "big")

    def _pass_bytes(self, count: int) -> bytes:
        passed = self._data[self.at : self.at + count]
        if len(passed) < count:
            raise Harmful("it ends too soon")
        self.at += count
        return passed
