"""The weekly digest: what was said in their channels, by mail, for people who were away for days."""
