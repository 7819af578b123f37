"""Ways to get an account, a team, a campaign: invitations, signing up, and the mails about them."""
