"""The rooms behind the pages that mutants are put into, with the smallest tests that must find them, quick first."""

from __future__ import annotations

from tests.mutants.target import Target, of_one_name, target

BACKEND_AREAS: dict[str, list[Target]] = {
    "corpus": [
        *of_one_name("models/corpus", "documents", "tests/models/corpus"),
        target(
            "models/corpus/judgments.py",
            "tests/models/corpus/test_judgments.py tests/models/corpus/test_judgment_content.py "
            "tests/scheduler/ingest/test_judgments.py",
        ),
        target(
            "models/corpus/protocols.py models/corpus/campaign_protocols.py",
            "tests/models/corpus/test_protocols.py tests/models/results/test_superseded.py "
            "tests/models/corpus/test_campaign_protocols.py",
        ),
        target(
            "models/corpus/test_sets.py models/corpus/standing_submissions.py",
            "tests/models/corpus/test_test_sets.py tests/models/corpus/test_standing_submissions.py "
            "tests/models/corpus/test_documents.py tests/scheduler/ingest/test_outputs.py",
        ),
    ],
    "results": [
        target(
            "models/results/leaderboard.py",
            "tests/models/results/test_leaderboard.py tests/models/results/test_declared.py",
        ),
        *of_one_name("models/results", "statistics fingerprints", "tests/models/results"),
        target(
            "models/results/randomizations.py",
            "tests/worker/computing/test_randomization.py tests/scheduler/enqueue/test_randomization.py",
        ),
        target(
            "models/queue/reuse.py scheduler/enqueue/reuse.py",
            "tests/scheduler/enqueue/test_evaluations.py tests/scheduler/enqueue/test_reuse.py",
        ),
    ],
    "storage": [
        target("models/storage/blobs.py", "tests/models/storage/test_blobs.py"),
        *of_one_name("models/database", "upsert changes compatibility forking", "tests/models/database"),
        target("models/database/session.py models/database/error_kinds.py", "tests/models/database/test_session.py"),
    ],
    "ingest": [
        target(
            "scheduler/ingest/campaigns.py scheduler/ingest/test_sets.py scheduler/ingest/texts.py",
            "tests/scheduler/ingest/test_test_sets.py tests/scheduler/ingest/test_campaigns.py "
            "tests/scheduler/ingest/test_layers.py",
        ),
        *of_one_name("scheduler/ingest", "outputs judgments error_spans", "tests/scheduler/ingest"),
    ],
    "enqueue": [
        target(
            "scheduler/enqueue/evaluations.py",
            "tests/scheduler/enqueue/test_evaluations.py tests/scheduler/enqueue/test_source.py "
            "tests/scheduler/admin/test_requeue.py tests/scheduler/enqueue/test_reuse.py",
        ),
        target("scheduler/enqueue/randomization.py", "tests/scheduler/enqueue/test_randomization.py"),
        target(
            "scheduler/enqueue/corpus_statistics.py",
            "tests/scheduler/enqueue/test_corpus_statistics.py "
            "tests/scheduler/enqueue/test_corpus_statistics_failures.py",
        ),
        target(
            "scheduler/enqueue/metrics_task_parts.py models/queue/kinds/metrics_task_parts.py",
            "tests/web/api/leaderboards/test_metrics_task.py",
        ),
    ],
    "sweeps": [
        target(
            "models/queue/sweep.py scheduler/lost_messages.py",
            "tests/models/queue/test_sweep.py tests/scheduler/test_lost_messages.py tests/scheduler/test_recovery.py",
        ),
        target("models/queue/clock_jumps.py scheduler/clock_jumps.py", "tests/scheduler/test_clock_jumps.py"),
        target(
            "models/queue_status/progress.py models/queue_status/work.py",
            "tests/models/queue_status/test_progress.py tests/models/queue_status/test_small_queue.py "
            "tests/models/results/test_leaderboard.py",
        ),
        target("scheduler/telemetry.py", "tests/scheduler/test_telemetry.py"),
        target("scheduler/loop.py", "tests/scheduler/test_notifications.py tests/scheduler/test_leader.py"),
    ],
    "schedules": [
        target(
            "models/nightly/runs.py models/nightly/schedules.py",
            "tests/models/nightly/test_runs.py tests/models/nightly/test_schedules.py",
        ),
        *of_one_name("scheduler/nightly", "cron sources", "tests/scheduler/nightly"),
        target("scheduler/nightly/patterns.py", "tests/scheduler/nightly/test_sources.py"),
        target(
            "scheduler/nightly/commands.py scheduler/nightly/process_group.py",
            "tests/scheduler/nightly/test_process_group.py tests/scheduler/nightly/test_command_secrets.py "
            "tests/scheduler/nightly/test_sources.py",
        ),
    ],
    "messages": [
        target(
            "scheduler/webhooks/address.py scheduler/webhooks/request.py",
            "tests/scheduler/webhooks/test_request.py tests/scheduler/webhooks/test_delivery.py "
            "tests/scheduler/webhooks/test_encrypted.py",
        ),
        target(
            "models/queue/kinds/deliveries.py models/queue/kinds/notice_deliveries.py models/notices/choices.py",
            "tests/models/kinds/test_every_kind.py tests/scheduler/notices/test_sent.py "
            "tests/scheduler/notices/test_planned.py",
        ),
    ],
    "computing": [
        target(
            "worker/computing/scoring.py worker/computing/offload.py",
            "tests/worker/computing/test_documents.py tests/worker/computing/test_reducer.py "
            "tests/models/storage/test_blobs.py tests/scheduler/ingest/test_layers.py",
        ),
        target("worker/computing/randomization.py", "tests/worker/computing/test_randomization.py"),
        target(
            "worker/computing/corpus_statistics.py",
            "tests/models/queue/test_corpus_statistics.py tests/scheduler/enqueue/test_corpus_statistics.py",
        ),
        target("worker/context.py", "tests/worker/test_handlers.py"),
        *of_one_name("worker", "health_checks memory_limit", "tests/worker"),
        *of_one_name("worker/messaging", "messages queues consumer", "tests/worker/messaging"),
    ],
    "pool": [
        target("scheduler/embedded/pool.py", "tests/scheduler/embedded/test_pool.py"),
        target("scheduler/embedded/wait.py", "tests/scheduler/embedded/test_waiting.py"),
        target("scheduler/embedded/learned.py", "tests/scheduler/embedded/test_learned_process.py"),
        target(
            "scheduler/embedded/processes.py scheduler/embedded/shared.py",
            "tests/scheduler/embedded/test_processes.py tests/scheduler/embedded/test_waiting.py",
        ),
    ],
    "process": [
        *of_one_name("runtime", "logs redaction settings shared_counters stop_request http_server", "tests/runtime"),
        target("runtime/service_settings.py runtime/sign_in_providers.py", "tests/runtime/test_settings.py"),
    ],
}
