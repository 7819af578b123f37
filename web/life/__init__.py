"""The life of a campaign: its phases, who may do what in it, and what is shown to whom."""
