"""Numbers with the same bits on every processor: elementary functions, distributions, the fixed-point grid."""
