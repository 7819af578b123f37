"""Takes submissions in, cuts them into shards, hands them out, watches over them."""
