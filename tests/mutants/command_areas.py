"""The parts of the commands on the server's machine that mutants are put into, each with the smallest tests that must
find them, quick first.
"""

from __future__ import annotations

from tests.mutants.target import Target, target

COMMAND_AREAS: dict[str, list[Target]] = {
    "commands": [
        target(
            "cli/doctor/database.py cli/doctor/processes.py cli/doctor/web.py cli/doctor/environment.py "
            "cli/doctor/doctor.py",
            "tests/cli/doctor/test_doctor.py tests/cli/doctor/test_limits.py",
        ),
        target(
            "cli/schedules/output.py cli/schedules/run.py cli/schedules/junit.py cli/schedules/create.py",
            "tests/cli/schedules/test_output.py tests/cli/schedules/test_schedule.py",
        ),
        target(
            "cli/campaigns/evaluated.py cli/campaigns/measured_before.py cli/campaigns/judgment_files.py "
            "cli/campaigns/noticed.py",
            "tests/cli/campaigns/test_measured_before.py tests/cli/campaigns/test_evaluated.py",
        ),
    ],
}
