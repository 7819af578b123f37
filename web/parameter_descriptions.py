"""What parameters and form fields of the API mean that carry the same name in many routes."""

from __future__ import annotations

from types import MappingProxyType

PARAMETERS = MappingProxyType(
    {
        "name": "Name of the campaign.",
        "campaign": "Name of the campaign.",
        "team": "Name of the team.",
        "account": "Number of the account.",
        "account_id": "Number of the account.",
        "token_id": "Number of the token.",
        "invitation_id": "Number of the invitation.",
        "submission": "Number of the submission.",
        "evaluation": "Number of the evaluation.",
        "comparison": "Number of the comparison.",
        "correction": "Number of the correction.",
        "phase": "Name of the phase.",
        "label": "Label of the reference.",
        "title": "Name of the judgments or scores, NAME@VERSION or NAME for the newest.",
        "run": "Date of the run, such as 2026-11-30.",
        "search": "Only what contains this text.",
        "email": "Only the account with this e-mail address.",
        "test_set": "The test set, NAME or NAME@VERSION; empty for the default one.",
        "references": "Labels of references, separated by commas; empty for the default list.",
        "metric": "Specification of the metric; empty for the default one.",
        "human": "Name of the human judgments; empty for the newest.",
        "system": "Number of a submission, or name of a system as shown; may be repeated.",
        "order": "In which order segments are listed.",
        "document": "Only segments of this document.",
        "domain": "Only segments of this domain.",
        "test_suite": "Only segments of this test suite.",
        "shortest": "Only segments of at least so many words.",
        "longest": "Only segments of at most so many words.",
        "text": "Only segments with this text.",
        "segment": "Only the segment of this number.",
        "context": "With `segment`: how many segments of its document before it and after it are listed, too.",
        "test": "The significance test.",
        "limit": "Maximum number of items.",
        "after": 'The "next" of the previous page; empty for the first page.',
        "last-event-id": "The id of the last event received, to receive only what is new.",
        "idempotency-key": "Any unique text: a request that is repeated with the same one takes effect once.",
    }
)
"""Parameters of paths, queries and headers, where the route does not describe them itself."""

PARAMETERS_OF_OPERATIONS = MappingProxyType(
    {
        **{
            (operation, "test_set"): "Number of the test set in the campaign."
            for operation in (
                *("read_test_set", "update_test_set", "delete_test_set", "add_test_set_measures", "download_source"),
                "download_reference",
            )
        },
        ("read_schedule_history", "name"): "Name of the schedule.",
        ("read_nightly_run", "name"): "Name of the schedule.",
        ("delete_campaign_quota", "kind"): "What the quota limits.",
        ("delete_quota", "kind"): "What the quota limits.",
        ("list_campaign_submissions", "kind"): "Only submissions of this kind; empty for all.",
        ("read_comparisons", "correction"): "The correction for multiple tests.",
        ("request_comparisons", "correction"): "The correction for multiple tests.",
    }
)
"""By operation and parameter: where a name means something else than in `PARAMETERS`."""

FORM_FIELDS = MappingProxyType(
    {
        "files": "Tables of judgments, or files of scores.",
        "file": "The zip of an exported campaign, or of a folder of language pairs.",
        "called": "The name of the judgments.",
        "pair": "Which language pair, where a file has several; by default that of the test set.",
        "rename": "OLD=NEW for each system that has another name in the campaign.",
        "preview": "Say what would be stored, and store nothing.",
        "tutorial_file": "A tutorial for annotators, in JSON.",
        "kind": "The kind of the judgments; empty for what the columns say.",
        "by_document": "Whether to find segments by document and number in it, where a file has both.",
        "first_segment": "The number of the first segment; by default what is usual for the column.",
        "weights": "Weights of errors: SEVERITY[/CATEGORY]=NUMBER.",
        "standardise": "Whether to standardise by annotator; by default ratings in tables are.",
        "aggregation": "How the scores of systems are made of those of segments.",
        "test_set": "The test set.",
        "reason": "Why the references are corrected; shown to everybody who sees the campaign.",
        "references": "Files of references.",
        "name": "Name of the test set.",
        "source": "File of the source.",
        "documents": "Table with the columns segment, doc_id and optionally domain and test_suite.",
        "source_language": "Code of the source language.",
        "target_language": "Code of the target language.",
        "variable_references": "Whether segments may lack some of the references.",
        "phase": "The only phase that accepts submissions for it; empty for all phases.",
        "metrics": "Specifications of the metrics.",
        "reference_lists": "Lists of labels, each separated by commas.",
        "replicates": "Number of bootstrap replicates.",
        "seed": "Seed of the resampling.",
        "resample": "What replicates draw and randomization tests exchange: segments, or whole documents.",
        "pairs": "Only these language pairs of the files; all without any.",
        "metric": "NAME or NAME@VERSION: one of the metrics in the files, or the name for their only one.",
        "lower_is_better": "Metrics of which a lower score is better.",
        "create": "Whether to create test sets without texts for pairs that the campaign lacks, and the campaign where "
        "there is none.",
    }
)
"""Fields of multipart forms."""
