"""Parts of campaigns that few tests import by name, with the smallest tests that must find what is wrong in them."""

from __future__ import annotations

from tests.mutants.target import Target, of_one_name, target

CAMPAIGN_AREAS: dict[str, list[Target]] = {
    "sandbox": [
        target("campaigns/sandbox/fair_queue.py", "tests/campaigns/sandbox/test_fair_queue.py"),
        target(
            "campaigns/sandbox/processes.py campaigns/sandbox/results.py campaigns/sandbox/limits.py",
            "tests/campaigns/sandbox/test_fair_queue.py tests/campaigns/sandbox/test_processes.py",
        ),
        target("campaigns/background.py", "tests/campaigns/test_background.py"),
    ],
    "test_sets": [
        target(
            "campaigns/test_sets/files.py",
            "tests/campaigns/test_sets/test_files.py tests/campaigns/test_segment_ids.py",
        ),
        target(
            "campaigns/test_sets/stored.py",
            "tests/campaigns/test_sets/test_stored.py tests/campaigns/test_changes.py "
            "tests/web/api/campaigns/test_what_is_told.py tests/campaigns/test_corrections.py",
        ),
    ],
    "setting": [
        target("campaigns/changes.py", "tests/campaigns/test_changes.py tests/web/api/campaigns/test_campaigns.py"),
        target("campaigns/news.py", "tests/campaigns/test_news.py tests/web/pages/campaigns/test_feed.py"),
        target(
            "campaigns/known_campaigns.py",
            "tests/web/api/campaigns/test_what_is_told.py tests/campaigns/test_overviews.py",
        ),
        target("campaigns/setup.py", "tests/campaigns/test_setup.py"),
        *of_one_name("campaigns/quotas", "organisers", "tests/campaigns/quotas"),
        target("campaigns/quotas/usage.py", "tests/campaigns/quotas/test_quotas.py"),
    ],
    "mails": [target("campaigns/invitations/email_texts.py", "tests/campaigns/invitations/test_email_texts.py")],
    "selected": [
        target(
            "campaigns/submissions/selected_evaluations.py",
            "tests/web/api/submissions/test_selected.py tests/cli/campaigns/test_evaluations.py",
        ),
    ],
    "carried": [
        target(
            "campaigns/campaign_imports/overview.py",
            "tests/campaigns/campaign_imports/test_overview.py tests/campaigns/campaign_imports/test_previews.py",
        ),
        target("campaigns/exports/judgment_tasks.py", "tests/campaigns/exports/test_judgment_tasks.py"),
        target(
            "campaigns/exports/stored_parts.py",
            "tests/campaigns/exports/test_shared.py tests/campaigns/exports/test_campaign.py",
        ),
    ],
    "boards": [
        target("campaigns/pinned_autoranks.py", "tests/campaigns/score_imports/test_columns.py"),
        *of_one_name("campaigns/leaderboards", "significance_cache", "tests/campaigns/leaderboards"),
        target(
            "campaigns/leaderboards/stored.py",
            "tests/campaigns/leaderboards/test_stored.py tests/cli/leaderboards/test_leaderboard.py "
            "tests/cli/leaderboards/test_power.py",
        ),
        target("campaigns/leaderboards/autoranks.py", "tests/models/results/test_autoranks.py"),
        target(
            "campaigns/leaderboards/scores.py",
            "tests/campaigns/leaderboards/test_significance_cache.py tests/campaigns/leaderboards/test_view.py",
        ),
        target(
            "campaigns/leaderboards/breakdown.py campaigns/leaderboards/options.py",
            "tests/web/api/leaderboards/test_other_rules.py tests/web/api/leaderboards/test_breakdown.py",
        ),
        target(
            "campaigns/corrections/board_changes.py",
            "tests/campaigns/test_board_changes.py tests/web/pages/leaderboards/test_changes.py",
        ),
        *of_one_name("analysis/leaderboard", "column_notices", "tests/analysis/leaderboard"),
        target(
            "analysis/meta_evaluation/metrics_task_parts.py",
            "tests/analysis/meta_evaluation/test_packed_results.py "
            "tests/analysis/meta_evaluation/test_deleted_meanwhile.py tests/web/api/leaderboards/test_metrics_task.py",
        ),
    ],
}
