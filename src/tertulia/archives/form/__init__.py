"""The form of an organization's archive (docs/reference/archive.md): what is in it, as types, and what holds them together.

One plain tar: JSON lines of each kind, in numbered parts; the bytes of files and pictures, as entries of their own; and, last
of all, a manifest with the counts and the sum of every part. So it can be written and read as a stream, in little memory, and
one that was cut has no manifest. It knows no database: whoever comes from another chat writes it too.
"""
