"""Files as objects: on disk in a folder, or in a bucket that speaks S3. One `Store` for both, on top of obstore.

Invariants: an object is there whole or not at all; it never changes once it is there (who has something new takes a new
key); and however large it is, it passes through in pieces. What an object is called, whose it is and of what type, the
database knows: a store keeps bytes. Objects that no row refers to are listed there as well (orphans.py).
"""

from tertulia.content.storage.scanning import Scanner
from tertulia.content.storage.store import NotStored, Store, Stored, StoreUnavailable

__all__ = ["NotStored", "Scanner", "Store", "StoreUnavailable", "Stored"]
