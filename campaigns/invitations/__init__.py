"""Invitations to an account, a team or a campaign; signing up; and the e-mails about them."""
