"""A learned worker that belongs to a command with embedded workers: `python -m worker.learned.child`.

The command writes its settings to the standard input, and ends the worker by SIGTERM; the worker also ends with it. It
is started rather than forked: frameworks that models need do not survive a fork.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress

from runtime.logs import set_up_logs
from runtime.settings import Settings
from runtime.tracing import set_up_traces
from worker.learned.running import run_learned_worker
from worker.processes.parent_death import end_with_parent


def main() -> int:
    """Work until stopped; the exit code."""
    # Ctrl-C reaches the whole group of processes: the command decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        end_with_parent(signal.SIGTERM)
    settings = Settings.model_validate_json(sys.stdin.buffer.read())
    set_up_logs(settings.log_format, "warning", role="learned")
    set_up_traces(settings.traces_url, "learned")
    return run_learned_worker(settings, signals=(signal.SIGTERM,))


if __name__ == "__main__":
    sys.exit(main())
