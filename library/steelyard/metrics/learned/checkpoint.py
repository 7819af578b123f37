"""Checkpoints of COMET in Unbabel's form: hyperparameters, weights, and the encoder's configuration and tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadModel
from steelyard.formats.input.given_files import read_given
from steelyard.metrics.learned.folder import arrays_in, read_weights
from steelyard.metrics.learned.packages import package
from steelyard.metrics.learned.pickled import read_pickled

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from steelyard.metrics.learned.folder import Weights

REGRESSION, REFERENCELESS, UNIFIED = "regression_metric", "referenceless_regression_metric", "unified_metric"
SOURCE, REFERENCE, BOTH = "source", "reference", "source+reference"
ACTIVATIONS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "softplus": "Softplus", "softsign": "Softsign"}
POOLS = ("avg", "cls", "max")


@dataclass(frozen=True)
class Hyperparameters:
    """What hparams.yaml says, checked."""

    kind: str
    """REGRESSION, REFERENCELESS or UNIFIED."""
    pretrained: str
    """The encoder's name on the hub, for messages."""
    layer: int | None
    """The layer that is pooled; None for a mixture of all."""
    sparse: bool
    """Sparsemax makes the shares of layers, instead of softmax."""
    layer_norm: bool
    pool: str
    activation: str
    final: str | None
    """The activation behind the last layer of the head."""
    inputs: tuple[str, ...]
    """What a unified metric was trained to read: "mt", "src", "ref"."""

    @property
    def reads(self) -> str:
        """SOURCE, REFERENCE or BOTH: the most that it can read beside the hypothesis."""
        if self.kind == REGRESSION:
            return BOTH
        if self.kind == REFERENCELESS:
            return SOURCE
        source, reference = "src" in self.inputs, "ref" in self.inputs
        return BOTH if source and reference else SOURCE if source else REFERENCE


def read_hyperparameters(folder: Path) -> Hyperparameters:
    """Those of the checkpoint in a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Hyperparameters

    Raises
    ------
    BadModel
        Where hparams.yaml is missing, or of a model that is not known.
    """
    path = folder / "hparams.yaml"
    yaml = package("yaml")
    try:
        found = yaml.safe_load(read_given(path))
    except OSError as error:
        raise BadModel(f"{folder}: the model lacks hparams.yaml ({error.strerror}).") from error
    except (yaml.YAMLError, ValueError) as error:
        raise BadModel(f"{path}: cannot be read ({error}).") from error
    if not isinstance(found, dict):
        raise BadModel(f"{path}: holds no hyperparameters.")
    return _checked(found, path)


def encoder_folder(folder: Path) -> Path:
    """Where the configuration and the tokenizer of a checkpoint's encoder are: in `encoder/`, or beside hparams.yaml.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Path

    Raises
    ------
    BadModel
        Where they are in neither.
    """
    for place in (folder / "encoder", folder):
        if (place / "config.json").is_file():
            return place
    name = read_hyperparameters(folder).pretrained
    raise BadModel(
        f"{folder}: the model lacks the configuration of its encoder. Copy config.json and tokenizer.json of {name} to "
        f"{folder / 'encoder'}."
    )


def read_state(folder: Path) -> Weights:
    """The weights of a checkpoint: safetensors, where somebody has converted it, before torch's.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict of str to array

    Raises
    ------
    BadModel
        Where they are missing or damaged.
    """
    path = folder / "checkpoints" / "model.ckpt"
    if list(folder.glob("*.safetensors")):
        return read_weights(folder)
    if not path.is_file():
        raise BadModel(f"{folder}: the model lacks its weights, checkpoints/model.ckpt or model.safetensors.")
    found = read_pickled(path)
    if not isinstance(found, dict) or "state_dict" not in found:
        raise BadModel(f"{path}: has no state_dict. Is it a checkpoint of COMET?")
    return arrays_in(found["state_dict"], path)


