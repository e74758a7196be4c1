"""Moving messages to another topic or channel."""
