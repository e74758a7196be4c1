"""Alert words: words somebody wants to be told of wherever they appear.

Invariants: a word is in a list once, whatever its case; the owner of a list is locked while it changes, so that the list
in the last event is the list in the database.
"""
