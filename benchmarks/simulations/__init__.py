"""Studies that measure no time: whether intervals, tests and change points keep what they promise."""
