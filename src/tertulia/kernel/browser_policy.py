"""What a browser may do with an answer that is no page: nothing (pure).

Every answer says so, also JSON, pictures and refusals: whatever a browser takes one for, it loads nothing, submits nothing and
stands in nobody's frame. A page, or a script that works by itself, brings a policy of its own in its place.
"""

NOTHING = "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
HARMLESS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", NOTHING.encode()),
    (b"x-frame-options", b"DENY"),
)
"""The headers of an answer that is no page."""
