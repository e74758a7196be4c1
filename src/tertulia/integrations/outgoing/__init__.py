"""Outgoing webhooks: a message that addresses a bot is posted to the bot's server, and the answer is sent as the bot's.

Invariants: a call is written down by the transaction that sends the message (actions.py) and
made at least once, by any of the workers; its answer is sent once, because the message it answers is its key. Nobody
waits for a bot's server: calls run side by side, so many at most for one bot. A call that fails for good is told to
the bot's owner.
"""
