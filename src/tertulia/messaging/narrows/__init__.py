"""Narrows: which messages somebody asks for. Parsing, checking, compiling to SQL, searching, highlighting.

To be read in this order: terms.py (what came over the wire), resolve.py (what it means to this reader), conditions.py (each
operator as a condition), statements.py (a narrow as SQL), search.py and highlight.py, listening.py (narrows of event queues).
Invariants:
- A message is found only if it is in the reader's scope (scopes.py), whatever the terms say; every statement has the scope
  and all conditions in it. Which index it walks (drivers.py) changes its cost, never its result.
- Statements are composed with SQLAlchemy Core and compiled once per shape; values are always parameters.
- Unknown and unreachable channels, users and messages are refused in the same words.
"""
