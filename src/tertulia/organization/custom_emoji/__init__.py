"""Custom emoji of organizations, and what a name, code and type together stand for.

A custom emoji never goes away: deactivated, it can no longer be chosen, and what was written with it stays as it is.
"""
