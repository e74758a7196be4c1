"""Saved snippets: texts somebody uses again and again, with a title each. Nobody else learns of them."""
