"""Lists of channels and subscriptions, as one reader may see them."""
