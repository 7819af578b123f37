"""An LLM as a judge, behind an endpoint that speaks the chat API which most servers of models offer.

Usage: judge.py URL MODEL. The key is in JUDGE_API_KEY. The model is asked for a number from 0 to 100 after the prompt
GEMBA-DA (Kocmi and Federmann 2023); an answer without one is asked for again, and then has no score.
"""

import json
import os
import re
import sys
import urllib.request

PROMPT = """Score the following translation on a continuous scale from 0 to 100, where a score of zero means "no \
meaning preserved" and a score of one hundred means "perfect meaning and grammar". Answer with the number alone.

source: "{source}"
translation: "{hypothesis}"
Score: """
TRIES = 3


def ask(url, model, prompt):
    asked = {"model": model, "temperature": 0, "messages": [{"role": "user", "content": prompt}]}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('JUDGE_API_KEY', '')}"}
    request = urllib.request.Request(url, json.dumps(asked).encode(), headers)  # noqa: S310 - the caller's own
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        return json.load(response)["choices"][0]["message"]["content"]


def judged(url, model, segment):
    prompt = PROMPT.format(source=segment["source"], hypothesis=segment["hypothesis"])
    for _ in range(TRIES):
        said = ask(url, model, prompt)
        found = re.fullmatch(r"\s*(\d{1,3}(?:\.\d+)?)\D*", said)
        if found and float(found[1]) <= 100:
            return {"id": segment["id"], "score": float(found[1]), "said": said}
    return {"id": segment["id"], "score": None, "said": said}


def main():
    url, model = sys.argv[1:]
    for line in sys.stdin:
        # With --keep-running, an empty line ends a batch; every segment is answered at once anyway.
        if line.strip():
            print(json.dumps(judged(url, model, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
