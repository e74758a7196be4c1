"""Whose request is it? An API key says so, or a browser's session."""
