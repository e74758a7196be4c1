"""Being reached while not looking: whom a message concerns, and the ways of telling them."""
