"""Signing in through providers (OAuth 2, OpenID Connect): what is asked of them, and whose account an identity is."""
