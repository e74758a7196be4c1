"""Drafts: what somebody has begun to write, kept on the server so that all their clients have it.

Invariant: a draft belongs to one person, and nobody else learns of it. Each change is told to that person's clients in the
transaction that makes it.
"""
