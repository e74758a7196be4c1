"""Beginnings: an organization that waits for its owner gets a name, its first channels and the owner, all at once, in a browser.

Whoever runs the server makes the link (`tertulia init`, `tertulia realm create --link`). The key in it is all that is asked for,
so it is asked again in the transaction that uses it (organization/realms/waiting.py).
"""
