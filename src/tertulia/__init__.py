"""Tertulia: a team chat server.

Imports run one way: cli and app -> features -> events -> kernel. A feature is a folder.
"""

__version__ = "0.1.0"
