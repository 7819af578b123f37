"""Pool processes are forked while other threads of a command write."""

import subprocess
import sys

FORK_WHILE_A_THREAD_WRITES = """
import os, sys, threading, time
from sqlalchemy import text
from models.database.session import make_engine, writing

engine = make_engine(sys.argv[1], pooled=False)
inside = threading.Event()

def write():
    with writing(engine) as connection:
        connection.execute(text("UPDATE worker SET pid = 1"))
        inside.set()
        time.sleep(0.3)

thread = threading.Thread(target=write)
thread.start()
assert inside.wait(60)
child = os.fork()
if child == 0:
    with writing(make_engine(sys.argv[1] + "?timeout=60", pooled=False)) as connection:
        connection.execute(text("UPDATE worker SET pid = 2"))
    os._exit(0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_forked_while_a_thread_writes_can_write_itself(sqlite_url: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FORK_WHILE_A_THREAD_WRITES, sqlite_url], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
