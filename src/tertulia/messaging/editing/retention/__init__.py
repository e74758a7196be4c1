"""Deleting messages that are older than their channel or organization keeps them."""
