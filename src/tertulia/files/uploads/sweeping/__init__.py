"""Deleting files that no message links and objects that no row names."""
