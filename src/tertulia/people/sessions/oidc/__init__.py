"""Logging in at an OpenID Connect provider."""
