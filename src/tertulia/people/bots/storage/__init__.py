"""What bots remember: a small store of texts for each account."""
