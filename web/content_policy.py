"""What browsers may load on pages, and who may show them in frames."""

from __future__ import annotations

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
EMBEDDABLE = {
    "Content-Security-Policy": CONTENT_POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")
    .replace("script-src 'self'", "script-src 'none'")
    .replace("form-action 'self'", "form-action 'none'"),
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Of pages that other sites may show in a frame: they show what everybody sees, and nothing can be done on them."""
