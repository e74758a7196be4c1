"""Changing an organization's settings."""
