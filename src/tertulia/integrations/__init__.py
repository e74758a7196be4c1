"""Other services: webhooks that come in, and bots whose servers are called."""
