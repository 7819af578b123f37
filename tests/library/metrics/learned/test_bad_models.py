"""What is no model is a clear error, and what is hostile in one is never executed."""

import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from steelyard.errors import BadModel, BadParameter, MissingResource
from steelyard.metrics.learned import packages
from steelyard.metrics.learned.checkpoint import read_hyperparameters, sparsemax
from steelyard.metrics.learned.folder import read_config, read_weights
from steelyard.metrics.learned.pickled import Unread, read_pickled
from steelyard.metrics.learned.safetensors import read_safetensors
from steelyard.metrics.resources import Resources
from tests.library.metrics.learned.with_extra import GOLDEN, needs_extra, resolved, resources_of


class Hostile:
    def __reduce__(self):
        return print, ("executed",)


def packed(path, content, **storages):
    """A file as torch writes it, with any pickle in it."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", content)
        for name, numbers in storages.items():
            archive.writestr(f"archive/data/{name[1:]}", numbers)
    return path


def tensor(storage="FloatStorage", count=4, size=b"K\x02K\x02\x86", offset=b"K\x00"):
    """A pickle of a single tensor of two rows, by opcodes: torch is not here to write one."""
    key = b"(X\x07\x00\x00\x00storagectorch\n" + storage.encode() + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
    storage_id = key + b"K" + bytes([count]) + b"tQ"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage_id + offset + size + b"K\x02K\x01\x86\x89NtR."


def test_pickled_weights_are_read_without_torch(tmp_path):
    numbers = np.array([1, 2, 3, 4], "<f4").tobytes()
    np.testing.assert_array_equal(read_pickled(packed(tmp_path / "a.pt", tensor(), _0=numbers)), [[1, 2], [3, 4]])
    halves = np.array([1, 2, 3, 4], "<f2").tobytes()
    found = read_pickled(packed(tmp_path / "b.pt", tensor("HalfStorage"), _0=halves))
    assert found.dtype == np.float32
    brain = (np.array([1, 2, 3, 4], "<f4").view("<u4") >> 16).astype("<u2").tobytes()
    np.testing.assert_array_equal(
        read_pickled(packed(tmp_path / "c.pt", tensor("BFloat16Storage"), _0=brain)), [[1, 2], [3, 4]]
    )


@needs_extra
@pytest.mark.parametrize(("said", "expected"), [("", True), ("layer_norm: true", True), ("layer_norm: false", False)])
def test_layers_are_normalized_unless_hyperparameters_say_otherwise(tmp_path, said, expected):
    """As COMET does."""
    (tmp_path / "hparams.yaml").write_text(f"class_identifier: regression_metric\n{said}\n")
    assert read_hyperparameters(tmp_path).layer_norm is expected


def test_a_pickle_calls_nothing(tmp_path, capsys):
    content = pickle.dumps({"state_dict": {}, "hyper_parameters": Hostile(), "list": [Hostile()]}, 2)
    found = read_pickled(packed(tmp_path / "hostile.pt", content))
    assert found["hyper_parameters"] == Unread() == found["list"][0]
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    "made",
    [
        lambda path: path.write_bytes(b"no archive"),
        lambda path: packed(path, b"no pickle", _0=bytes(16)),
        lambda path: packed(path, tensor()),
        lambda path: packed(path, tensor(), _0=bytes(15)),
        lambda path: packed(path, tensor(count=3), _0=bytes(12)),
        lambda path: packed(path, tensor(size=b"K\x09K\x02\x86"), _0=bytes(16)),
        lambda path: packed(path, tensor(size=b"J\xff\xff\xff\xffK\x02\x86"), _0=bytes(16)),
        lambda path: packed(path, tensor(offset=b"J\xf0\xff\xff\xff"), _0=bytes(16)),
        lambda path: packed(path, tensor(storage="NoStorage"), _0=bytes(16)),
    ],
)
def test_damaged_pickles_are_refused(made, tmp_path):
    made(tmp_path / "a.pt")
    with pytest.raises(BadModel, match=r"a\.pt"):
        read_pickled(tmp_path / "a.pt")


def stored(path, header, numbers=b""):
    written = json.dumps(header).encode() if not isinstance(header, bytes) else header
    path.write_bytes(struct.pack("<Q", len(written)) + written + numbers)
    return path


def test_safetensors_are_read_at_any_place_of_the_file(tmp_path):
    for blanks in range(8):
        header = {"w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}, "__metadata__": {"x": " " * blanks}}
        found = read_safetensors(stored(tmp_path / f"{blanks}", header, np.array([1, 2], "<f4").tobytes()))
        np.testing.assert_array_equal(found["w"], [[1, 2]])


@pytest.mark.parametrize(
    "header",
    [
        b"{",
        [],
        {"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}},
        {"w": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": ["2"], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": [2]}},
        {"w": 1},
    ],
)
def test_damaged_safetensors_are_refused(header, tmp_path):
    with pytest.raises(BadModel, match="safetensors"):
        read_safetensors(stored(tmp_path / "w", header, bytes(8)))


def test_a_short_safetensors_file_is_refused(tmp_path):
    for size in (0, 4, 8, 30):
        whole = (GOLDEN / "bertscore-bert" / "model.safetensors").read_bytes()
        (tmp_path / "w").write_bytes(whole[:size])
        with pytest.raises(BadModel, match="safetensors"):
            read_safetensors(tmp_path / "w")


@pytest.fixture
def model(tmp_path):
    """A copy of a model, to be damaged."""
    return shutil.copytree(GOLDEN / "bertscore-bert", tmp_path / "model")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"model_type": "t5"}, "Encoders that can be read: bert"),
        ({"hidden_act": "relu"}, "gelu"),
        ({"hidden_size": None}, "no number"),
        ({"num_attention_heads": 3}, "do not go together"),
    ],
)
def test_other_encoders_are_refused(model, changed, said):
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, **changed}))
    with pytest.raises(BadModel, match=said):
        read_config(model)


def test_a_folder_without_what_is_needed_is_refused(model):
    (model / "model.safetensors").unlink()
    with pytest.raises(BadModel, match="lacks its weights"):
        read_weights(model)
    packed(model / "pytorch_model.bin", pickle.dumps([1], 2))
    with pytest.raises(BadModel, match="no weights by name"):
        read_weights(model)
    (model / "config.json").unlink()
    with pytest.raises(BadModel, match=r"lacks config\.json"):
        read_config(model)


def test_a_metric_without_a_model_says_how_to_name_one():
    with pytest.raises(MissingResource, match="--resource NAME=FOLDER"):
        resolved("bertscore", Resources())
    with pytest.raises(MissingResource, match="has other content"):
        resolved("bertscore:model=bertscore-bert@0123456789ab", resources_of("bertscore-bert"))


def test_without_the_packages_the_error_names_the_extra(monkeypatch):
    packages.engine.cache_clear()
    monkeypatch.setattr(packages, "ENGINES", ("no-such-package",))
    with pytest.raises(MissingResource, match=r"pip install 'steelyard\[learned\]'"):
        resolved("bertscore:model=bertscore-bert", resources_of("bertscore-bert"))
    packages.engine.cache_clear()


def test_listing_metrics_imports_no_engine():
    program = """
