"""One file for each kind of leased task: what it loads, what it stores, and what follows."""
