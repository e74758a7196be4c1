"""Groups, as a directory sees and writes them."""
