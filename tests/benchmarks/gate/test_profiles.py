"""What callgrind writes down, read."""

from benchmarks.gate.profiles import by_part, profiles, reason

PROFILE = """\
# callgrind format
version: 1
desc: Trigger: Client Request: words 13a

positions: line
events: Ir
summary: 1111

ob=(1) /usr/lib/libpython3.11.so.1.0
fl=(1) ceval.c
fn=(1) eval
10 100
+2 20
cob=(2) /home/me/metrics/kernels/_kernels.so
cfn=(2) words
calls=3 0
* 700
-1 5

ob=(2)
fn=(2)
0 600
ob=(3) /venv/numpy/_core/_multiarray.so
fn=(3) add
* 200
ob=(4) /venv/numpy.libs/libopenblas.so
fn=(4) dgemm
5 50
ob=(5) /usr/lib/libc.so.6
fn=(5) memcpy
7 7
ob=(6) /usr/lib/python3.11/lib-dynload/_sqlite3.so
fn=(6) step
1 9
ob=(7) /usr/lib/libffi.so.8
fn=(7) ffi_call
0 20
ob=(1)
fn=(1)
1 100
"""


def test_each_line_counts_once_for_the_file_that_holds_it():
    assert by_part(PROFILE) == {"Python": 225, "kernels": 620, "NumPy": 250, "SQLite": 9, "rest": 7}


def test_the_reason_is_the_name_of_the_workload():
    assert reason(PROFILE) == "words 13a"
    assert reason(PROFILE.replace("Client Request: words 13a", "Program termination")) is None


def test_profiles_come_in_the_order_in_which_they_were_written(tmp_path):
    for number in (10, 9, 1):
        (tmp_path / f"profile.{number}").write_text(str(number))
    (tmp_path / "profile").write_text("of the end")
    (tmp_path / "versions.json").write_text("{}")
    assert list(profiles(tmp_path)) == ["of the end", "1", "9", "10"]
