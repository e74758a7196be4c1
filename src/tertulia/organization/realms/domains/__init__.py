"""The domains that addresses of an organization's people may be in."""
