"""Anything: JSON is shown as it is."""
