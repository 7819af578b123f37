"""Runs one command and writes down what it took: `python -I -S launch.py FILE COMMAND ...`, for `timing.whole_process`.

A program of its own because Linux lets a new process begin with the peak of memory of the one that started it, and this
one is small.
"""

import os
import sys
import time

begun = time.monotonic()
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ), 0)
with open(sys.argv[1], "w") as file:
    file.write(f"{usage.ru_utime + usage.ru_stime} {time.monotonic() - begun} {usage.ru_maxrss / 1024}")
sys.exit(os.waitstatus_to_exitcode(status))
