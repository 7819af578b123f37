"""Models are registered like word vectors: imported, listed, used by name, deleted."""

import json
import shutil
from pathlib import Path

import pytest

from cli.main import main
from tests.library.metrics.learned.with_extra import GOLDEN


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_RESOURCE_FOLDER", str(tmp_path / "resources"))
    shutil.copytree(GOLDEN / "bertscore-bert", "tiny")


def test_a_model_is_imported_listed_and_deleted(capsys):
    assert main(["model", "list"]) == 0
    assert "None are registered in" in capsys.readouterr().out
    assert main(["model", "import", "small", "tiny"]) == 0
    said = capsys.readouterr().out
    pinned = said.partition(":")[0]
    assert said == f"{pinned}: use it as bertscore:model=small\n"
    assert main(["model", "list", "-f", "json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["name"] == pinned
    assert listed["source"] == "for bertscore, from tiny"
    assert listed["bytes"] == sum(each.stat().st_size for each in Path("tiny").iterdir())
    # Word vectors and programs are listed elsewhere.
    assert main(["vectors", "list"]) == 0
    assert main(["metric", "list"]) == 0
    assert pinned not in capsys.readouterr().out
    assert main(["model", "delete", "small", "--yes"]) == 0
    assert list(Path("resources").iterdir()) == []
    assert main(["model", "delete", "small", "--yes"]) == 1
    assert 'There is no registered model "small". Registered: none.' in capsys.readouterr().err


def test_lists_hold_resources_of_their_own_kind(capsys):
    Path("v.txt").write_text("2 2\na 1 0\nb 0 1\n")
    for words in (
        ["model", "import", "small", "tiny"],
        ["vectors", "import", "few", "v.txt"],
        ["metric", "create", "own", "--command", "true", "--inputs", "source", "--version", "1"],
    ):
        assert main(words) == 0
    capsys.readouterr()
    for noun, name in (("model", "small"), ("vectors", "few")):
        assert main([noun, "list", "-f", "json"]) == 0
        assert [each["name"].partition("@")[0] for each in json.loads(capsys.readouterr().out)] == [name]


def test_the_name_of_another_resource_is_not_taken(capsys):
    create = ["metric", "create", "small", "--command", "true", "--inputs", "source", "--version", "1"]
    assert main(create) == 0
    assert main(["model", "import", "small", "tiny"]) == 2
    assert '"small" is the name of registered program.' in capsys.readouterr().err
    assert main(["metric", "delete", "small", "--yes"]) == 0
    assert main(["model", "import", "small", "tiny"]) == 0
    assert main(create) == 2
    assert '"small" is the name of registered model.' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "folder", "said"),
    [
        ("x", "gone", "gone: is no folder"),
        ("x", "resources.json", "is no folder"),
        ("../x", "tiny", "cannot be the name of a resource"),
        ("x", "empty", "config.json"),
        ("x", "broken", "config.json"),
    ],
)
def test_what_cannot_be_imported_is_an_error_and_nothing_is_stored(name, folder, said, capsys):
    Path("resources.json").write_text("{}")
    Path("empty").mkdir()
    Path("broken").mkdir()
    Path("broken/config.json").write_text('{"model_type": "gpt2"}')
    assert main(["model", "import", name, folder]) == 1
    assert said in capsys.readouterr().err
    assert not Path("resources").exists()


def cut(name):
    """Only the first half of a file was copied."""
    path = Path("tiny") / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda: Path("tiny/tokenizer.json").unlink(), "tiny: the model lacks tokenizer.json"),
        (lambda: cut("tokenizer.json"), "tiny/tokenizer.json: is not JSON"),
        (lambda: Path("tiny/model.safetensors").unlink(), "tiny: the model lacks its weights, model.safetensors or"),
        (lambda: cut("model.safetensors"), "tiny/model.safetensors: is no whole safetensors file"),
        (lambda: Path("tiny/model.safetensors").rename("tiny/pytorch_model.bin"), "pytorch_model.bin: is no whole"),
        (lambda: cut("config.json"), "tiny/config.json: is not JSON"),
    ],
)
def test_a_folder_that_is_not_whole_is_an_error_and_nothing_is_stored(damage, said, capsys):
    damage()
    assert main(["model", "import", "small", "tiny"]) == 1
    assert said in capsys.readouterr().err
    assert not Path("resources").exists()


def test_a_checkpoint_must_be_whole(capsys):
    pytest.importorskip("yaml", reason="hparams.yaml is read by a package of steelyard[learned]")
    shutil.copytree(GOLDEN / "comet-regression", "checkpoint")
    assert main(["model", "import", "small", "checkpoint"]) == 0
    assert "use it as comet:model=small" in capsys.readouterr().out
    whole = Path("checkpoint/checkpoints/model.ckpt").read_bytes()
    Path("checkpoint/checkpoints/model.ckpt").write_bytes(whole[: len(whole) // 2])
    assert main(["model", "import", "other", "checkpoint"]) == 1
    assert "checkpoints/model.ckpt: is no whole file of torch's weights" in capsys.readouterr().err
    Path("checkpoint/checkpoints/model.ckpt").unlink()
    assert main(["model", "import", "other", "checkpoint"]) == 1
    assert "checkpoint: the model lacks its weights" in capsys.readouterr().err
    Path("checkpoint/checkpoints/model.ckpt").write_bytes(whole)
    Path("checkpoint/encoder/tokenizer.json").unlink()
    assert main(["model", "import", "other", "checkpoint"]) == 1
    assert "checkpoint/encoder: the model lacks tokenizer.json" in capsys.readouterr().err
    assert [each.name for each in Path("resources").glob("*.json")] == ["small.json"]
