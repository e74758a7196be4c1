"""User groups and rights. For now: the system groups, whose members follow from the role and are never stored."""
