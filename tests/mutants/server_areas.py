"""The parts of the server that mutants are put into, each with the smallest tests that must find them, quick first."""

from __future__ import annotations

from tests.mutants.target import Target, of_one_name, target

SERVER_AREAS: dict[str, list[Target]] = {
    "claims": [
        target(
            "models/queue/task_kind.py models/queue/kinds/shards.py models/queue/kinds/reductions.py "
            "models/queue/evaluation_end.py",
            "tests/models/queue/test_reductions.py "
            "tests/models/kinds/test_others_rows.py "
            "tests/models/kinds/test_every_kind.py tests/models/queue/test_shards.py "
            "tests/campaigns/quotas/test_quotas.py tests/campaigns/quotas/test_usage_log.py "
            "tests/worker/test_preemption.py "
            "tests/models/queue/test_random_orders.py tests/worker/test_handlers.py "
            "tests/worker/learned/test_life_cycle.py tests/scheduler/test_recovery.py",
        ),
        target(
            "models/queue/kinds/corpus_statistics.py models/queue/kinds/corpus_statistics_plan.py",
            "tests/models/kinds/test_others_rows.py "
            "tests/models/queue/test_corpus_statistics.py tests/models/kinds/test_every_kind.py "
            "tests/scheduler/enqueue/test_corpus_statistics_failures.py "
            "tests/models/queue/test_random_corpus_statistics.py tests/scheduler/enqueue/test_corpus_statistics.py",
        ),
        target(
            "models/queue/kinds/comparisons.py",
            "tests/models/kinds/test_others_rows.py "
            "tests/models/queue/test_comparisons.py tests/models/kinds/test_every_kind.py "
            "tests/models/queue/test_random_comparisons.py",
        ),
        target(
            "worker/handlers.py worker/runners.py",
            "tests/worker/test_preemption.py "
            "tests/worker/test_handlers.py tests/worker/test_upgrading.py tests/runtime/test_logs.py "
            "tests/models/storage/test_blobs.py",
        ),
        target("runtime/tracing.py", "tests/runtime/test_tracing.py"),
    ],
    "leases": [
        target(
            "models/queue/lease.py",
            "tests/models/queue/test_reductions.py "
            "tests/models/kinds/test_others_rows.py "
            "tests/models/queue/test_lease.py tests/models/kinds/test_every_kind.py tests/models/queue/test_shards.py "
            "tests/scheduler/test_recovery.py",
        ),
        target(
            "scheduler/recovery.py models/queue/consistency.py models/queue/retention.py scheduler/maintenance.py",
            "tests/scheduler/test_recount.py tests/scheduler/test_recovery.py tests/scheduler/test_maintenance.py "
            "tests/scheduler/test_learned_maintenance.py",
        ),
        target("models/queue/leader.py scheduler/leader.py", "tests/scheduler/test_leader.py"),
        target("models/queue/workers.py", "tests/models/database/test_session.py"),
    ],
    "learned": [
        target(
            "models/queue/learned_queue.py models/queue_status/learned.py", "tests/models/queue/test_learned_queue.py"
        ),
        target(
            "models/queue/kinds/learned_shards.py models/results/learned_columns.py scheduler/enqueue/learned.py",
            "tests/worker/learned/test_life_cycle.py tests/worker/learned/test_columns.py",
        ),
        target(
            "worker/learned/running.py worker/learned/scoring.py worker/learned/store.py",
            "tests/worker/learned/test_running.py tests/worker/learned/test_texts.py "
            "tests/worker/learned/test_columns.py",
        ),
        target("models/results/segment_scores.py", "tests/models/results/test_segment_scores.py"),
    ],
    "imported": [
        target("campaigns/score_imports/placement.py", "tests/campaigns/score_imports/test_placement.py"),
        target(
            "campaigns/score_imports/columns.py campaigns/score_imports/scored.py",
            "tests/campaigns/score_imports/test_columns.py tests/campaigns/score_imports/test_versions.py "
            "tests/campaigns/score_imports/test_importing.py",
        ),
        target(
            "campaigns/score_imports/importing.py campaigns/score_imports/targets.py "
            "campaigns/score_imports/versions.py campaigns/score_imports/autorank.py "
            "campaigns/score_imports/reductions.py models/queue/given_statistics.py",
            "tests/campaigns/score_imports/test_versions.py tests/campaigns/score_imports/test_importing.py "
            "tests/web/pages/campaigns/test_scores.py",
        ),
        target("models/results/autoranks.py", "tests/models/results/test_autoranks.py"),
        target("web/api/campaigns/scores.py web/uploads/scores.py", "tests/web/api/campaigns/test_scores.py"),
    ],
    "fairness": [
        target(
            "scheduler/fair_share.py",
            "tests/scheduler/test_fair_share.py tests/scheduler/test_dispatch.py tests/scheduler/test_charging.py",
        ),
        target(
            "scheduler/queue_queries.py scheduler/dispatch.py",
            "tests/scheduler/test_charging.py "
            "tests/scheduler/test_queue_queries.py tests/scheduler/test_dispatch.py tests/scheduler/test_editions.py "
            "tests/scheduler/test_leader.py tests/scheduler/test_grouping.py",
        ),
        target("scheduler/editions.py", "tests/scheduler/test_editions.py"),
        target(
            "scheduler/enqueue/cost_model.py scheduler/completion_accounting.py",
            "tests/scheduler/enqueue/test_cost_model.py",
        ),
    ],
    "queueing": [
        target("scheduler/enqueue/partition.py", "tests/scheduler/enqueue/test_partition.py"),
        target(
            "scheduler/enqueue/shard_plan.py",
            "tests/scheduler/enqueue/test_shard_plan.py tests/scheduler/ingest/test_campaigns.py",
        ),
        target("scheduler/admin.py", "tests/scheduler/admin/test_admin.py tests/scheduler/admin/test_requeue.py"),
        target("worker/preemption.py", "tests/worker/test_preemption.py"),
        *of_one_name("worker/processes", "dead_processes heartbeat shutdown start watchdog", "tests/worker/processes"),
        target("models/queue/missing_blocks.py", "tests/models/queue/test_missing_blocks.py"),
        *of_one_name("models/queue_status", "campaign_progress throughput", "tests/models/queue_status"),
    ],
    "runs": [
        target(
            "models/nightly/transitions.py models/queue/kinds/nightly_run_steps.py",
            "tests/models/nightly/test_transitions.py tests/models/queue/test_nightly_run_steps.py "
            "tests/scheduler/nightly/test_interrupted_steps.py "
            "tests/scheduler/nightly/test_steps.py",
        ),
        target(
            "scheduler/nightly/plan.py", "tests/scheduler/nightly/test_plan.py tests/scheduler/nightly/test_steps.py"
        ),
        target(
            "scheduler/nightly/steps.py scheduler/nightly/runner.py scheduler/nightly/schedules.py",
            "tests/scheduler/nightly/test_schedules.py tests/scheduler/nightly/test_interrupted_steps.py "
            "tests/scheduler/nightly/test_runner.py tests/scheduler/nightly/test_steps.py "
            "tests/scheduler/nightly/test_plan.py",
        ),
        target("models/nightly/scores.py", "tests/models/nightly/test_scores.py tests/scheduler/nightly/test_steps.py"),
        target("models/nightly/failed_deliveries.py", "tests/models/nightly/test_failed_deliveries.py"),
        target(
            "scheduler/webhooks/delivery.py scheduler/due_tasks.py",
            "tests/scheduler/nightly/test_interrupted_steps.py "
            "tests/scheduler/webhooks/test_delivery.py tests/scheduler/nightly/test_steps.py",
        ),
    ],
    "reducer": [
        target("models/storage/arrays.py", "tests/models/storage/test_arrays.py"),
        target("worker/computing/reducer.py", "tests/worker/computing/test_reducer.py"),
    ],
    "quotas": [
        target(
            "campaigns/quotas/rules.py campaigns/quotas/usage_log.py campaigns/quotas/quotas.py",
            "tests/campaigns/quotas/test_quotas.py tests/campaigns/quotas/test_usage_log.py "
            "tests/campaigns/quotas/test_submit.py",
        ),
        target(
            "campaigns/submissions/submit.py campaigns/submissions/admission.py",
            "tests/campaigns/submissions/test_admission.py tests/campaigns/quotas/test_quotas.py "
            "tests/campaigns/quotas/test_usage_log.py tests/campaigns/quotas/test_submit.py "
            "tests/campaigns/submissions/test_lock_order.py tests/web/api/submissions/test_submit.py",
        ),
    ],
    "phases": [
        target("models/corpus/phases.py", "tests/models/corpus/test_phases.py"),
        target("campaigns/phases.py", "tests/campaigns/test_phases.py tests/web/pages/campaigns/test_manage.py"),
        target("campaigns/publication.py", "tests/campaigns/test_publication.py"),
    ],
    "feedback": [
        target(
            "campaigns/leaderboards/feedback.py campaigns/leaderboards/rounding.py",
            "tests/campaigns/leaderboards/test_rounding.py tests/campaigns/leaderboards/test_feedback.py "
            "tests/campaigns/leaderboards/test_view.py",
        ),
        target(
            "campaigns/leaderboards/ladder.py",
            "tests/campaigns/leaderboards/test_ladder.py tests/campaigns/leaderboards/test_feedback.py",
        ),
    ],
    "rights": [
        target(
            "campaigns/permissions.py",
            "tests/campaigns/test_permissions.py tests/campaigns/test_permissions_in_database.py",
        ),
        target(
            "campaigns/accounts/principal.py",
            "tests/campaigns/accounts/test_principal.py tests/web/hostile/accounts/test_sign_in.py",
        ),
        target(
            "campaigns/accounts/sessions.py campaigns/accounts/tokens.py campaigns/accounts/permissions.py "
            "campaigns/accounts/confirmations.py campaigns/accounts/secrets.py",
            "tests/campaigns/accounts/test_sessions.py tests/campaigns/accounts/test_tokens.py "
            "tests/campaigns/accounts/test_confirmations.py tests/web/hostile/accounts/test_sign_in.py "
            "tests/campaigns/accounts/test_races.py",
        ),
        target(
            "campaigns/accounts/external/identities.py campaigns/accounts/external/provider.py",
            "tests/web/pages/accounts/test_external.py",
        ),
        target(
            "campaigns/accounts/accounts.py",
            "tests/campaigns/accounts/test_accounts.py tests/campaigns/accounts/test_races.py",
        ),
        target(
            "campaigns/accounts/teams.py",
            "tests/campaigns/accounts/test_teams.py tests/campaigns/accounts/test_races.py "
            "tests/web/hostile/accounts/test_squatting.py",
        ),
        target(
            "campaigns/invitations/invitations.py",
            "tests/campaigns/invitations/test_invitations.py tests/campaigns/accounts/test_races.py",
        ),
        target(
            "campaigns/invitations/send.py",
            "tests/campaigns/invitations/test_send.py tests/web/hostile/accounts/test_mails.py",
        ),
        target("campaigns/participants.py", "tests/campaigns/test_participants.py"),
        target("campaigns/accounts/audit_log.py", "tests/web/api/accounts/test_accounts.py"),
        target("runtime/mail.py", "tests/runtime/test_mail.py"),
        *of_one_name("runtime", "health private_files", "tests/runtime"),
        target(
            "campaigns/accounts/throttle.py campaigns/invitations/sign_up.py campaigns/accounts/passwords.py",
            "tests/campaigns/accounts/test_throttle.py tests/campaigns/accounts/test_passwords.py "
            "tests/web/api/accounts/test_teams_and_invitations.py "
            "tests/web/api/accounts/test_accounts.py "
            "tests/web/pages/accounts/test_signing_in.py tests/web/pages/accounts/test_invitations.py "
            "tests/web/pages/accounts/test_mails.py",
        ),
    ],
    "deletion": [
        target(
            " ".join(f"campaigns/deletion/{name}.py" for name in ("accounts", "campaigns", "submissions", "teams")),
            "tests/campaigns/deletion/test_deletion.py tests/campaigns/deletion/test_whole_deletion.py",
        ),
        target(
            "campaigns/deletion/imports.py",
            "tests/campaigns/deletion/test_whole_deletion.py tests/campaigns/score_imports/test_versions.py",
        ),
        target("client/steelyard_client/commands/deleting.py", "tests/cli/test_deleting.py"),
    ],
    "views": [
        target("web/pages/submissions/scores.py", "tests/web/pages/submissions/test_score_table.py"),
        target(
            "campaigns/leaderboards/matrix.py",
            "tests/campaigns/leaderboards/test_matrix.py tests/web/api/leaderboards/test_matrix.py",
        ),
        target("campaigns/inspection/metrics_task.py", "tests/web/api/leaderboards/test_metrics_task.py"),
        *of_one_name("campaigns/human_ranking", "official", "tests/campaigns/human_ranking"),
        target("analysis/meta_evaluation/human_ranking.py", "tests/campaigns/human_ranking/test_official.py"),
        target("campaigns/overviews.py", "tests/campaigns/test_overviews.py tests/web/pages/campaigns/test_home.py"),
        target(
            "campaigns/inspection/visible.py campaigns/inspection/segments.py "
            "campaigns/inspection/best_pair.py campaigns/inspection/marked_errors.py",
            "tests/campaigns/inspection/test_visible.py tests/campaigns/inspection/test_best_pair.py "
            "tests/web/pages/leaderboards/test_marked_errors.py tests/web/pages/leaderboards/test_segments.py "
            "tests/web/pages/leaderboards/test_metrics.py",
        ),
        target(
            "campaigns/submissions/views.py",
            "tests/campaigns/submissions/test_views.py tests/campaigns/submissions/test_across_corrections.py "
            "tests/web/pages/submissions/test_equal_outputs.py tests/web/pages/submissions/test_submissions.py "
            "tests/web/api/submissions/test_submit.py tests/campaigns/test_corrections.py",
        ),
        target(
            "campaigns/leaderboards/view.py campaigns/leaderboards/names.py campaigns/leaderboards/choice.py "
            "campaigns/leaderboards/snapshot.py models/results/boards.py",
            "tests/campaigns/leaderboards/test_choice.py tests/campaigns/leaderboards/test_view.py "
            "tests/web/api/leaderboards/test_leaderboards.py "
            "tests/web/pages/leaderboards/test_leaderboards.py tests/models/results/test_boards.py",
        ),
        target("campaigns/terms.py", "tests/campaigns/test_terms.py tests/web/pages/campaigns/test_terms.py"),
        target("campaigns/rules.py", "tests/campaigns/test_rules.py"),
        target("campaigns/measures.py", "tests/campaigns/test_measures.py tests/campaigns/test_target_language.py"),
        target("campaigns/visibility.py", "tests/campaigns/test_visibility.py"),
        target("campaigns/checks/visible_context.py", "tests/campaigns/checks/test_visible_context.py"),
        target(
            "campaigns/failure_reasons.py campaigns/texts.py",
            "tests/campaigns/submissions/test_views.py tests/web/api/campaigns/test_campaigns.py",
        ),
        target(
            "web/uploads/judgments.py campaigns/inspection/metrics_and_human.py "
            "campaigns/inspection/segment_scores.py campaigns/inspection/method.py campaigns/inspection/words.py "
            "campaigns/inspection/judgments.py campaigns/inspection/judged_systems.py",
            "tests/campaigns/inspection/test_method.py tests/campaigns/inspection/test_segment_scores.py "
            "tests/campaigns/inspection/test_metrics_and_human.py tests/campaigns/human_ranking/test_official.py "
            "tests/web/pages/leaderboards/test_metrics.py tests/web/pages/leaderboards/test_segments.py",
        ),
        target(
            "campaigns/inspection/scheduled_runs.py campaigns/inspection/queue.py",
            "tests/campaigns/inspection/test_queue.py tests/campaigns/inspection/test_scheduled_runs.py "
            "tests/web/pages/test_server.py",
        ),
        target(
            "web/etags.py campaigns/leaderboards/documents.py web/pages/leaderboards/table.py",
            "tests/web/pages/leaderboards/test_eyes.py tests/web/api/leaderboards/test_leaderboards.py "
            "tests/web/pages/leaderboards/test_leaderboards.py",
        ),
        target("models/results/equal_outputs.py", "tests/models/results/test_equal_outputs.py"),
        target("campaigns/checks/equality.py", "tests/web/pages/submissions/test_equal_outputs.py"),
        target("models/queue_status/submission_progress.py", "tests/models/queue_status/test_submission_progress.py"),
        target("models/results/entries.py", "tests/models/results/test_entries.py"),
        target(
            "campaigns/leaderboards/comparison.py",
            "tests/campaigns/leaderboards/test_comparison.py tests/web/api/leaderboards/test_comparisons.py",
        ),
        target("campaigns/leaderboards/cache.py", "tests/campaigns/leaderboards/test_cache.py"),
        target("campaigns/leaderboards/places.py", "tests/campaigns/leaderboards/test_places.py"),
        target("web/live.py web/pages/live.py", "tests/web/pages/test_live.py"),
        target(
            "web/share/card.py web/share/drawing.py web/pages/share.py",
            "tests/web/pages/campaigns/test_share.py tests/web/pages/campaigns/test_cards.py",
        ),
        target("models/queue_status/evaluation_filters.py", "tests/models/queue_status/test_evaluation_filters.py"),
        target(
            "models/queue_status/overview.py",
            "tests/models/queue_status/test_overview.py tests/models/queue_status/test_evaluation_filters.py",
        ),
    ],
    "notices": [
        target(
            "scheduler/notices/plan.py scheduler/notices/courier.py campaigns/notices/choosing.py "
            "campaigns/notices/announcements.py",
            "tests/scheduler/notices/test_planned.py tests/scheduler/notices/test_sent.py "
            "tests/web/pages/accounts/test_notices.py",
        ),
        target("campaigns/notices/listing.py models/notices/notify.py", "tests/campaigns/notices/test_listing.py"),
        target("campaigns/cloning.py", "tests/campaigns/test_cloning.py"),
    ],
    "submissions": [
        target("campaigns/declarations.py", "tests/campaigns/test_declarations.py"),
        target("campaigns/submissions/declarations.py", "tests/campaigns/submissions/test_admission.py"),
        target(
            "campaigns/corrections/corrections.py campaigns/corrections/comparison.py",
            "tests/campaigns/test_corrections.py tests/campaigns/test_correction_comparison.py",
        ),
        target("campaigns/fields/times.py", "tests/campaigns/fields/test_times.py"),
        target(
            "campaigns/systems/submitted.py",
            "tests/campaigns/submissions/test_views.py tests/campaigns/systems/test_submitted.py",
        ),
        target(
            " ".join(f"campaigns/systems/{name}.py" for name in ("citations", "descriptions", "profile")),
            " ".join(f"tests/campaigns/systems/test_{name}.py" for name in ("citations", "descriptions", "profile"))
            + " tests/web/pages/campaigns/test_systems.py",
        ),
        target("campaigns/past_campaigns.py", "tests/campaigns/test_past_campaigns.py"),
        target(
            "campaigns/systems/listing.py",
            "tests/campaigns/systems/test_small_world.py tests/web/pages/campaigns/test_systems.py",
        ),
        target("campaigns/submissions/progress.py", "tests/web/api/submissions/test_watching.py"),
        *of_one_name("campaigns/submissions", "segment_lengths history zip_archive", "tests/campaigns/submissions"),
        target("campaigns/submissions/submission_window.py", "tests/campaigns/submissions/test_submission_window.py"),
        target(
            "web/uploads/submit.py web/uploads/request.py campaigns/submissions/upload_file.py "
            "campaigns/submissions/reading.py campaigns/submissions/form.py campaigns/submissions/test_sets.py",
            "tests/campaigns/submissions/test_who_submits.py tests/web/api/submissions/test_handed_on.py "
            "tests/web/api/submissions/test_submit.py tests/web/hostile/denial_of_service/test_uploads.py",
        ),
        target(
            "web/stored_output.py campaigns/submissions/evaluation_actions.py",
            "tests/web/api/submissions/test_submit.py tests/web/pages/submissions/test_submissions.py",
        ),
    ],
    "imports": [
        target(
            " ".join(
                f"campaigns/campaign_imports/{name}.py" for name in ("checking", "export", "pairs", "reading", "store")
            ),
            "tests/campaigns/campaign_imports/test_importing.py "
            "tests/campaigns/campaign_imports/test_folders_of_pairs.py",
        ),
    ],
    "reports": [
        target(
            " ".join(
                f"campaigns/reports/{name}.py"
                for name in (
                    "breakdowns",
                    "campaign",
                    "differences",
                    "human_rankings",
                    "influential_segments",
                    "leaderboard",
                    "scatters",
                )
            ),
            "tests/campaigns/reports/test_parts.py tests/campaigns/reports/test_differences.py "
            "tests/campaigns/reports/test_campaign.py",
        ),
    ],
    "guards": [
        target("web/dependencies.py", "tests/web/test_forms.py tests/web/hostile/accounts/test_credentials.py"),
        target("web/guards/bodies.py", "tests/web/guards/test_bodies.py"),
        target("web/guards/connections.py", "tests/web/guards/test_connections.py"),
        target(
            "web/guards/concurrency_limit.py web/guards/unexpected_errors.py web/guards/headers.py "
            "web/guards/head_requests.py web/guards/hosts.py web/guards/request_ids.py web/guards/proxies.py "
            "web/guards/rate_limit.py web/guards/refusing.py web/guards/request_validation.py",
            "tests/web/guards/test_guards.py tests/web/guards/test_bodies.py tests/web/test_app.py",
        ),
    ],
    "export": [
        target(
            "campaigns/exports/campaign.py campaigns/exports/archive.py",
            "tests/campaigns/exports/test_campaign.py tests/campaigns/exports/test_files.py",
        ),
        target(
            "campaigns/exports/mt_metrics_eval.py campaigns/exports/metric_scores.py campaigns/exports/human_scores.py",
            "tests/campaigns/exports/test_mt_metrics_eval.py",
        ),
        target("campaigns/leaderboards/downloads.py", "tests/web/api/leaderboards/test_leaderboards.py"),
    ],
}
