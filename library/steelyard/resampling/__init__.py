"""Resampling: exact bootstrap replicates, intervals and tests made from them."""
