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
        target(
            " ".join(f"client/steelyard_client/commands/human/{name}.py" for name in ("judgments", "output")),
            "tests/cli/meta_evaluation/test_judgments_output.py tests/cli/meta_evaluation/test_judgments_import.py "
            "tests/cli/campaigns/test_one_campaign.py "
            "tests/cli/printed/test_printed.py",
        ),
        target(
            "client/steelyard_client/commands/human/test_sets.py client/steelyard_client/commands/human/imported.py",
            "tests/cli/meta_evaluation/test_chosen_test_set.py tests/cli/campaigns/test_one_campaign.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/accounts/{name}.py"
                for name in ("invitation", "login", "notice", "team", "token", "user")
            ),
            "tests/cli/test_options_are_asked_for.py tests/cli/test_deleting.py tests/cli/printed/test_printed.py "
            "tests/cli/accounts/test_login.py tests/cli/accounts/test_user.py tests/cli/accounts/test_team.py "
            "tests/cli/accounts/test_invitation.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/campaigns/{name}.py"
                for name in (
                    *("announcements", "human_ranking", "matrix", "metrics_task", "ngrams", "past", "schedule"),
                    *("schedule_history", "state", "system", "test_set_files", "testset"),
                )
            ),
            "tests/cli/test_options_are_asked_for.py tests/cli/campaigns/test_tables.py "
            "tests/cli/campaigns/test_archive.py tests/cli/campaigns/test_named_system.py "
            "tests/cli/campaigns/test_test_set_files.py "
            "tests/cli/schedules/test_output.py tests/cli/printed/test_printed.py tests/cli/campaigns/test_changes.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/submissions/{name}.py"
                for name in ("submit", "submit_one", "submit_output")
            ),
            "tests/cli/campaigns/test_submit_output.py tests/cli/test_options_are_asked_for.py "
            "tests/cli/campaigns/test_tables.py tests/cli/printed/test_printed.py tests/cli/campaigns/test_submit.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/commands/leaderboards/{name}.py" for name in ("correlate", "correlations")
            ),
            "tests/cli/printed/test_printed.py tests/cli/meta_evaluation/test_correlate.py",
        ),
        target(
            "client/steelyard_client/commands/urgency.py",
            "tests/cli/terminal/test_due.py",
        ),
        target("client/steelyard_client/visible.py", "tests/client/test_wheel.py"),
        target(
            "client/steelyard_client/client.py client/steelyard_client/errors.py",
            "tests/client/test_asking.py tests/client/test_requests.py tests/client/test_watching.py "
            "tests/client/test_events.py",
        ),
        target(
            "client/steelyard_client/operations/notices.py client/steelyard_client/operations/inspection.py",
            "tests/client/test_arguments.py tests/client/test_operations.py",
        ),
        target(
            " ".join(
                f"client/steelyard_client/documents/{name}.py" for name in ("document", "paging", "submissions/systems")
            ),
            "tests/client/test_system_sizes.py tests/client/test_requests.py tests/cli/printed/test_printed.py",
        ),
    ],
}
