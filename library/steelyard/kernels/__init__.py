"""Array kernels in C by family, one file per algorithm, each with a thin Python wrapper of the same name."""
