"""Topics are things: a row each, messages point at it, renaming is one update. Two spellings that differ in case are one."""
