"""What happens in repositories at GitHub."""
