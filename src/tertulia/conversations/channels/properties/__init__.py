"""What subscribers set for themselves in a channel."""
