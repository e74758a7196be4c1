"""What a browser is told about our pages: what they may load, and who may show them (pure)."""

# Pictures come from anywhere: people link to them in messages. Scripts and styles only from our own files, so that
# markup which slipped through the server's sanitizer still could not run, nor redress the page.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob: https:; media-src 'self' blob: https:; manifest-src 'self'; worker-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

PAGE_HEADERS = (
    (b"content-security-policy", _CONTENT_SECURITY_POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
)
FOR_EVER = b"public, max-age=31536000, immutable"
ASK_AGAIN = b"no-cache"
"""The browser keeps it, and asks each time whether it is still the same."""
