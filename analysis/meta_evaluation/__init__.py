"""How well metrics agree with people, and parameters chosen by that."""
