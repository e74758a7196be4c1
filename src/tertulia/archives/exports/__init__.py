"""Who agrees to have their private data in an export. Exports are made by the operator (archives/writing)."""
