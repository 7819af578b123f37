"""A program that scores by the length of the hypothesis, and misbehaves as its first argument says.

Its second argument is a file: it says how often the program was started.
"""

import json
import os
import signal
import sys
import time


def main():
    how, *rest = sys.argv[1:]
    if rest:
        with open(rest[0], "a") as file:
            file.write("started\n")
        with open(rest[0]) as file:
            first = len(file.readlines()) == 1
    if how == "never-starts":
        sys.exit("no model here")
    if how == "hangs":
        time.sleep(600)
    if how == "reads-one":
        print(answer(json.loads(sys.stdin.readline())))
        return
    if how == "noisy":
        sys.stderr.write("loading\n" * 1000 + "the last word\n\n")
        sys.exit(3)
    if how == "endless-line":
        sys.stdout.write("x" * (2 << 20))
        sys.stdout.flush()
        time.sleep(600)
    if how in ("kept", "kept-ends", "kept-closes-once"):
        batch = []
        for line in sys.stdin:
            if line.strip():
                batch.append(json.loads(line))
            else:
                for each in batch:
                    print(answer(each), flush=True)
                    if how == "kept-closes-once" and first:
                        os.close(1)
                        time.sleep(600)
                batch = []
                if how == "kept-ends":
                    return
        return
    lines = [json.loads(line) for line in sys.stdin]
    if how == "no-newline":
        sys.stdout.write("\n".join(map(answer, lines)))
        return
    if how == "closes-output":
        print(answer(lines[0]), flush=True)
        os.close(1)
        time.sleep(600)
    if how in ("order", "order-crashes-once"):
        lines.reverse()
    for number, each in enumerate(lines):
        if how == "says" and number == 1:
            print(rest[1])
            continue
        if "crashes" in how and number == len(lines) // 2 and (how == "crashes" or first):
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == "hangs-midway" and number == 2:
            sys.stdout.flush()
            time.sleep(600)
        if how == "too-little" and number == 2:
            break
        print(answer(each))
        if how == "twice" and number == 0:
            print(answer(each))
    if how == "eats-memory":
        bytearray(1 << 30)
    if how == "long-line":
        print("x" * (2 << 20))
    if how == "lingers":
        sys.stdout.flush()
        time.sleep(600)


def answer(each):
    references = [len(text) for text in each.get("references") or ()]
    score = len(each["hypothesis"]) + sum(references) / 8 + len(each.get("source") or "") / 64
    return json.dumps({"id": each["id"], "score": score, "why": "its length"})


if __name__ == "__main__":
    main()
