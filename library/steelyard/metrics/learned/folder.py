"""The folder of an encoder as the hub has it: config.json, a tokenizer and weights."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadModel
from steelyard.formats.input.given_files import read_given
from steelyard.metrics.learned.pickled import read_pickled
from steelyard.metrics.learned.safetensors import read_safetensors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Weights = dict[str, NDArray[np.generic]]

KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "xlm-roberta-xl")
"""What `model_type` may be: encoders with absolute positions."""
PREFIXES = ("", "bert.", "roberta.", "encoder.model.", "model.")
"""What stands before the names of an encoder's weights where something stands on top of it."""


@dataclass(frozen=True)
class EncoderConfig:
    """What config.json says of an encoder, checked."""

    kind: str
    width: int
    layers: int
    heads: int
    positions: int
    """Tokens that it can tell apart by place."""
    pad: int
    """The id of the padding token; RoBERTa's positions begin behind it."""
    epsilon: float

    @property
    def offset(self) -> int:
        """The position of the first token."""
        return 0 if self.kind == "bert" else self.pad + 1

    @property
    def window(self) -> int:
        """The most tokens of one text."""
        return self.positions - self.offset

    @property
    def separators(self) -> int:
        """Separators between two texts that are read as one."""
        return 1 if self.kind == "bert" else 2


def read_config(folder: Path) -> EncoderConfig:
    """The configuration in a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    EncoderConfig

    Raises
    ------
    BadModel
        Where there is none, or one of an encoder that is not known.
    """
    path = folder / "config.json"
    found = read_json(path)
    kind = found.get("model_type")
    if kind not in KINDS:
        raise BadModel(f'{path}: model_type is "{kind}". Encoders that can be read: {", ".join(KINDS)}.')
    if found.get("hidden_act", "gelu") != "gelu" or found.get("position_embedding_type", "absolute") != "absolute":
        raise BadModel(f"{path}: only encoders with gelu and absolute positions can be read.")
    try:
        config = EncoderConfig(
            kind,
            width=int(found["hidden_size"]),
            layers=int(found["num_hidden_layers"]),
            heads=int(found["num_attention_heads"]),
            positions=int(found["max_position_embeddings"]),
            pad=int(found.get("pad_token_id") or 0),
            epsilon=float(found.get("layer_norm_eps", 1e-12)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"{path}: {error} is missing or no number.") from error
    if min(config.width, config.layers, config.heads, config.window) < 1 or config.width % config.heads:
        raise BadModel(f"{path}: the sizes do not go together.")
    return config


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object that a model's folder must have.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict

    Raises
    ------
    BadModel
        Where it is missing or something else.
    """
    try:
        found = json.loads(read_given(path))
    except OSError as error:
        raise BadModel(f"{path.parent}: the model lacks {path.name} ({error.strerror}).") from error
    except ValueError as error:
        raise BadModel(f"{path}: is not JSON ({error}).") from error
    if not isinstance(found, dict):
        raise BadModel(f"{path}: is no JSON object.")
    return found


def read_weights(folder: Path) -> Weights:
    """The weights in a folder: safetensors before torch's own, in one file or in several.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict of str to array

    Raises
    ------
    BadModel
        Where there are none, or a file is damaged.
    """
    if files := sorted(folder.glob("*.safetensors")):
        return {name: values for file in files for name, values in read_safetensors(file).items()}
    if files := sorted(folder.glob("pytorch_model*.bin")):
        return {name: values for file in files for name, values in arrays_in(read_pickled(file), file).items()}
    raise BadModel(f"{folder}: the model lacks its weights, model.safetensors or pytorch_model.bin.")


def arrays_in(found: object, where: Path) -> Weights:
    """The weights in what was pickled.

    Parameters
    ----------
    found : object
    where : Path
        For messages.

    Returns
    -------
    dict of str to array

    Raises
    ------
    BadModel
        Where it is no mapping.
    """
    if not isinstance(found, dict):
        raise BadModel(f"{where}: holds no weights by name.")
    return {name: values for name, values in found.items() if isinstance(values, np.ndarray)}


def changed_at(path: Path) -> int:
    """When a file was changed, so that a model in memory is not taken for another one.

    Parameters
    ----------
    path : Path

    Returns
    -------
    int
        In nanoseconds; 0 where there is no such file, which whoever opens it says better.
    """
    return path.stat().st_mtime_ns if path.is_file() else 0


def encoder_weights(weights: Weights, where: Path) -> Weights:
    """Those of the encoder, by names without what stands before them.

    Parameters
    ----------
    weights : dict of str to array
    where : Path
        For messages.

    Returns
    -------
    dict of str to array

    Raises
    ------
    BadModel
        Where there is no encoder among them.
    """
    for prefix in PREFIXES:
        if f"{prefix}embeddings.word_embeddings.weight" in weights:
            length = len(prefix)
            return {name[length:]: values for name, values in weights.items() if name.startswith(prefix)}
    raise BadModel(f"{where}: among the weights there is no encoder (embeddings.word_embeddings.weight).")
