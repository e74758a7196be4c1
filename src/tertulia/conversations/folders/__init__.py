"""Folders: what the organization sorts its channels into.

Everybody sees all folders; administrators make and change them. A channel is in one folder or in none: `channel.folder_id`.
Invariants:
- Two folders in use never have the same name, whatever its case.
- A folder that is archived has no channels: whoever puts a channel into a folder holds it (access.py), and whoever
  archives one looks for channels after they have locked it.
- One change of a realm's folders at a time: an order names all of them.
"""
