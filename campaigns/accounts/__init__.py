"""Who somebody is: accounts, sessions, tokens, invitations, teams."""
