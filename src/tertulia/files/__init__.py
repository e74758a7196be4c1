"""Files that people upload, fetch and resume; messages link them."""
