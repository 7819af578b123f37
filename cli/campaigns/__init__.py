"""Commands about campaigns and what is submitted to them."""
