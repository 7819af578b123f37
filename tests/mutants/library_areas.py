"""The parts of the library that mutants are put into, each with the smallest tests that must find them, quick first."""

from __future__ import annotations

from tests.mutants.target import Target, kernel, of_one_name, target

LIBRARY_AREAS: dict[str, list[Target]] = {
    "resampling": [
        target("library/steelyard/resampling/bootstrap.py", "tests/library/resampling/test_bootstrap.py"),
        target("library/steelyard/resampling/randomization.py", "tests/library/resampling/test_randomization.py"),
        *of_one_name(
            "library/steelyard/resampling",
            "interval jackknife runs bounded_cache best_of bootstrap_p correction documents",
            "tests/library/resampling",
        ),
    ],
    "ranking": [
        target(
            "library/steelyard/ranking/rank_matrix.py",
            "tests/library/ranking/test_rank_matrix.py tests/acceptance/test_many_pairs.py",
        ),
        target(
            "library/steelyard/ranking/score_boards.py",
            "tests/library/ranking/test_score_boards.py tests/library/commands/test_resample.py "
            "tests/library/commands/test_rank.py",
        ),
        target("library/steelyard/ranking/clusters.py", "tests/library/ranking/test_clusters.py"),
        target(
            "library/steelyard/ranking/autorank.py library/steelyard/ranking/autorank_column.py",
            "tests/library/ranking/test_autorank.py tests/campaigns/score_imports/test_columns.py",
        ),
    ],
    "verification": [
        target(
            "library/steelyard/commands/rank.py",
            "tests/library/commands/test_rank.py tests/library/commands/test_rank_humans.py "
            "tests/library/commands/printed/test_printed.py",
        ),
        target(
            "library/steelyard/commands/verification/export.py library/steelyard/commands/verification/result.py "
            "library/steelyard/commands/verification/signature.py library/steelyard/commands/verification/verdicts.py",
            "tests/library/commands/test_verification.py tests/library/commands/test_verify.py "
            "tests/library/commands/test_resample.py tests/library/commands/printed/test_printed.py",
        ),
    ],
    "metrics": [
        *of_one_name("library/steelyard/metrics/ngram", "bleu chrf nist lebleu", "tests/library/metrics/ngram"),
        *of_one_name("library/steelyard/metrics/edit", "ter wer per character", "tests/library/metrics/edit"),
        *of_one_name("library/steelyard/metrics/alignment", "fmeasure gtm tbleu", "tests/library/metrics/alignment"),
        *of_one_name(
            "library/steelyard/metrics/alignment",
            "sempos meteor",
            "tests/library/metrics/alignment",
            "tests/library/test_composed.py",
        ),
        *of_one_name(
            "library/steelyard/metrics/embeddings",
            "bleu_modif wer_modif",
            "tests/library/metrics/embeddings",
            "tests/library/test_composed.py",
        ),
        *of_one_name(
            "library/steelyard/metrics",
            "segments segmentation parameters",
            "tests/library/metrics",
        ),
        target(
            "library/steelyard/numerics/deterministic.py",
            "tests/library/numerics/test_deterministic.py tests/library/metrics/ngram/test_bleu.py",
        ),
        target(
            "library/steelyard/metrics/edit/error_rate.py library/steelyard/metrics/references/choice.py",
            "tests/library/metrics/edit/test_wer.py tests/library/metrics/edit/test_per.py",
        ),
        target("library/steelyard/metrics/ngram/ribes.py", "tests/library/metrics/ngram/test_ribes.py"),
        target(
            "library/steelyard/metrics/references/unigram_overlap.py",
            "tests/library/metrics/alignment/test_fmeasure.py",
        ),
        target(
            "library/steelyard/metrics/ngram/information_weights.py library/steelyard/metrics/ngram/ngram_table.py "
            "library/steelyard/metrics/corpus_statistics.py",
            "tests/library/metrics/ngram/test_nist.py",
        ),
        target(
            "library/steelyard/metrics/alignment/meteor_modules.py "
            "library/steelyard/metrics/alignment/meteor_resolution.py",
            "tests/library/metrics/alignment/test_meteor.py tests/library/metrics/alignment/test_meteor_real_data.py",
        ),
        *of_one_name("library/steelyard/metrics/alignment", "lemmas synonyms", "tests/library/metrics/alignment"),
        *of_one_name("library/steelyard/metrics", "resources entry_points", "tests/library/metrics"),
        *of_one_name("library/steelyard/metrics/references", "average_length", "tests/library/metrics/references"),
        *of_one_name("library/steelyard/metrics/preparation", "stopwatch", "tests/library/metrics/preparation"),
        *of_one_name("library/steelyard/meta_evaluation", "sweep", "tests/library/meta_evaluation"),
        target("library/steelyard/metrics/resolution.py", "tests/library/metrics/test_resolution.py"),
        target("library/steelyard/plugins/entry_points.py", "tests/library/metrics/test_entry_points.py"),
        target(
            "library/steelyard/metrics/metric.py library/steelyard/metrics/contract.py",
            "tests/library/metrics/test_metric.py tests/library/metrics/test_parameters.py",
        ),
        target(
            "library/steelyard/metrics/segments.py library/steelyard/metrics/preparation/text_checks.py "
            "library/steelyard/metrics/score_systems.py",
            "tests/library/metrics/test_segments.py tests/library/test_composed.py",
        ),
        target("library/steelyard/metrics/registry.py", "tests/library/metrics/test_parameters.py"),
    ],
    "conformance": [
        target(
            "library/steelyard/conformance/campaign.py library/steelyard/conformance/check.py "
            "library/steelyard/conformance/declarations.py library/steelyard/conformance/promises.py "
            "library/steelyard/conformance/subject.py",
            "tests/library/conformance/test_check.py tests/library/conformance/test_subject.py",
        ),
    ],
    "vectors": [
        *of_one_name("library/steelyard/numerics", "distributions", "tests/library/numerics"),
        *of_one_name(
            "library/steelyard/metrics/embeddings", "vectors vector_files training", "tests/library/metrics/embeddings"
        ),
        target(
            "library/steelyard/metrics/embeddings/embedding_metric.py",
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/embeddings/test_wer_modif.py",
        ),
    ],
    "correlation": [
        target(
            "library/steelyard/meta_evaluation/statistics.py library/steelyard/meta_evaluation/system.py",
            "tests/library/meta_evaluation/test_system.py",
        ),
        target(
            "library/steelyard/meta_evaluation/segment.py library/steelyard/meta_evaluation/segment_statistic.py "
            "library/steelyard/meta_evaluation/tie_calibration.py library/steelyard/meta_evaluation/pairs.py",
            "tests/library/meta_evaluation/test_segment.py tests/library/meta_evaluation/test_exchanged.py",
        ),
        target(
            "library/steelyard/meta_evaluation/exchanged_moments.py", "tests/library/meta_evaluation/test_exchanged.py"
        ),
        *of_one_name(
            "library/steelyard/meta_evaluation",
            "comparison correlation parameter_choice soft_accuracy",
            "tests/library/meta_evaluation",
        ),
    ],
    "inspection": of_one_name(
        "library/steelyard/inspection",
        "influential_segments lengths marks ngrams partitions",
        "tests/library/inspection",
    ),
    "readers": [
        *of_one_name("library/steelyard/formats/campaign", "campaigns folder pairing", "tests/library/formats"),
        *of_one_name("library/steelyard/formats", "conllu filed plain tables", "tests/library/formats"),
        *of_one_name("library/steelyard/formats/input", "encodings", "tests/library/formats"),
        *of_one_name("library/steelyard/formats/treebanks", "layered", "tests/library/formats"),
        *of_one_name("library/steelyard/formats/markup", "mteval wmt_xml", "tests/library/formats"),
        *of_one_name("library/steelyard/text", "normalization", "tests/library/text"),
        *of_one_name("library/steelyard/tokenizers", "tercom", "tests/library/tokenizers"),
        target(
            "library/steelyard/formats/campaign/alignment.py",
            "tests/library/formats/test_alignment.py tests/library/formats/test_wmt_xml.py "
            "tests/library/formats/test_mteval.py",
        ),
        target(
            "library/steelyard/tokenizers/rules.py library/steelyard/tokenizers/registry.py "
            "library/steelyard/tokenizers/mecab.py",
            "tests/library/tokenizers/test_tokenizers.py",
        ),
        target(
            "library/steelyard/text/blocks.py",
            "tests/library/formats/test_filed.py tests/library/kernels/resampling/test_resampling.py",
        ),
        target(
            "library/steelyard/formats/campaign/description.py library/steelyard/text/names.py "
            "library/steelyard/formats/campaign/layouts.py library/steelyard/text/limits.py",
            "tests/library/formats/test_folder.py tests/library/formats/test_folder_description.py "
            "tests/library/formats/test_folder_runs.py tests/library/formats/test_layered_folders.py "
            "tests/library/formats/test_campaigns.py",
        ),
        target(
            "library/steelyard/formats/input/contents.py library/steelyard/formats/input/gzip_members.py "
            "library/steelyard/formats/input/windows.py",
            "tests/library/formats/test_gzip.py tests/library/formats/test_plain.py "
            "tests/library/formats/test_encodings.py",
        ),
        target(
            "library/steelyard/formats/markup/documents.py library/steelyard/formats/markup/elements.py "
            "library/steelyard/text/findings.py library/steelyard/formats/detection.py "
            "library/steelyard/formats/markup/scanner.py library/steelyard/formats/markup/limits.py "
            "library/steelyard/text/wording.py library/steelyard/formats/registry.py "
            "library/steelyard/formats/zones.py library/steelyard/text/languages.py",
            "tests/library/formats/test_mteval.py tests/library/formats/test_wmt_xml.py "
            "tests/library/formats/test_hostile_markup.py",
        ),
        target(
            "library/steelyard/formats/treebanks/pml.py library/steelyard/formats/treebanks/pml_bounds.py "
            "library/steelyard/formats/treebanks/pml_elements.py library/steelyard/formats/treebanks/trees.py "
            "library/steelyard/formats/sentences.py library/steelyard/formats/layers.py",
            "tests/library/formats/test_layered.py tests/library/formats/test_hostile_layers.py",
        ),
    ],
    "kernels": [
        kernel(
            "ngrams.c ngram_counts.c clipped_ngrams.h ngram_masks.h ngram_rows.h ngram_trie.h",
            "tests/library/kernels/ngram/test_ngrams.py",
        ),
        kernel("ngram_scores.c chrf_score.h", "tests/library/kernels/ngram/test_ngram_scores.py"),
        kernel(
            "chrf.c character_ngrams.c word_ngrams.c shared_ngrams.h overlap.h overlap_bits.h automaton_overlap.h "
            "ngram_automaton.h code_points.h code_symbols.h scratch.h",
            "tests/library/kernels/chrf/test_chrf.py tests/library/metrics/ngram/test_chrf.py",
        ),
        kernel("edit_distance.c comparing.h", "tests/library/kernels/edit/test_edit_distance.py"),
        kernel(
            "myers.h",
            "tests/library/kernels/edit/test_edit_distance.py tests/library/kernels/edit/test_ter.py "
            "tests/library/metrics/edit/test_character.py",
        ),
        kernel(
            "ter.c ter_shifts.h ter_bounds.h ter_distance.h",
            "tests/library/kernels/edit/test_ter.py tests/library/metrics/edit/test_ter.py",
        ),
        kernel("resampling.c philox.h", "tests/library/kernels/resampling/test_resampling.py"),
        kernel("bootstrap_pairs.c", "tests/library/resampling/test_bootstrap_p.py"),
        kernel("kendall.c", "tests/library/kernels/ranking/test_kendall.py"),
        kernel("exchanged_wins.c", "tests/library/kernels/ranking/test_exchanged_wins.py"),
        kernel("exchanged_calibration.c", "tests/library/kernels/ranking/test_exchanged_calibration.py"),
        kernel(
            "rank_sums.c pairs.c",
            "tests/library/kernels/ranking/test_rank_sums.py tests/library/meta_evaluation/test_segment.py",
        ),
        kernel(
            "gtm.c gtm_budget.h",
            "tests/library/kernels/alignment/test_gtm.py tests/library/metrics/alignment/test_gtm.py",
        ),
        kernel(
            "meteor.c meteor_components.h meteor_guess.h meteor_links.h meteor_options.h meteor_search.h",
            "tests/library/kernels/alignment/test_meteor.py tests/library/metrics/alignment/test_meteor.py",
        ),
        kernel(
            "words.c tokenize_13a.c mteval_marks.h token_cuts.h byte_classes.h interning.h bytes16.h vocabulary.c",
            "tests/library/kernels/text/test_words.py tests/library/tokenizers/test_tokenizers.py",
        ),
        kernel("utf8.c utf8.h", "tests/library/kernels/characters/test_utf8.py"),
        kernel("class_tokenizer.c", "tests/library/tokenizers/test_tokenizers.py"),
        kernel("lebleu.c fuzzy_ngrams.h", "tests/library/metrics/ngram/test_lebleu.py"),
        kernel("character.c character_shifts.h spelling.h swap.h", "tests/library/metrics/edit/test_character.py"),
        kernel("alignments.c affix_distance.h assignment.h", "tests/library/kernels/alignment/test_alignments.py"),
        kernel("bag_overlap.c", "tests/library/kernels/alignment/test_bag_overlap.py"),
        kernel("nfc.c", "tests/library/kernels/characters/test_nfc.py"),
        kernel("lowercase.c", "tests/library/kernels/characters/test_lowercase.py"),
        kernel("elementary.c elementary.h fixed_point.h", "tests/library/numerics/test_deterministic.py"),
        kernel(
            "ngram_information.c ngram_weights.c",
            "tests/library/metrics/ngram/test_nist.py",
        ),
        kernel(
            "weighted_ngrams.c",
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/alignment/test_tbleu.py",
        ),
        kernel(
            "similarities.c gram_matrix.h dot_products.h soft_distance.h soft_ngrams.h",
            "tests/library/metrics/embeddings/test_similarities.py "
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/embeddings/test_wer_modif.py",
        ),
    ],
    "bindings": [
        *of_one_name(
            "library/steelyard/kernels/alignment",
            "alignments bag_overlap gtm meteor",
            "tests/library/kernels/alignment",
        ),
        *of_one_name(
            "library/steelyard/kernels/text",
            "words",
            "tests/library/kernels/text",
        ),
        *of_one_name(
            "library/steelyard/kernels/characters",
            "lowercase nfc utf8",
            "tests/library/kernels/characters",
        ),
        *of_one_name("library/steelyard/kernels/resampling", "resampling", "tests/library/kernels/resampling"),
        *of_one_name("library/steelyard/kernels/edit", "edit_distance ter", "tests/library/kernels/edit"),
        *of_one_name(
            "library/steelyard/kernels/ranking",
            "kendall rank_sums exchanged_wins exchanged_calibration",
            "tests/library/kernels/ranking",
        ),
        *of_one_name("library/steelyard/kernels", "loader bindings", "tests/library/kernels"),
        *of_one_name("library/steelyard/kernels/ngram", "ngram_scores ngrams", "tests/library/kernels/ngram"),
        target(
            "library/steelyard/kernels/chrf/chrf.py library/steelyard/kernels/chrf/shared_ngrams.py",
            "tests/library/kernels/chrf/test_chrf.py",
        ),
        target("library/steelyard/kernels/edit/character.py", "tests/library/metrics/edit/test_character.py"),
        target(
            "library/steelyard/kernels/edit/lebleu.py library/steelyard/kernels/text/code_points.py",
            "tests/library/metrics/ngram/test_lebleu.py",
        ),
        target("library/steelyard/kernels/numerics/elementary.py", "tests/library/numerics/test_deterministic.py"),
        target(
            "library/steelyard/kernels/nist/ngram_counts.py library/steelyard/kernels/nist/ngram_information.py "
            "library/steelyard/kernels/nist/ngram_weights.py library/steelyard/kernels/text/vocabulary.py",
            "tests/library/metrics/ngram/test_nist.py",
        ),
        target("library/steelyard/kernels/ranking/pairs.py", "tests/library/meta_evaluation/test_segment.py"),
        target("library/steelyard/kernels/text/class_tokenizer.py", "tests/library/tokenizers/test_tokenizers.py"),
        target(
            "library/steelyard/kernels/embeddings/similarities.py "
            "library/steelyard/kernels/alignment/weighted_ngrams.py library/steelyard/kernels/text/word_pairs.py",
            "tests/library/metrics/embeddings/test_similarities.py "
            "tests/library/metrics/embeddings/test_bleu_modif.py tests/library/metrics/alignment/test_tbleu.py",
        ),
    ],
}
