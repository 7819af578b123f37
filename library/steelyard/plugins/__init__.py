"""Plug-ins: metrics, tokenizers and formats of other distributions, found through entry points and kept from harm."""
