"""Errors and alerts of Sentry."""