def layer_shares(state: Weights, layers: int, *, sparse: bool, where: Path) -> NDArray[np.float64]:
    """How much each hidden state counts in the mixture, with the factor that all have in common.

    Parameters
    ----------
    state : dict of str to array
    layers : int
        Hidden states, that of the embeddings included.
    sparse : bool
    where : Path
        For messages.

    Returns
    -------
    (layers,) float64

    Raises
    ------
    BadModel
        Where the checkpoint has none, or for another number of layers.
    """
    try:
        names = [f"layerwise_attention.scalar_parameters.{number}" for number in range(layers)]
        weights = np.concatenate([state[name].astype(np.float64).ravel() for name in names])
        gamma = float(state["layerwise_attention.gamma"].astype(np.float64).ravel()[0])
    except (KeyError, IndexError) as error:
        raise BadModel(f"{where}: the weights of the mixture of {layers} layers lack {error}.") from error
    if len(weights) != layers:
        raise BadModel(f"{where}: the mixture has {len(weights)} weights for {layers} layers.")
    shares = sparsemax(weights) if sparse else _softmax(weights)
    return np.asarray(gamma * shares)


def sparsemax(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point of the simplex that is nearest to the weights (Martins and Astudillo 2016, algorithm 1).

    Parameters
    ----------
    weights : (n,) float64

    Returns
    -------
    (n,) float64
    """
    descending = np.sort(weights)[::-1]
    totals = np.cumsum(descending)
    supported = int(np.sum(1 + np.arange(1, len(weights) + 1) * descending > totals))
    return np.asarray(np.maximum(weights - (totals[supported - 1] - 1) / supported, 0.0))


def head_layers(state: Weights, where: Path) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Matrix (out, in) and bias of each layer of the head.

    Parameters
    ----------
    state : dict of str to array
    where : Path
        For messages.

    Returns
    -------
    list of (array, array)

    Raises
    ------
    BadModel
        Where they are missing or do not follow each other.
    """
    prefix = "estimator.ff."
    numbers = sorted(int(name.split(".")[2]) for name in state if name.startswith(prefix) and name.endswith(".weight"))
    try:
        layers = [
            (state[f"{prefix}{number}.weight"].astype(np.float32), state[f"{prefix}{number}.bias"].astype(np.float32))
            for number in numbers
        ]
        fits = all(len(bias) == matrix.shape[0] for matrix, bias in layers) and all(
            one[0].shape[0] == other[0].shape[1] for one, other in pairwise(layers)
        )
    except (KeyError, IndexError, ValueError):
        fits = False
    if not layers or not fits or layers[-1][0].shape[0] != 1:
        raise BadModel(f"{where}: the layers of the head (estimator.ff) are missing or do not follow each other.")
    return layers


def _softmax(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.exp(weights - weights.max())
    return np.asarray(shares / shares.sum())


def _checked(found: dict[Any, Any], path: Path) -> Hyperparameters:
    kind = found.get("class_identifier")
    if kind not in (REGRESSION, REFERENCELESS, UNIFIED):
        raise BadModel(
            f'{path}: class_identifier is "{kind}". Checkpoints that can be read: {REGRESSION}, {REFERENCELESS}, '
            f"{UNIFIED}."
        )
    layer = found.get("sent_layer" if kind == UNIFIED else "layer", "mix")
    pool = "cls" if kind == UNIFIED else found.get("pool", "avg")
    activation, final = found.get("activations", "Tanh"), found.get("final_activation")
    inputs = found.get("input_segments", ["mt", "src", "ref"])
    faults = [
        *([f'layer "{layer}"'] if layer != "mix" and not isinstance(layer, int) else []),
        *([f'pool "{pool}"'] if pool not in POOLS else []),
        *(f'activation "{each}"' for each in (activation, final or "Tanh") if str(each).lower() not in ACTIVATIONS),
        *([f"input_segments {inputs}"] if not _readable(inputs) else []),
    ]
    if faults:
        raise BadModel(f"{path}: {', '.join(faults)} is not known.")
    return Hyperparameters(
        kind,
        str(found.get("pretrained_model", "the encoder")),
        None if layer == "mix" else int(layer),
        # COMET mixes by softmax for every other word, "sparsemax_patch" among them.
        found.get("layer_transformation", "sparsemax" if kind == UNIFIED else "softmax") == "sparsemax",
        bool(found.get("layer_norm", True)),
        pool,
        ACTIVATIONS[str(activation).lower()],
        None if final is None else ACTIVATIONS[str(final).lower()],
        tuple(inputs),
    )


def _readable(inputs: object) -> bool:
    known = (["mt", "src"], ["mt", "ref"], ["mt", "src", "ref"])
    return isinstance(inputs, list) and inputs in known
