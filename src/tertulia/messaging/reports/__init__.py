"""Reports: somebody tells the moderators of a message. The notification bot says it in the channel for that, once.

Invariant: what a report quotes is what its author could read at that moment; who reads it is decided by that channel alone.
"""
