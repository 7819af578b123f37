"""The parts of the commands on the server's machine that mutants are put into, each with the smallest tests that must
find them, quick first.
"""

from __future__ import annotations

from tests.mutants.target import Target, target

COMMAND_AREAS: dict[str, list[Target]] = {
    "server_commands": [
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
            "cli/campaigns/evaluated.py cli/campaigns/measured_before.py",
            "tests/cli/campaigns/test_measured_before.py tests/cli/campaigns/test_evaluated.py",
        ),
        target(
            "cli/campaigns/evaluate.py",
            "tests/cli/terminal/test_progress.py tests/cli/campaigns/test_evaluated.py tests/cli/terminal/test_due.py "
            "tests/acceptance/test_evaluate.py",
        ),
        target("cli/campaigns/noticed.py", "tests/cli/scoring/test_check.py"),
        target("cli/campaigns/judgment_files.py", "tests/cli/meta_evaluation/test_judgments.py"),
        target("cli/processes/up.py", "tests/cli/processes/test_up.py"),
        target(
            "cli/processes/health.py cli/processes/http_option.py cli/processes/serve.py",
            "tests/cli/processes/test_health.py tests/cli/processes/test_processes.py",
        ),
        target(
            "cli/processes/database.py",
            "tests/cli/processes/test_database.py tests/models/database/test_compatibility.py",
        ),
        target("cli/processes/working.py", "tests/cli/processes/test_working.py"),
        target("cli/scoring/model.py", "tests/cli/scoring/test_model.py"),
        target("cli/scoring/vectors.py", "tests/cli/scoring/test_embeddings.py"),
        target("cli/stored.py", "tests/runtime/test_settings.py tests/cli/processes/test_processes.py"),
        target(
            "cli/meta_evaluation/tune.py cli/meta_evaluation/tune_measure.py cli/meta_evaluation/tune_output.py",
            "tests/cli/printed/test_made_reports.py tests/cli/meta_evaluation/test_tune.py",
        ),
        target("cli/leaderboards/report.py", "tests/cli/leaderboards/test_compare_report.py"),
        target("cli/meta_evaluation/correlation_report.py", "tests/cli/meta_evaluation/test_correlate.py"),
        target(
            "cli/own_server.py",
            "tests/cli/test_which_backend.py tests/cli/accounts/test_login.py tests/cli/test_as_account.py",
        ),
    ],
}
