"""Topics of a channel, and deleting one."""
