"""The library's commands and what they read, check, evaluate and print, with the smallest tests that find faults."""

from __future__ import annotations

from tests.mutants.target import Target, of_one_name, target

_SCORING = "library/steelyard/commands/scoring"
_CLI = "tests/cli/scoring"

LIBRARY_COMMAND_AREAS: dict[str, list[Target]] = {
    "scores": [
        target(
            " ".join(
                f"library/steelyard/formats/scores/{name}.py"
                for name in (
                    *("json_scores", "line_runs", "reading", "score_runs", "score_tables", "table_scores"),
                    "unit_order",
                )
            ),
            "tests/library/formats/scores/test_reading.py tests/library/formats/scores/test_every_format.py "
            "tests/library/formats/scores/test_any_order.py",
        ),
        target(
            "library/steelyard/meta_evaluation/score_files.py library/steelyard/meta_evaluation/judged_scores.py "
            "library/steelyard/commands/correlate.py",
            "tests/library/commands/test_correlate.py tests/library/meta_evaluation/test_metrics_task.py",
        ),
    ],
    "evaluation": [
        target(
            "library/steelyard/evaluation.py library/steelyard/metrics/score.py library/steelyard/metrics/scoring.py",
            "tests/library/test_public_api.py tests/library/metrics/test_metric.py tests/library/test_composed.py "
            "tests/library/test_sacrebleus_programs.py",
        ),
        target(
            "library/steelyard/compat.py library/steelyard/metrics/keywords.py",
            "tests/library/test_compat.py tests/library/metrics/test_keywords.py",
        ),
        target(
            "library/steelyard/metrics/content_scores.py library/steelyard/metrics/needed_statistics.py",
            "tests/library/metrics/test_content_scores.py",
        ),
        target("library/steelyard/metrics/programs/answers.py", "tests/library/metrics/programs/test_answers.py"),
        target(
            "library/steelyard/metrics/programs/program.py "
            "library/steelyard/metrics/programs/registration.py library/steelyard/metrics/programs/running.py",
            "tests/library/metrics/programs/test_registration.py tests/library/metrics/programs/test_running.py",
        ),
        target(
            "library/steelyard/metrics/without_texts/column.py library/steelyard/metrics/without_texts/imported.py",
            "tests/library/metrics/without_texts/test_imported.py",
        ),
    ],
    "commands": [
        target(
            f"{_SCORING}/documents.py {_SCORING}/inputs.py {_SCORING}/runs.py {_SCORING}/score.py "
            f"{_SCORING}/test_sets.py {_SCORING}/score_options.py",
            f"{_CLI}/test_source.py {_CLI}/test_score.py {_CLI}/test_score_systems.py {_CLI}/test_score_outputs.py "
            "tests/library/commands/test_sacrebleu_sets.py tests/library/commands/test_resample.py",
        ),
        target(
            f"{_SCORING}/score_csv.py {_SCORING}/score_html.py {_SCORING}/score_json.py {_SCORING}/score_latex.py "
            f"{_SCORING}/score_markdown.py {_SCORING}/score_result.py {_SCORING}/score_scr.py "
            f"{_SCORING}/score_tables.py {_SCORING}/score_text.py {_SCORING}/score_tsv.py",
            f"{_CLI}/test_score_formats.py {_CLI}/test_score_paired.py",
        ),
        target(
            "library/steelyard/commands/mtrics/command.py library/steelyard/commands/mtrics/options.py "
            "library/steelyard/commands/mtrics/output.py",
            f"{_CLI}/test_mtrics_inputs.py {_CLI}/test_mtrics.py",
        ),
        *of_one_name("library/steelyard/commands", "parsing chosen_metrics prompts writing", "tests/library/commands"),
        *of_one_name("library/steelyard/commands/verification", "printed_signatures verify", "tests/library/commands"),
        target("library/steelyard/commands/check.py", f"{_CLI}/test_check.py"),
        target("library/steelyard/commands/metric.py", f"{_CLI}/test_check_metric.py"),
    ],
    "tables": [
        *of_one_name(
            "library/steelyard/tables", "delimited formatting latex paired_tests titles", "tests/library/tables"
        ),
        target(
            "library/steelyard/tables/table.py library/steelyard/tables/rendering.py library/steelyard/tables/html.py "
            "library/steelyard/tables/markdown.py library/steelyard/tables/text.py",
            "tests/library/tables/test_kinds.py tests/library/tables/test_rendering.py "
            "tests/library/tables/test_latex.py",
        ),
        target("library/steelyard/tables/paired_test_rows.py", "tests/library/tables/test_paired_tests.py"),
        target(
            "library/steelyard/tables/score_boards.py",
            "tests/library/tables/test_score_board_tables.py tests/library/commands/test_rank.py",
        ),
        target("library/steelyard/tables/metrics_task.py", "tests/library/tables/test_metrics_task_tables.py"),
        target(
            "library/steelyard/tables/correlation.py",
            "tests/library/commands/test_correlate.py tests/analysis/meta_evaluation/test_correlation_text.py",
        ),
        target(
            "library/steelyard/text/spreadsheets.py",
            "tests/library/formats/test_exported_tables.py tests/library/tables/test_delimited.py",
        ),
    ],
    "checks": [
        target(
            " ".join(
                f"library/steelyard/checks/{name}.py"
                for name in (
                    *("check", "context", "copying", "encoding", "examined", "finding", "gaps", "language"),
                    *("leftovers", "lengths", "repetition", "twins"),
                )
            ),
            "tests/library/checks/test_check.py tests/library/checks/test_checks.py "
            "tests/library/checks/test_large_outputs.py",
        ),
        target(
            "library/steelyard/checks/matching.py library/steelyard/checks/order.py "
            "library/steelyard/checks/placement.py library/steelyard/checks/shifts.py",
            "tests/library/checks/test_placement.py",
        ),
    ],
    "campaign_files": [
        target(
            "library/steelyard/formats/campaign/document_rows.py library/steelyard/formats/campaign/document_ids.py "
            "library/steelyard/formats/campaign/document_row_files.py",
            "tests/library/formats/test_document_rows.py tests/library/formats/test_document_row_texts.py",
        ),
        *of_one_name("library/steelyard/formats/campaign", "outputs_of_pairs pair_folders", "tests/library/formats"),
        target(
            "library/steelyard/formats/campaign/exports.py",
            "tests/library/formats/test_exported_tables.py tests/library/commands/test_exports_verified.py "
            "tests/library/commands/test_verification.py",
        ),
        target("library/steelyard/formats/campaign/zips.py", "tests/library/formats/test_zips.py"),
        target(
            "library/steelyard/formats/campaign/file_checks.py library/steelyard/formats/campaign/test_sets.py",
            "tests/library/formats/test_campaigns.py tests/library/formats/test_folder.py",
        ),
        target("library/steelyard/formats/input/given_files.py", "tests/library/formats/test_given_files.py"),
        target(
            "library/steelyard/formats/rows.py library/steelyard/formats/jsonl.py library/steelyard/formats/tsv.py "
            "library/steelyard/formats/file_names.py",
            "tests/library/formats/test_jsonl.py tests/library/formats/test_tsv.py tests/library/formats/test_rows.py "
            "tests/library/formats/test_registry.py",
        ),
        target("library/steelyard/formats/sacrebleu_sets.py", "tests/library/commands/test_sacrebleu_sets.py"),
        *of_one_name("library/steelyard/text", "language_pairs", "tests/library/text"),
    ],
    "judgments": [
        *of_one_name(
            "library/steelyard/meta_evaluation/human",
            "annotators assessed beside_texts",
            "tests/library/meta_evaluation/human",
        ),
        target(
            "library/steelyard/meta_evaluation/human/judged_pairs.py "
            "library/steelyard/meta_evaluation/human/judgments.py "
            "library/steelyard/meta_evaluation/human/marked_errors.py",
            "tests/library/meta_evaluation/human/test_reading.py "
            "tests/library/meta_evaluation/human/test_beside_texts.py",
        ),
        target(
            "library/steelyard/meta_evaluation/human/tasks/own_tutorials.py",
            "tests/library/meta_evaluation/human/test_tutorials.py",
        ),
    ],
    "tokenizers": [
        *of_one_name("library/steelyard/tokenizers", "sentencepiece", "tests/library/tokenizers"),
        target("library/steelyard/tokenizers/tokenizer.py", "tests/library/tokenizers/test_registry.py"),
    ],
}
