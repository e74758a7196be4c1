"""Sessions of browsers: logging in and out with a cookie, by a password or through an OpenID Connect provider.

Invariants:
- The cookie holds a random token; only its digest is stored. Every login makes a new one and ends the one before.
- Nothing is cached: a session that ended is over with the commit, on every node. Who is turned off has none.
- A session lasts 14 days from its last use and 30 from the login (settings); the use is written at most once an hour.
- An account is found by the provider's own name for the person, else by an address the provider has verified.
"""
