"""The worked examples of docs/how-to/programs.md, with stand-ins for what cannot be had."""

import json
import re
import shlex
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from cli.main import main

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (HOW_TO / "programs.md").read_text()
METRICX = """
import argparse, json
parser = argparse.ArgumentParser()
for name in ("tokenizer", "model_name_or_path", "max_input_length", "batch_size", "input_file", "output_file"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--qe", action="store_true")
asked = parser.parse_args()
print("loaded", asked.model_name_or_path)
with open(asked.input_file) as read, open(asked.output_file, "w") as written:
    for line in read:
        row = json.loads(line)
        row["prediction"] = abs(len(row["source" if asked.qe else "reference"]) - len(row["hypothesis"]))
        written.write(json.dumps(row) + chr(10))
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Two segments beside the scripts of the page, and a folder for resources."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_RESOURCE_FOLDER", str(tmp_path / "resources"))
    for script in (HOW_TO / "program-examples").iterdir():
        (tmp_path / script.name).write_bytes(script.read_bytes())
    for name, lines in (("src", "ab\nabc"), ("ref", "wxyz\nwx"), ("out", "wxy\nwxyz")):
        (tmp_path / f"{name}.txt").write_text(lines + "\n")


def register(name, **replaced):
    """Run the page's command for this name, with other words for those that name what is not here."""
    (command,) = re.findall(
        rf"^steelyard (metric create {name} (?:.*\\\n)*.*)$", PAGE.rpartition("\n## MetricX")[2], re.M
    )
    for word, other in replaced.items():
        command = command.replace(word, other)
    assert main(shlex.split(command.replace("\\\n", " "))) == 0


def scores(name, capsys, *more):
    capsys.readouterr()
    assert main(["score", "ref.txt", "-i", "out.txt", "--source", "src.txt", "-m", name, "-f", "json", *more]) == 0
    return json.loads(capsys.readouterr().out)["systems"][0]["scores"][0]


def test_metricx(tmp_path, monkeypatch, capsys):
    (tmp_path / "metricx24").mkdir()
    (tmp_path / "metricx24" / "predict.py").write_text(METRICX)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    register("metricx", **{"/opt/metricx/bin/python": sys.executable, "python3": sys.executable})
    found = scores("metricx", capsys, "--segments")
    assert found["segments"] == [1.0, 2.0]
    assert "better:lower" in found["signature"]


def test_a_judge(monkeypatch, capsys):
    asked = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.headers["Authorization"], body))
            prompt = body["messages"][0]["content"]
            said = "87" if 'source: "ab"' in prompt else "I would rather not say."
            answer = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    monkeypatch.setenv("JUDGE_API_KEY", "k")
    monkeypatch.setenv("no_proxy", "*")
    with HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/chat"
        register("gemba", **{"https://api.example.com/v1/chat/completions": address, "python3": sys.executable})
        found = scores("gemba", capsys, "--segments")
        server.shutdown()
    assert found["segments"] == [87.0, None]
    assert found["score"] == 87.0
    assert found["details"] == {"segments without a score": 1.0}
    assert len(asked) == 4
    assert asked[0][0] == "Bearer k"
    assert asked[0][1]["model"] == "gpt-4.1"


def test_a_metric_in_awk(tmp_path, capsys):
    register("ratio")
    assert scores("ratio", capsys, "--segments")["segments"] == [0.75, 0.5]
    (tmp_path / "out.txt").write_text('w"y\n\n')
    assert scores("ratio", capsys, "--segments")["segments"] == [None, 0.0]


def test_the_first_commands_of_the_page(capsys):
    (commands,) = re.findall(
        r"```\n(steelyard metric create ratio .*?)```", PAGE.partition("## What it reads")[0], re.S
    )
    for line in commands.splitlines():
        words = shlex.split(line.replace("REF", "ref.txt").replace("SYSTEM", "out.txt"))[1:]
        assert main(words) == 0
    assert "ratio  (registered program, version 1" in capsys.readouterr().out
