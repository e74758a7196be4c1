"""Whom a message concerns while they are not looking, and why: decided in one place for every way of telling them.

Invariants: `rules.decide` is the only place that knows the settings of notifications; it is pure. Push and mail are two ways
of telling what it decides, with the same facts and the same table. What the facts say is asked for in `queries.py`, of
whatever messages and people a statement is about: when a message was sent, and again before a mail about it is made.
"""
