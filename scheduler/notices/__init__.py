"""Notices to people: finding out what has happened, and sending mails and webhooks."""
