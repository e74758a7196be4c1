"""Reading messages: the one way to a message, windows of a narrow, and messages as one reader sees them."""
