"""The organization: its settings, groups and rights, emoji, linkifiers, and the queue of messages of its notification bot."""
