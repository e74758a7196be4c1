"""The tokens of directories: made by owners and operators, shown once, revoked."""
