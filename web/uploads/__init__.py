"""Files that come with requests: received within bounds, read in the sandbox, handed on."""
