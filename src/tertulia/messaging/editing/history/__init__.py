"""What a message was before."""
