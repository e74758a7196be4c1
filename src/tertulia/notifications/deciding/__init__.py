"""Deciding whom a message concerns: one queue, `push_due`, from which every way of telling people is fed.

Invariants: the transaction that sends a message writes one row, whoever and however many it concerns; the worker decides, in
steps of bounded size, and writes down only for those who are to be told. Whom a message may concern is found by what makes it
concern them (a direct conversation, a mention, a followed topic, a setting of the channel), never by asking all who receive it,
unless it is addressed to all of them.
"""
