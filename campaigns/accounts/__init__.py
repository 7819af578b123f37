"""Who somebody is: accounts, passwords, sessions, tokens, teams."""