import sys
import steelyard
from steelyard.metrics.registry import learned_metrics, parse_metric
learned_metrics()
parse_metric("comet:model=x")
print(*{"onnxruntime", "tokenizers", "torch", "yaml"} & set(sys.modules))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    np.testing.assert_allclose(sparsemax(np.array([0.1, 1.2, 0.9])), [0, 0.65, 0.35])
    np.testing.assert_allclose(sparsemax(np.zeros(4)), [0.25] * 4)


@needs_extra
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("hparams.yaml", "lacks hparams"),
        ("encoder/config.json", "Copy config.json and tokenizer.json of tiny-bert"),
        ("encoder/tokenizer.json", "lacks tokenizer.json"),
        ("checkpoints/model.ckpt", "lacks its weights"),
    ],
)
def test_a_checkpoint_without_what_is_needed_is_refused(file, said, tmp_path):
    from steelyard.metrics.learned.comet import COMET

    folder = shutil.copytree(GOLDEN / "comet-regression", tmp_path / "model")
    (folder / file).unlink()
    with pytest.raises(BadModel, match=said):
        COMET(reads="source+reference").opened(folder, "cpu")


@needs_extra
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("class_identifier: xcomet_metric", "xcomet_metric"),
        ("pool: default", 'pool "default"'),
        ("layer: 9", "there are 4"),
        ("activations: Relu", 'activation "Relu"'),
        ("- [", "cannot be read"),
        ("- 1", "holds no hyperparameters"),
    ],
)
def test_checkpoints_of_another_kind_are_refused(changed, said, tmp_path):
    from steelyard.metrics.learned.comet import COMET

    folder = shutil.copytree(GOLDEN / "comet-regression", tmp_path / "model")
    before = (folder / "hparams.yaml").read_text()
    key = changed.partition(":")[0]
    lines = [line for line in before.splitlines() if not line.startswith(f"{key}:")] if ":" in changed else []
    (folder / "hparams.yaml").write_text("\n".join([*lines, changed]))
    with pytest.raises(BadModel, match=said):
        COMET(reads="source+reference").opened(folder, "cpu")


@needs_extra
def test_weights_that_do_not_fit_the_configuration_are_refused(model):
    from steelyard.metrics.learned.embeddings import TokenEmbeddings

    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    embeddings = TokenEmbeddings(model, 4, "cpu")
    with pytest.raises(BadModel, match=r"the weights lack encoder\.layer\.3"):
        embeddings.embedded(embeddings.tokens(["the cat"]))


@needs_extra
def test_what_a_model_cannot_read_is_not_left_out():
    with pytest.raises(BadParameter, match="cannot read source alone"):
        resolved("comet:model=comet-regression:reads=source", resources_of("comet-regression"))
    assert resolved("comet:model=comet-unified:reads=source", resources_of("comet-unified")).inputs == {"source"}
    assert resolved("comet:model=comet-referenceless", resources_of("comet-referenceless")).inputs == {"source"}
    with pytest.raises(BadParameter, match="has 3"):
        resolved("bertscore:model=bertscore-bert:layer=4", resources_of("bertscore-bert"))


@needs_extra
@pytest.mark.parametrize("pinned", ["engine=onnxruntime-0.1", "device=cuda-nvidia-h100"])
def test_another_engine_or_device_than_is_named_scores_nothing(pinned):
    from steelyard.metrics.score_systems import score_systems
    from steelyard.metrics.segments import Segments

    resources = resources_of("bertscore-bert")
    metric = resolved(f"bertscore:model=bertscore-bert:{pinned}", resources)
    segments = Segments.from_lines(hypotheses=[["the cat"]], references=[["the mat"]])
    with pytest.raises(MissingResource, match=pinned):
        score_systems(segments, [metric], resources=resources)
