"""Pins: messages that a topic or a direct conversation keeps in sight.

Invariants: a pin is where its message is, and goes with it. Who reads a message reads its pin, and nobody else knows of it.
Who pinned it is not kept: a pin belongs to the conversation, and holds nothing of a person.
"""
