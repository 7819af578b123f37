"""The web service: HTML pages, a JSON API, and the middleware before both."""
