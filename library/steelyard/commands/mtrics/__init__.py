"""`mtrics`: the command of Kos (2008, Appendix A), on the same functions as `steelyard score`."""
