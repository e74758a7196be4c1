"""The data of one person."""
