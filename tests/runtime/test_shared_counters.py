"""What several processes count at once, and what is left of one that was killed."""

import multiprocessing
import os
import signal

from runtime.shared_counters import Counter, Histogram, SharedCounters


def test_processes_count_in_rows_of_their_own() -> None:
    counters = SharedCounters(
        [Counter("sheep", "Sheep.", "colour", ("black", "white")), Histogram("naps", "Naps.", (1.0, 5.0))], 2
    )

    def count(number: int) -> None:
        counters.begin(number)
        for _ in range(1000):
            counters.count("sheep", "white")
        counters.observe("naps", 0.5)
        counters.observe("naps", 60.0)
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    context = multiprocessing.get_context("fork")
    # The last one takes the place of the first.
    for group in ((0, 1), (0,)):
        pool = []
        for index in group:
            process = context.Process(target=count, args=(index,))
            process.start()
            pool.append(process)
        for process in pool:
            process.join()
            assert process.exitcode in (0, -signal.SIGKILL)
    last = pool[0].pid
    counters.count("sheep", "black", 2.0)
    assert (counters.total("sheep", "white"), counters.total("sheep", "black")) == (3000.0, 2.0)
    assert counters.buckets("naps") == ([3.0, 3.0, 6.0], 181.5)
    assert counters.processes()[0] == last
    assert set(counters.processes()) == {0, 1}


def test_a_time_at_the_end_of_a_bucket_is_in_it() -> None:
    """As Prometheus has it: `le` means less than or equal."""
    counters = SharedCounters([Histogram("naps", "Naps.", (1.0, 5.0))])
    for seconds in (1.0, 5.0, 5.5):
        counters.observe("naps", seconds)
    assert counters.buckets("naps") == ([1.0, 2.0, 3.0], 11.5)
