"""Backup and restore: archives of the database and its objects, made while the server runs.

A place (a folder or a bucket) holds archives and, once for all of them, the objects:

    2026-11-16T130405.123Z/manifest.json   what the archive is: versions, counts, SHA-256 of the other three; written last
    2026-11-16T130405.123Z/database        pg_dump's custom format, encrypted
    2026-11-16T130405.123Z/contents        rows and digest of each table, key and size of each object; encrypted
    2026-11-16T130405.123Z/objects         which objects it needs: what anybody may check, and `prune` goes by
    objects/4f/<number>-<SHA-256>          one object, encrypted; its key is inside, and the number is made of it

Invariants:
- An archive is there when its manifest is, which is written last and in one piece. Whoever is killed before that leaves none.
- Database, counts and digests are of one snapshot. Objects are listed after it, and none is deleted until they are copied: so
  whatever the snapshot refers to is in the archive.
- Whoever makes backups cannot read them: they are encrypted for public keys (age). Nothing that is secret is outside.
- All that is read back is checked: sums before, decryption while, keys and sizes after.
- Memory is bounded: the database passes in pieces, an object by a temporary file if it is large.
- A place belongs to one server. One process at a time makes, prunes or restores: a lock of the database.
"""
