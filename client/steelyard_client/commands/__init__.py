"""The verbs about campaigns, accounts and submissions: the extra `[cli]`, on click and the library `steelyard`."""
