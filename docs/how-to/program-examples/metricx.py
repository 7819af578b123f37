"""MetricX-24's own script as a metric of Steelyard.

Usage: metricx.py PYTHON MODEL [--qe], where PYTHON is the interpreter of an environment in which MetricX is installed
(https://github.com/google-research/metricx) and MODEL a folder or a name such as google/metricx-24-hybrid-xl-v2p6.
With --qe the model reads the source alone.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    python, model, *qe = sys.argv[1:]
    asked = [json.loads(line) for line in sys.stdin]
    rows = [
        {
            "id": each["id"],
            "source": each["source"],
            "hypothesis": each["hypothesis"],
            "reference": "" if qe else each["references"][0],
        }
        for each in asked
    ]
    with tempfile.TemporaryDirectory() as folder:
        read, written = Path(folder) / "input.jsonl", Path(folder) / "output.jsonl"
        read.write_text("".join(json.dumps(row) + "\n" for row in rows))
        subprocess.run(  # noqa: S603 - the caller's own
            [
                *(python, "-m", "metricx24.predict"),
                *("--tokenizer", "google/mt5-xl", "--model_name_or_path", model),
                *("--max_input_length", "1536", "--batch_size", "1"),
                *("--input_file", str(read), "--output_file", str(written)),
                *qe,
            ],
            check=True,
            stdout=sys.stderr,
        )
        for line in written.read_text().splitlines():
            row = json.loads(line)
            print(json.dumps({"id": row["id"], "score": row["prediction"]}))


if __name__ == "__main__":
    main()
