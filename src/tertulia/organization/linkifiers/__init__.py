"""Linkifiers: patterns of an organization that become links in messages, such as numbers of tickets.

Applied by content/markup/linkifiers.py, in a linear-time engine. Invariant: whoever changes them holds the realm, so that the
list in the last event is the list in the database; the groups of a pattern are the variables of its templates.
"""
