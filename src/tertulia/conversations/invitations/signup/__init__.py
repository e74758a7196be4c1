"""Signing up: with an invitation, or where the organization is open."""
