"""People, as a directory sees and writes them."""
