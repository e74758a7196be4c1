"""Changing a channel: its name, privacy, settings and folder."""
