"""The command line: `steelyard VERB ...`."""
