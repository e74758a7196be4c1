"""Logging in by a passkey alone, without a password or a user name."""
