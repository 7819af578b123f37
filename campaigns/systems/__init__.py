"""Systems of a campaign: what is said of them, what they score, and how they are cited."""
