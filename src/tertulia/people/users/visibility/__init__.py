"""Whom a guest sees, where guests do not see everybody; and telling them when that changes."""
