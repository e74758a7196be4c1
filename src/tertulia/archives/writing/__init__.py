"""Exports: an organization as an archive, of one moment, while the server goes on.

What leaves is asked for from what is allowed, outward: first the conversations and people that the scope allows, then what
belongs to them. PostgreSQL makes the lines, in one snapshot; they pass through.
"""
