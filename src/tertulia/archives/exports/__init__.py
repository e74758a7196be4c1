"""Exports of an organization: who agrees to theirs. No export is made by the API (see docs/how-to/operate.md for backups)."""
