"""Commands about human judgments, and how metrics agree with them."""
