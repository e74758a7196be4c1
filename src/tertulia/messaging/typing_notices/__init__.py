"""Typing: who is writing a message right now, told to those it is for.

The server keeps nothing of it and writes nothing: what it needs to know is read together with other such requests, and
the signal goes straight to the event log. Clients repeat `start` and forget a writer of whom they hear no more.
"""
