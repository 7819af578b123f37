"""The parts that draw conclusions from scores, on the server and in the library, which mutants are put into."""

from __future__ import annotations

from tests.mutants.target import Target, of_one_name, target

ANALYSIS_AREAS: dict[str, list[Target]] = {
    "charts": [
        target(
            " ".join(
                f"campaigns/charts/{name}.py"
                for name in ("curve", "drawing", "effects", "element", "lettering", "scatter", "series", "ticks")
            ),
            "tests/campaigns/charts/test_charts.py tests/campaigns/charts/test_ticks.py",
        ),
    ],
    "significance": [
        *of_one_name(
            "library/steelyard/resampling", "bootstrap_p correction paired power best_of", "tests/library/resampling"
        ),
        target(
            "library/steelyard/resampling/draws_needed.py",
            "tests/library/resampling/test_correction.py tests/library/resampling/test_paired.py",
        ),
        *of_one_name("library/steelyard/kernels/resampling", "binomial", "tests/library/resampling"),
        *of_one_name(
            "analysis/leaderboard", "significance more_replicates randomization", "tests/analysis/leaderboard"
        ),
        *of_one_name("library/steelyard/ranking", "clusters power tested_ranking", "tests/library/ranking"),
    ],
    "analysis": [
        target(
            "analysis/leaderboard/board.py",
            "tests/analysis/leaderboard/test_board.py tests/analysis/leaderboard/test_more_replicates.py",
        ),
        *of_one_name("analysis/breakdown", "group_scores influential_segments ngrams", "tests/analysis/breakdown"),
        *of_one_name("analysis/meta_evaluation", "human tuning", "tests/analysis/meta_evaluation"),
        *of_one_name(
            "library/steelyard/resampling", "change_points level_changes regression", "tests/library/resampling"
        ),
        target(
            "library/steelyard/meta_evaluation/correlation.py",
            "tests/library/meta_evaluation/test_correlation.py tests/analysis/meta_evaluation/test_correlation.py",
        ),
        target(
            "analysis/meta_evaluation/correlation_json.py analysis/meta_evaluation/correlation_text.py",
            "tests/analysis/meta_evaluation/test_correlation_text.py",
        ),
        target(
            "analysis/nightly/regression.py analysis/nightly/baselines.py",
            "tests/analysis/nightly/test_regression.py tests/analysis/nightly/test_verdict.py",
        ),
        target(
            "analysis/nightly/verdict.py analysis/nightly/series.py analysis/nightly/entries.py "
            "analysis/nightly/tests.py analysis/nightly/text.py",
            "tests/analysis/nightly/test_text.py tests/analysis/nightly/test_verdict.py",
        ),
        target(
            "analysis/meta_evaluation/metrics_and_human.py",
            "tests/analysis/meta_evaluation/test_correlation.py tests/analysis/meta_evaluation/test_tuning.py",
        ),
        target("analysis/meta_evaluation/parameter_sweep.py", "tests/analysis/meta_evaluation/test_tuning.py"),
        target(
            "library/steelyard/meta_evaluation/parameter_choice.py",
            "tests/library/meta_evaluation/test_parameter_choice.py tests/analysis/meta_evaluation/test_tuning.py",
        ),
        target(
            "analysis/breakdown/texts.py",
            "tests/analysis/breakdown/test_group_scores.py tests/analysis/breakdown/test_ngrams.py",
        ),
    ],
    "human": [
        *of_one_name("library/steelyard/ranking", "human_significance", "tests/library/ranking"),
        *of_one_name("library/steelyard/meta_evaluation/human", "scoring", "tests/library/meta_evaluation/human"),
        target("library/steelyard/ranking/human_ranks.py", "tests/library/ranking/test_human_significance.py"),
        target(
            "library/steelyard/meta_evaluation/human/rankings.py library/steelyard/meta_evaluation/human/agreement.py",
            "tests/library/meta_evaluation/human/test_rankings.py",
        ),
        target(
            "library/steelyard/ranking/human_rules.py library/steelyard/ranking/human_randomization.py",
            "tests/library/ranking/test_human_rules.py tests/library/ranking/test_human_randomization.py",
        ),
        target(
            "library/steelyard/meta_evaluation/human/tasks/appraise.py "
            "library/steelyard/meta_evaluation/human/tasks/pearmut.py "
            "library/steelyard/meta_evaluation/human/tasks/texts.py "
            "library/steelyard/meta_evaluation/human/tasks/tutorial.py",
            "tests/library/meta_evaluation/human/test_tasks.py tests/library/meta_evaluation/human/test_tutorials.py",
        ),
        target(
            "library/steelyard/meta_evaluation/metrics_task.py library/steelyard/meta_evaluation/task_results.py",
            "tests/library/meta_evaluation/test_metrics_task.py",
        ),
        target(
            "library/steelyard/meta_evaluation/exchanged_soft_accuracy.py",
            "tests/library/meta_evaluation/test_metrics_task.py",
        ),
        target(
            "library/steelyard/meta_evaluation/human/assessments.py library/steelyard/ranking/human_boards.py "
            "library/steelyard/tables/human_boards.py",
            "tests/library/ranking/test_human_boards.py tests/library/commands/test_rank_humans.py "
            "tests/library/meta_evaluation/human/test_assessments.py",
        ),
        target(
            " ".join(
                f"library/steelyard/meta_evaluation/human/assessment_formats/{name}.py"
                for name in (
                    *("domains", "found", "json_lines", "mqm", "mt_metrics_eval", "pearmut", "penalties", "placing"),
                    *("reading", "spans", "tables"),
                )
            ),
            "tests/library/meta_evaluation/human/assessment_formats/test_domains.py "
            "tests/library/meta_evaluation/human/assessment_formats/test_formats.py "
            "tests/library/meta_evaluation/human/assessment_formats/test_placing.py "
            "tests/library/meta_evaluation/human/assessment_formats/test_scales.py "
            "tests/library/commands/test_rank_humans.py",
        ),
        target(
            "library/steelyard/meta_evaluation/human/cells.py library/steelyard/meta_evaluation/human/kinds.py "
            "library/steelyard/meta_evaluation/human/readers.py library/steelyard/meta_evaluation/human/reading.py "
            "library/steelyard/meta_evaluation/human/table.py library/steelyard/meta_evaluation/human/weights.py",
            "tests/library/meta_evaluation/human/test_reading.py "
            "tests/library/meta_evaluation/human/test_hostile_judgments.py",
        ),
    ],
}
