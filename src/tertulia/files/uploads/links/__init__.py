"""Which messages link which files."""
