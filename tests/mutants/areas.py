"""The parts of the code that mutants are put into, each with the smallest tests that must find them, quick first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """Sources, and the tests that must fail where one of them is wrong."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def _target(sources: str, tests: str) -> Target:
    return Target(tuple(sources.split()), tuple(tests.split()))


def _of_one_name(folder: str, names: str, tests: str, more: str = "") -> list[Target]:
    """Sources that each have a test of their name."""
    return [_target(f"{folder}/{name}.py", f"{tests}/test_{name}.py {more}") for name in names.split()]


def _kernel(names: str, tests: str) -> Target:
    return _target(" ".join(f"metrics/kernels/{name}" for name in names.split()), tests)


AREAS: dict[str, list[Target]] = {
    "claims": [
        _target(
            "models/queue/task_kind.py models/queue/kinds/shards.py models/queue/kinds/reductions.py "
            "models/queue/evaluation_end.py",
            "tests/models/test_every_kind.py tests/models/queue/test_shards.py "
            "tests/campaigns/quotas/test_quotas.py tests/campaigns/quotas/test_usage_log.py "
            "tests/models/queue/test_random_orders.py tests/worker/test_handlers.py",
        ),
        _target(
            "models/queue/kinds/corpus_statistics.py models/queue/kinds/corpus_statistics_plan.py",
            "tests/models/queue/test_corpus_statistics.py tests/models/test_every_kind.py "
            "tests/models/queue/test_random_preparations.py tests/scheduler/enqueue/test_corpus_statistics.py",
        ),
        _target(
            "models/queue/kinds/comparisons.py",
            "tests/models/queue/test_comparisons.py tests/models/test_every_kind.py "
            "tests/models/queue/test_random_comparisons.py",
        ),
        _target(
            "worker/handlers.py worker/runners.py",
            "tests/worker/test_handlers.py tests/worker/test_upgrading.py tests/runtime/test_logs.py "
            "tests/models/storage/test_blobs.py",
        ),
    ],
    "leases": [
        _target(
            "models/queue/lease.py",
            "tests/models/queue/test_lease.py tests/models/test_every_kind.py tests/models/queue/test_shards.py "
            "tests/scheduler/test_recovery.py",
        ),
        _target(
            "scheduler/recovery.py models/queue/consistency.py models/queue/retention.py scheduler/maintenance.py",
            "tests/scheduler/test_recovery.py tests/scheduler/test_maintenance.py",
        ),
        _target("models/queue/leader.py scheduler/leader.py", "tests/scheduler/test_leader.py"),
        _target("models/queue/workers.py", "tests/models/database/test_session.py"),
    ],
    "fairness": [
        _target("scheduler/fair_share.py", "tests/scheduler/test_fair_share.py tests/scheduler/test_dispatch.py"),
        _target(
            "scheduler/queue_queries.py scheduler/dispatch.py",
            "tests/scheduler/test_queue_queries.py tests/scheduler/test_dispatch.py tests/scheduler/test_editions.py "
            "tests/scheduler/test_leader.py",
        ),
        _target("scheduler/editions.py", "tests/scheduler/test_editions.py"),
        _target(
            "scheduler/enqueue/cost_model.py scheduler/completion_accounting.py",
            "tests/scheduler/enqueue/test_cost_model.py",
        ),
    ],
    "queueing": [
        _target("scheduler/enqueue/partition.py", "tests/scheduler/enqueue/test_partition.py"),
        _target(
            "scheduler/enqueue/shard_plan.py",
            "tests/scheduler/enqueue/test_shard_plan.py tests/scheduler/ingest/test_campaigns.py",
        ),
        _target("scheduler/admin.py", "tests/scheduler/test_admin.py"),
        _target("worker/preemption.py", "tests/worker/test_handlers.py"),
        _target("worker/processes/dead_processes.py", "tests/worker/processes/test_dead_processes.py"),
    ],
    "nights": [
        _target(
            "models/nightly/transitions.py models/queue/kinds/night_steps.py",
            "tests/models/nightly/test_transitions.py tests/models/queue/test_night_steps.py "
            "tests/scheduler/nightly/test_steps.py",
        ),
        _target(
            "scheduler/nightly/plan.py", "tests/scheduler/nightly/test_plan.py tests/scheduler/nightly/test_steps.py"
        ),
        _target(
            "scheduler/nightly/steps.py scheduler/nightly/runner.py scheduler/nightly/schedules.py",
            "tests/scheduler/nightly/test_runner.py tests/scheduler/nightly/test_steps.py "
            "tests/scheduler/nightly/test_plan.py",
        ),
        _target(
            "scheduler/webhooks/delivery.py",
            "tests/scheduler/webhooks/test_delivery.py tests/scheduler/nightly/test_steps.py",
        ),
    ],
    "reducer": [
        _target("models/storage/arrays.py", "tests/models/storage/test_arrays.py"),
        _target("worker/computing/reducer.py", "tests/worker/computing/test_reducer.py"),
    ],
    "quotas": [
        _target(
            "campaigns/quotas/rules.py campaigns/quotas/usage_log.py campaigns/quotas/quotas.py",
            "tests/campaigns/quotas/test_quotas.py tests/campaigns/quotas/test_usage_log.py "
            "tests/campaigns/quotas/test_submit.py",
        ),
        _target(
            "campaigns/submissions/submit.py campaigns/submissions/admission.py",
            "tests/campaigns/submissions/test_admission.py tests/campaigns/quotas/test_quotas.py "
            "tests/campaigns/quotas/test_usage_log.py tests/campaigns/quotas/test_submit.py "
            "tests/campaigns/submissions/test_lock_order.py tests/web/api/submissions/test_submit.py",
        ),
    ],
    "phases": [
        _target("models/corpus/phases.py", "tests/models/corpus/test_phases.py"),
        _target("campaigns/phases.py", "tests/campaigns/test_phases.py tests/web/pages/campaigns/test_manage.py"),
    ],
    "feedback": [
        _target(
            "campaigns/leaderboards/feedback.py campaigns/leaderboards/rounding.py",
            "tests/campaigns/leaderboards/test_rounding.py tests/campaigns/leaderboards/test_feedback.py "
            "tests/campaigns/leaderboards/test_view.py",
        ),
        _target(
            "campaigns/leaderboards/ladder.py",
            "tests/campaigns/leaderboards/test_ladder.py tests/campaigns/leaderboards/test_feedback.py",
        ),
    ],
    "rights": [
        _target(
            "campaigns/permissions.py",
            "tests/campaigns/test_permissions.py tests/campaigns/test_permissions_in_database.py",
        ),
        _target(
            "campaigns/accounts/principal.py",
            "tests/campaigns/accounts/test_principal.py tests/web/hostile/accounts/test_sign_in.py",
        ),
        _target(
            "campaigns/accounts/sessions.py campaigns/accounts/tokens.py campaigns/accounts/permissions.py "
            "campaigns/accounts/confirmations.py campaigns/accounts/secrets.py",
            "tests/campaigns/accounts/test_sessions.py tests/campaigns/accounts/test_tokens.py "
            "tests/campaigns/accounts/test_confirmations.py tests/web/hostile/accounts/test_sign_in.py "
            "tests/campaigns/accounts/test_races.py",
        ),
        _target(
            "campaigns/accounts/accounts.py",
            "tests/campaigns/accounts/test_accounts.py tests/campaigns/accounts/test_races.py",
        ),
        _target(
            "campaigns/accounts/teams.py",
            "tests/campaigns/accounts/test_teams.py tests/campaigns/accounts/test_races.py "
            "tests/web/hostile/accounts/test_squatting.py",
        ),
        _target(
            "campaigns/invitations/invitations.py",
            "tests/campaigns/invitations/test_invitations.py tests/campaigns/accounts/test_races.py",
        ),
        _target("campaigns/participants.py", "tests/campaigns/test_participants.py"),
        _target("campaigns/accounts/audit_log.py", "tests/web/api/accounts/test_accounts.py"),
        _target("campaigns/accounts/mail.py", "tests/campaigns/accounts/test_mail.py"),
        _target(
            "campaigns/accounts/throttle.py campaigns/invitations/sign_up.py campaigns/accounts/passwords.py",
            "tests/campaigns/accounts/test_throttle.py tests/campaigns/accounts/test_passwords.py "
            "tests/web/api/accounts/test_accounts.py "
            "tests/web/pages/accounts/test_accounts.py",
        ),
    ],
    "views": [
        _target(
            "campaigns/inspection/visible.py campaigns/inspection/segments.py",
            "tests/campaigns/inspection/test_visible.py tests/web/pages/leaderboards/test_segments.py "
            "tests/web/pages/leaderboards/test_metrics.py",
        ),
        _target(
            "campaigns/submissions/views.py",
            "tests/campaigns/submissions/test_views.py tests/web/pages/submissions/test_submissions.py "
            "tests/web/api/submissions/test_submit.py tests/campaigns/test_corrections.py",
        ),
        _target(
            "campaigns/leaderboards/view.py campaigns/leaderboards/names.py campaigns/leaderboards/choice.py "
            "campaigns/leaderboards/snapshot.py models/results/boards.py",
            "tests/campaigns/leaderboards/test_choice.py tests/campaigns/leaderboards/test_view.py "
            "tests/web/api/leaderboards/test_leaderboards.py "
            "tests/web/pages/leaderboards/test_leaderboards.py tests/models/results/test_boards.py",
        ),
        _target("campaigns/visibility.py", "tests/campaigns/test_visibility.py"),
        _target(
            "campaigns/failure_reasons.py campaigns/texts.py",
            "tests/campaigns/submissions/test_views.py tests/web/api/campaigns/test_campaigns.py",
        ),
        _target(
            "web/uploads/judgments.py campaigns/inspection/metrics_and_human.py "
            "campaigns/inspection/segment_scores.py campaigns/inspection/method.py campaigns/inspection/words.py",
            "tests/web/pages/leaderboards/test_metrics.py tests/web/pages/leaderboards/test_segments.py",
        ),
        _target(
            "campaigns/inspection/scheduled_runs.py campaigns/inspection/queue.py",
            "tests/web/pages/test_server.py",
        ),
        _target(
            "web/etags.py campaigns/leaderboards/documents.py web/pages/leaderboards/table.py",
            "tests/web/pages/leaderboards/test_eyes.py tests/web/api/leaderboards/test_leaderboards.py "
            "tests/web/pages/leaderboards/test_leaderboards.py",
        ),
        _target("models/results/equal_outputs.py", "tests/models/results/test_equal_outputs.py"),
        _target("campaigns/checks/equality.py", "tests/web/pages/submissions/test_equal_outputs.py"),
        _target("models/queue_status/submission_progress.py", "tests/models/queue_status/test_submission_progress.py"),
        _target("models/results/entries.py", "tests/models/results/test_entries.py"),
        _target("campaigns/leaderboards/cache.py", "tests/campaigns/leaderboards/test_cache.py"),
    ],
    "submissions": [
        _target("campaigns/declarations.py", "tests/campaigns/test_declarations.py"),
        _target("campaigns/submissions/declarations.py", "tests/campaigns/submissions/test_admission.py"),
        _target("campaigns/corrections.py", "tests/campaigns/test_corrections.py"),
        _target("campaigns/times.py", "tests/campaigns/test_times.py"),
        _target(
            "campaigns/submissions/systems.py",
            "tests/campaigns/submissions/test_views.py tests/campaigns/submissions/test_systems.py",
        ),
        _target("campaigns/submissions/progress.py", "tests/web/api/submissions/test_watching.py"),
        _target("campaigns/submissions/segment_lengths.py", "tests/campaigns/submissions/test_segment_lengths.py"),
        _target(
            "web/uploads/submit.py web/uploads/request.py campaigns/submissions/upload_file.py "
            "campaigns/submissions/reading.py campaigns/submissions/zip_archive.py campaigns/submissions/form.py "
            "campaigns/submissions/test_sets.py",
            "tests/campaigns/submissions/test_who_submits.py tests/web/api/submissions/test_submit.py "
            "tests/web/hostile/denial_of_service/test_uploads.py",
        ),
        _target("campaigns/submissions/submission_window.py", "tests/campaigns/submissions/test_submission_window.py"),
        _target("campaigns/submissions/history.py", "tests/campaigns/submissions/test_history.py"),
        _target(
            "web/stored_output.py campaigns/submissions/evaluation_actions.py",
            "tests/web/api/submissions/test_submit.py tests/web/pages/submissions/test_submissions.py",
        ),
    ],
    "guards": [
        _target("web/dependencies.py", "tests/web/test_forms.py tests/web/hostile/accounts/test_credentials.py"),
        _target("web/guards/bodies.py", "tests/web/guards/test_bodies.py"),
        _target("web/guards/connections.py", "tests/web/guards/test_connections.py"),
        _target(
            "web/guards/concurrency_limit.py web/guards/unexpected_errors.py web/guards/headers.py "
            "web/guards/head_requests.py web/guards/hosts.py web/guards/request_ids.py web/guards/proxies.py "
            "web/guards/rate_limit.py web/guards/refusing.py web/guards/request_validation.py",
            "tests/web/guards/test_guards.py tests/web/guards/test_bodies.py tests/web/test_app.py",
        ),
    ],
    "export": [
        _target("campaigns/export.py", "tests/campaigns/test_export.py tests/campaigns/test_export_files.py"),
        _target("campaigns/leaderboards/downloads.py", "tests/web/api/leaderboards/test_leaderboards.py"),
    ],
    "resampling": [
        _target("metrics/resampling/bootstrap.py", "tests/metrics/resampling/test_bootstrap.py"),
        _target("metrics/resampling/randomization.py", "tests/metrics/resampling/test_randomization.py"),
        *_of_one_name("metrics/resampling", "interval jackknife runs remembered", "tests/metrics/resampling"),
    ],
    "significance": [
        *_of_one_name(
            "metrics/resampling", "bootstrap_p correction binomial paired power best_of", "tests/metrics/resampling"
        ),
        *_of_one_name(
            "analysis/leaderboard", "significance more_replicates randomization power", "tests/analysis/leaderboard"
        ),
        _target("metrics/ranking.py", "tests/metrics/test_ranking.py"),
    ],
    "analysis": [
        _target(
            "analysis/leaderboard/board.py",
            "tests/analysis/leaderboard/test_board.py tests/analysis/leaderboard/test_more_replicates.py",
        ),
        *_of_one_name("analysis/breakdown", "buckets influential_segments ngrams", "tests/analysis/breakdown"),
        *_of_one_name("analysis/meta_evaluation", "human tuning", "tests/analysis/meta_evaluation"),
        _target("analysis/nightly/change_points.py", "tests/analysis/nightly/test_change_points.py"),
        _target(
            "analysis/meta_evaluation/correlation.py",
            "tests/analysis/test_agreement.py tests/analysis/meta_evaluation/test_correlation.py",
        ),
        _target(
            "analysis/meta_evaluation/correlation_json.py analysis/meta_evaluation/correlation_text.py",
            "tests/analysis/test_agreement.py",
        ),
        _target(
            "analysis/nightly/regression.py analysis/nightly/baselines.py",
            "tests/analysis/nightly/test_regression.py tests/analysis/nightly/test_verdict.py",
        ),
        _target(
            "analysis/nightly/verdict.py analysis/nightly/series.py analysis/nightly/entries.py "
            "analysis/nightly/tests.py analysis/nightly/text.py",
            "tests/analysis/nightly/test_text.py tests/analysis/nightly/test_verdict.py",
        ),
        _target(
            "analysis/meta_evaluation/metrics_and_human.py",
            "tests/analysis/meta_evaluation/test_correlation.py tests/analysis/meta_evaluation/test_tuning.py",
        ),
        _target("analysis/meta_evaluation/parameter_sweep.py", "tests/analysis/meta_evaluation/test_tuning.py"),
        _target(
            "analysis/breakdown/texts.py",
            "tests/analysis/breakdown/test_buckets.py tests/analysis/breakdown/test_ngrams.py",
        ),
    ],
    "metrics": [
        *_of_one_name(
            "metrics",
            "bleu chrf ter nist wer per fmeasure gtm lebleu character tbleu",
            "tests/metrics",
        ),
        *_of_one_name(
            "metrics", "sempos meteor bleu_modif wer_modif", "tests/metrics", "tests/metrics/test_composed.py"
        ),
        *_of_one_name("metrics", "average_length segments segmentation set_aside parameters sweep", "tests/metrics"),
        _target("metrics/portable.py", "tests/metrics/test_portable.py tests/metrics/test_bleu.py"),
        _target(
            "metrics/error_rate.py metrics/best_reference.py", "tests/metrics/test_wer.py tests/metrics/test_per.py"
        ),
        _target("metrics/common_words.py", "tests/metrics/test_fmeasure.py"),
        _target(
            "metrics/information.py metrics/ngram_table.py metrics/ngram_merging.py metrics/preparation.py",
            "tests/metrics/test_nist.py",
        ),
        _target("metrics/meteor_modules.py metrics/meteor_settling.py", "tests/metrics/test_meteor.py"),
        *_of_one_name("metrics", "lemmas synonyms resources surroundings entry_points stopwatch", "tests/metrics"),
        _target("metrics/base.py", "tests/metrics/test_base.py tests/metrics/test_parameters.py"),
        _target("metrics/batch.py metrics/measure.py", "tests/metrics/test_segments.py tests/metrics/test_composed.py"),
        _target("metrics/registry.py", "tests/metrics/test_parameters.py"),
    ],
    "conformance": [
        _target(
            "metrics/conformance/campaign.py metrics/conformance/check.py metrics/conformance/declarations.py "
            "metrics/conformance/promises.py metrics/conformance/subject.py",
            "tests/metrics/conformance/test_check.py tests/metrics/conformance/test_subject.py",
        ),
    ],
    "vectors": [
        *_of_one_name("metrics", "distributions embeddings embedding_files embedding_training", "tests/metrics"),
        _target("metrics/vector_metric.py", "tests/metrics/test_bleu_modif.py tests/metrics/test_wer_modif.py"),
    ],
    "correlation": [
        _target(
            "metrics/correlation/statistics.py metrics/correlation/system.py",
            "tests/metrics/correlation/test_system.py",
        ),
        _target(
            "metrics/correlation/segment.py metrics/correlation/tie_calibration.py metrics/correlation/pairs.py",
            "tests/metrics/correlation/test_segment.py tests/metrics/correlation/test_exchanged.py",
        ),
        _target("metrics/correlation/exchanged_moments.py", "tests/metrics/correlation/test_exchanged.py"),
        *_of_one_name("metrics/correlation", "comparison soft_accuracy", "tests/metrics/correlation"),
    ],
    "human": [
        *_of_one_name("metrics/human", "better scoring", "tests/metrics/human"),
        _target("metrics/human/standing.py", "tests/metrics/human/test_better.py"),
        _target("metrics/human/rankings.py metrics/human/agreement.py", "tests/metrics/human/test_rankings.py"),
        _target(
            "metrics/human/cells.py metrics/human/kinds.py metrics/human/readers.py metrics/human/reading.py "
            "metrics/human/table.py metrics/human/weights.py",
            "tests/metrics/human/test_reading.py",
        ),
    ],
    "inspection": _of_one_name("metrics/inspection", "lengths marks ngrams", "tests/metrics/inspection"),
    "readers": [
        *_of_one_name(
            "metrics/text",
            "campaigns conllu encodings filed folder layered mteval normalization pairing plain tables tercom wmt_xml",
            "tests/metrics/text",
        ),
        _target(
            "metrics/text/alignment.py",
            "tests/metrics/text/test_alignment.py tests/metrics/text/test_wmt_xml.py tests/metrics/text/test_mteval.py",
        ),
        _target("metrics/text/tokenizers.py metrics/text/mecab.py", "tests/metrics/text/test_tokenizers.py"),
        _target("metrics/text/blocks.py", "tests/metrics/text/test_filed.py tests/metrics/kernels/test_resampling.py"),
        _target(
            "metrics/text/campaign_files.py metrics/text/names.py metrics/text/layouts.py metrics/text/limits.py",
            "tests/metrics/text/test_folder.py tests/metrics/text/test_layered_folders.py "
            "tests/metrics/text/test_campaigns.py",
        ),
        _target(
            "metrics/text/contents.py metrics/text/gzip_members.py metrics/text/windows.py",
            "tests/metrics/text/test_gzip.py tests/metrics/text/test_plain.py tests/metrics/text/test_encodings.py",
        ),
        _target(
            "metrics/text/documents.py metrics/text/elements.py metrics/text/findings.py metrics/text/formats.py "
            "metrics/text/markup.py metrics/text/wording.py metrics/text/zones.py metrics/text/languages.py",
            "tests/metrics/text/test_mteval.py tests/metrics/text/test_wmt_xml.py "
            "tests/metrics/text/test_hostile_markup.py",
        ),
        _target(
            "metrics/text/pml.py metrics/text/pml_bounds.py metrics/text/pml_elements.py metrics/text/trees.py "
            "metrics/text/sentences.py metrics/text/layers.py",
            "tests/metrics/text/test_layered.py tests/metrics/text/test_hostile_layers.py",
        ),
    ],
    "kernels": [
        _kernel(
            "ngrams.c ngram_counts.c clipped_ngrams.h ngram_masks.h ngram_rows.h ngram_trie.h",
            "tests/metrics/kernels/test_ngrams.py",
        ),
        _kernel("ngram_scores.c chrf_score.h", "tests/metrics/kernels/test_ngram_scores.py"),
        _kernel(
            "chrf.c character_ngrams.c word_ngrams.c shared_ngrams.h overlap.h overlap_bits.h automaton_overlap.h "
            "ngram_automaton.h ngram_lists.h code_points.h code_symbols.h room.h",
            "tests/metrics/kernels/test_chrf.py tests/metrics/test_chrf.py",
        ),
        _kernel("edit_distance.c distance_blocks.h comparing.h", "tests/metrics/kernels/test_edit_distance.py"),
        _kernel("distance_rows.h", "tests/metrics/kernels/test_ter.py tests/metrics/test_character.py"),
        _kernel("ter.c ter_shifts.h ter_distance.h", "tests/metrics/kernels/test_ter.py tests/metrics/test_ter.py"),
        _kernel("resampling.c philox.h", "tests/metrics/kernels/test_resampling.py"),
        _kernel(
            "columns.c subset_sums.h sums_of_draws.c",
            "tests/metrics/resampling/test_bootstrap.py tests/metrics/resampling/test_randomization.py",
        ),
        _kernel("draw_bits.c draw_bits.h", "tests/metrics/kernels/test_draw_bits.py"),
        _kernel("kendall.c", "tests/metrics/kernels/test_kendall.py"),
        _kernel(
            "rank_sums.c pairs.c", "tests/metrics/kernels/test_rank_sums.py tests/metrics/correlation/test_segment.py"
        ),
        _kernel(
            "gtm.c gtm_groups.h gtm_budget.h suffix_groups.h",
            "tests/metrics/kernels/test_gtm.py tests/metrics/test_gtm.py",
        ),
        _kernel(
            "meteor.c meteor_components.h meteor_guess.h meteor_links.h meteor_options.h meteor_search.h",
            "tests/metrics/kernels/test_meteor.py tests/metrics/test_meteor.py",
        ),
        _kernel(
            "words.c lines.c token_cuts.h byte_classes.h interning.h bytes16.h vocabulary.c word_index.c",
            "tests/metrics/kernels/test_words.py tests/metrics/kernels/test_lines.py "
            "tests/metrics/kernels/test_word_index.py tests/metrics/text/test_tokenizers.py",
        ),
        _kernel("utf8.c utf8_decoding.h", "tests/metrics/kernels/test_utf8.py"),
        _kernel("spacing.c", "tests/metrics/text/test_tokenizers.py"),
        _kernel("lebleu.c fuzzy_ngrams.h", "tests/metrics/test_lebleu.py"),
        _kernel("character.c character_shifts.h spelling.h swap.h", "tests/metrics/test_character.py"),
        _kernel("alignments.c affix_distance.h assignment.h", "tests/metrics/kernels/test_alignments.py"),
        _kernel("bag_overlap.c", "tests/metrics/kernels/test_bag_overlap.py"),
        _kernel("composed.c", "tests/metrics/kernels/test_composed.py"),
        _kernel("lowered.c", "tests/metrics/kernels/test_lowered.py"),
        _kernel("markup.c", "tests/metrics/kernels/test_markup.py"),
        _kernel("word_order.c", "tests/metrics/kernels/test_word_order.py"),
        _kernel("elementary.c elementary.h fixed_point.h", "tests/metrics/test_portable.py"),
        _kernel(
            "ngram_information.c ngram_merging.c ngram_packing.c ngram_stream.h ngram_weights.c",
            "tests/metrics/test_nist.py",
        ),
        _kernel("weighted_ngrams.c", "tests/metrics/test_bleu_modif.py tests/metrics/test_tbleu.py"),
        _kernel(
            "similarities.c gram.h dot_products.h soft_distance.h soft_ngrams.h",
            "tests/metrics/test_similarities.py tests/metrics/test_bleu_modif.py tests/metrics/test_wer_modif.py",
        ),
    ],
    "bindings": [
        *_of_one_name(
            "metrics/kernels",
            "alignments bag_overlap composed draw_bits edit_distance gtm kendall lines loader lowered markup meteor "
            "ngram_scores ngrams rank_sums resampling ter utf8 word_index word_order words bindings",
            "tests/metrics/kernels",
        ),
        _target("metrics/kernels/chrf.py metrics/kernels/shared_ngrams.py", "tests/metrics/kernels/test_chrf.py"),
        _target(
            "metrics/kernels/columns.py metrics/kernels/sums_of_draws.py", "tests/metrics/resampling/test_bootstrap.py"
        ),
        _target("metrics/kernels/character.py", "tests/metrics/test_character.py"),
        _target("metrics/kernels/lebleu.py metrics/kernels/letters.py", "tests/metrics/test_lebleu.py"),
        _target("metrics/kernels/elementary.py", "tests/metrics/test_portable.py"),
        _target(
            "metrics/kernels/ngram_counts.py metrics/kernels/ngram_information.py metrics/kernels/ngram_merging.py "
            "metrics/kernels/ngram_packing.py metrics/kernels/ngram_weights.py metrics/kernels/vocabulary.py",
            "tests/metrics/test_nist.py",
        ),
        _target("metrics/kernels/pairs.py", "tests/metrics/correlation/test_segment.py"),
        _target("metrics/kernels/spacing.py", "tests/metrics/text/test_tokenizers.py"),
        _target(
            "metrics/kernels/similarities.py metrics/kernels/weighted_ngrams.py metrics/kernels/word_pairs.py",
            "tests/metrics/test_similarities.py tests/metrics/test_bleu_modif.py tests/metrics/test_tbleu.py",
        ),
    ],
}


def targets(area: str = "") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Area, source and tests of each source, of one area or of all."""
    for name, known in AREAS.items():
        for target in known if area in ("", name) else []:
            for source in target.sources:
                yield name, source, target.tests
