"""The parts of the client that mutants are put into, each with the smallest tests that must find them, quick first."""

from __future__ import annotations

from tests.mutants.target import Target, target

CLIENT_AREAS: dict[str, list[Target]] = {
    "client": [
        target(
            " ".join(
                f"client/steelyard_client/operations/{name}.py"
                for name in ("accounts", "campaigns", "imported_scores", "leaderboards", "submissions", "test_sets")
            ),
            "tests/client/test_arguments.py tests/client/test_watching.py tests/client/test_operations.py",
        ),
        target(
            "client/steelyard_client/requests.py client/steelyard_client/retries.py client/steelyard_client/reading.py "
            "client/steelyard_client/steps.py client/steelyard_client/addresses.py client/steelyard_client/events.py "
            "client/steelyard_client/files.py",
            "tests/client/test_requests.py tests/client/test_watching.py tests/client/test_events.py "
            "tests/client/test_submitting.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/{name}.py"
                for name in (
                    *("campaigns/campaign", "campaigns/exported", "campaigns/output", "campaigns/phase"),
                    *("campaigns/quota", "campaigns/scores", "submissions/evaluations", "submissions/submission"),
                )
            ),
            "tests/cli/test_options_are_asked_for.py tests/cli/campaigns/test_tables.py "
            "tests/cli/campaigns/test_scopes.py "
            "tests/cli/campaigns/test_exported.py tests/cli/leaderboards/test_tables.py "
            "tests/cli/campaigns/test_evaluations.py tests/cli/campaigns/test_changes.py "
            "tests/cli/printed/test_printed.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/leaderboards/{name}.py"
                for name in ("breakdown", "compare", "leaderboard", "power", "rows", "tables")
            ),
            "tests/cli/test_options_are_asked_for.py tests/cli/leaderboards/test_tables.py "
            "tests/cli/leaderboards/test_remarks.py tests/cli/leaderboards/test_power.py "
            "tests/cli/leaderboards/test_leaderboard.py tests/cli/leaderboards/test_compare.py "
            "tests/cli/printed/test_printed.py",
        ),
        target(
            "client/steelyard_client/commands/campaigns/imported.py "
            "client/steelyard_client/commands/submissions/submit_pairs.py",
            "tests/cli/campaigns/test_imported.py tests/cli/campaigns/test_submit_pairs.py "
            "tests/cli/campaigns/test_submit.py tests/cli/printed/test_printed.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/queue/{name}.py"
                for name in ("failures", "output", "status", "submissions", "watch")
            ),
            "tests/cli/queue/test_output.py tests/cli/queue/test_status.py tests/cli/queue/test_status_server.py "
            "tests/cli/printed/test_printed.py",
        ),
        target(
            "client/steelyard_client/commands/backend.py client/steelyard_client/commands/tokens.py",
            "tests/cli/test_which_backend.py tests/cli/accounts/test_login.py tests/cli/leaderboards/test_compare.py",
        ),
        target(
            "client/steelyard_client/commands/leaderboards/chosen.py",
            "tests/cli/leaderboards/test_chosen.py tests/cli/leaderboards/test_leaderboard.py",
        ),
    ],
}
