"""Thumbnails of uploaded pictures."""
