"""Exports that people ask for: of their organization, and of what is their own.

Asking writes a row (`export_job`); the worker makes the archive (archives/writing) and streams it into the store, and whoever
asked is told. After some days it is deleted.

Invariants:
- Everybody's private data is never in one of them: only the operator takes that (`tertulia export`).
- One at a time of an organization and of a person, and few of them in a week: the database and `bounds.py` say so.
- Who works on one holds a lease, and is known by the key of the object that they write. Who has lost it changes nothing.
- An object is announced before it is written, and owned by its row only when it is whole (content/storage/orphans.py).
- Whether somebody may have an archive is asked when they ask for it, when it is ready, and each time that it is fetched.
"""
