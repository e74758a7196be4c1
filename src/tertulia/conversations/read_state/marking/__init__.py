"""Marking messages read and unread, starring them."""
