"""What apps tell of their phones. This server sends nothing to phones: tokens are taken, so that apps go on, and forgotten."""
