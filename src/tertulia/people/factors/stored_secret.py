"""How the secret of an authenticator lies in the database: the one place that writes and reads it.

It has to be read back, so it cannot be hashed: it is sealed with the server's key, where there is one.
"""

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.sealing import SealedColumn

SECRET = SealedColumn("second_factor", "secret", "user_id")


def seal_secret(tx: Transaction, secret: bytes) -> bytes:
    """As it is stored."""
    return tx.sealer.seal(SECRET, secret)


def open_secret(reader: Reader, stored: bytes) -> bytes:
    """The secret itself."""
    return reader.sealer.open(SECRET, stored)
