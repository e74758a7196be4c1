"""What a browser is told about our pages: what they may load, and who may show them (pure)."""

# Everything comes from our own files: markup which slipped through the server's sanitizer still could not run, nor redress
# the page, nor load a picture from elsewhere, whose owner would see who reads.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; media-src 'self' blob:; manifest-src 'self'; worker-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

FILE_HEADERS = (
    (b"content-security-policy", _CONTENT_SECURITY_POLICY.encode()),
    (b"x-frame-options", b"DENY"),
)
"""Of every file of the client: a worker has the policy of its script."""
PAGE_HEADERS = (
    *FILE_HEADERS,
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(self), geolocation=(), payment=(), usb=()"),
)
FOR_EVER = b"public, max-age=31536000, immutable"
ASK_AGAIN = b"no-cache"
"""The browser keeps it, and asks each time whether it is still the same."""
