"""The link that `tertulia dev` prints."""
