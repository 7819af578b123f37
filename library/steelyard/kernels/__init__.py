"""Array kernels in C, one file per algorithm, each with a thin Python wrapper of the same name."""
