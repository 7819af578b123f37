"""Makes tiny models with random weights, and what bert-score and COMET say of a few texts with them.

    HF_HUB_OFFLINE=1 PYTHONPATH=. PYTHON -m tests.library.metrics.learned.peers

in an environment with bert-score 0.3.13, unbabel-comet, 'setuptools<80' and nothing of ours. It writes the folders
and scores.json in `tests/golden/learned`, which the tests beside this file compare with. Weights are large, so that
scores of different texts differ; that they mean nothing makes their equality mean something.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

GOLDEN = Path(__file__).parents[3] / "golden" / "learned"
WINDOW = 40
WIDTH = 16
WORDS = [
    "the",
    "a",
    "cat",
    "cats",
    "sat",
    "on",
    "mat",
    ",",
    ".",
    "der",
    "die",
    "Katze",
    "saß",
    "auf",
    "Matte",
    "##s",
    "##t",
    "##en",
    "!",
    "5",
    "[PAD]",
    "x",
    "y",
    "z",
]
TEXTS = [
    ("Die Katze saß auf der Matte.", "The cat sat on the mat.", "A cat sat on a mat."),
    ("Die Katze", "the cat", "the cat"),
    ("5 Katzen!", "5 cats!", "five cats!"),
    ("", "the mat", "a mat"),
    ("auf der Matte", "", "on the mat"),
    ("auf", "on the mat", ""),
    ("die [PAD] Matte <pad>", "the [PAD] mat <pad> sat", "the mat sat"),
    ("Katze " * 50, "cat " * 60, "cat sat " * 30),
    ("  der   x ", " the y ", "the  z"),
    ("x y z " * 4, "z y x " * 6, "x y z " * 6),
]
"""Source, hypothesis, reference."""
SIZES = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": WINDOW,
}


def wordpieces():
    """BERT's kind of tokenizer."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {
        word: number for number, word in enumerate(dict.fromkeys([*special, *(word.lower() for word in WORDS)]))
    }
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(special)
    return made, len(vocabulary)


def sentencepieces():
    """XLM-R's kind of tokenizer."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words = [f"▁{word}" for word in WORDS if not word.startswith(("#", "["))]
    letters = list("▁abcdehikmnostuxyzßADKMT.,!5")
    pieces = [(each, 0.0) for each in special]
    pieces += [(each, -2.0 - number / 9) for number, each in enumerate(dict.fromkeys([*words, *letters]))]
    pieces.append(("<mask>", 0.0))
    made = Tokenizer(models.Unigram(pieces, unk_id=3))
    made.normalizer = normalizers.Replace("  ", " ")
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.add_special_tokens([*special, "<mask>"])
    return made, len(pieces)


def encoder(kind: str, folder: Path):
    """A random encoder of a kind; its folder gets what the hub's would have, but for the weights."""
    import torch
    import transformers as hub

    classes = {
        "bert": (hub.BertConfig, hub.BertModel, hub.BertTokenizerFast, wordpieces),
        "xlm-roberta": (hub.XLMRobertaConfig, hub.XLMRobertaModel, hub.XLMRobertaTokenizerFast, sentencepieces),
        "xlm-roberta-xl": (hub.XLMRobertaXLConfig, hub.XLMRobertaXLModel, hub.XLMRobertaTokenizerFast, sentencepieces),
    }
    config_class, model_class, tokenizer_class, tokenizer = classes[kind]
    made, size = tokenizer()
    special = {"pad_token_id": 0} if kind == "bert" else {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config = config_class(vocab_size=size, type_vocab_size=2 if kind == "bert" else 1, **SIZES, **special)
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    wrapped = tokenizer_class(tokenizer_object=made, model_max_length=WINDOW - (0 if kind == "bert" else 2))
    wrapped.save_pretrained(folder)
    # What only the slow tokenizer reads.
    for name in ("sentencepiece.bpe.model", "vocab.txt", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    torch.manual_seed(len(kind))
    model = model_class(config, add_pooling_layer=False)
    randomize(model)
    return model


def randomize(model) -> None:
    """Large weights, those of norms round 1."""
    import torch

    with torch.no_grad():
        for name, values in model.named_parameters():
            norm = "norm" in name.lower() and name.endswith("weight")
            values.normal_(1.0 if norm else 0.0, 0.3)


def bertscores(kind: str) -> dict[str, list[list[float]]]:
    """What bert-score says with a model, by layer and idf."""
    from bert_score import BERTScorer

    folder = GOLDEN / f"bertscore-{kind}"
    encoder(kind, folder).save_pretrained(folder)
    hypotheses, references = [text[1] for text in TEXTS], [text[2] for text in TEXTS]
    found = {}
    for layer, idf in ((3, False), (2, True)):
        scorer = BERTScorer(
            model_type=str(folder), num_layers=layer, idf=idf, idf_sents=references if idf else None, nthreads=0,
            device="cpu", use_fast_tokenizer=True,
        )  # fmt: skip
        precision, recall, f = scorer.score(hypotheses, references)
        found[f"layer={layer}:idf={'yes' if idf else 'no'}"] = torch_rows(f, precision, recall)
    return found


def torch_rows(*columns) -> list[list[float]]:
    """Tensors as rows of numbers."""
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


COMETS = {
    "regression": ("RegressionMetric", "BERT", "bert", {"pool": "avg", "layer_norm": False}),
    "regression-xlmr": ("RegressionMetric", "XLM-RoBERTa", "xlm-roberta", {"pool": "cls", "layer_norm": True}),
    "regression-xl": (
        "RegressionMetric", "XLM-RoBERTa-XL", "xlm-roberta-xl",
        {"pool": "max", "layer": 3, "final_activation": "Sigmoid"},
    ),
    "referenceless": (
        "ReferencelessRegression", "XLM-RoBERTa", "xlm-roberta", {"layer_transformation": "sparsemax", "pool": "avg"},
    ),
    "unified": ("UnifiedMetric", "XLM-RoBERTa", "xlm-roberta", {"layer_transformation": "sparsemax"}),
    "unified-bert": ("UnifiedMetric", "BERT", "bert", {"layer_norm": False}),
    "unified-source": (
        "UnifiedMetric", "XLM-RoBERTa", "xlm-roberta", {"input_segments": ["mt", "src"], "word_level_training": True},
    ),
}  # fmt: skip
IDENTIFIERS = {
    "RegressionMetric": "regression_metric",
    "ReferencelessRegression": "referenceless_regression_metric",
    "UnifiedMetric": "unified_metric",
}


def comet(name: str) -> list[float]:
    """What COMET says with a checkpoint, which is made first."""
    import comet.models as models
    import pytorch_lightning as lightning
    import yaml
    from comet import load_from_checkpoint

    kind, family, encoder_kind, options = COMETS[name]
    folder = GOLDEN / f"comet-{name}"
    inside = folder / "encoder"
    encoder(encoder_kind, inside)
    options = {"hidden_sizes": [8, 4], "word_layer": 3, **options}
    if kind != "UnifiedMetric":
        del options["word_layer"]
    # Where it was made is nobody's business: the checkpoint has this path in it.
    os.chdir(GOLDEN)
    made = getattr(models, kind)(
        encoder_model=family, pretrained_model=str(inside.relative_to(GOLDEN)), load_pretrained_weights=False,
        local_files_only=True, **options,
    )  # fmt: skip
    randomize(made)
    (folder / "checkpoints").mkdir(exist_ok=True)
    trainer = lightning.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False)
    trainer.strategy.connect(made)
    checkpoint = folder / "checkpoints" / "model.ckpt"
    trainer.save_checkpoint(checkpoint)
    hparams = {**dict(made.hparams), "class_identifier": IDENTIFIERS[kind]}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams))
    loaded = load_from_checkpoint(str(checkpoint), local_files_only=True)
    rows = [{"src": source, "mt": hypothesis, "ref": reference} for source, hypothesis, reference in TEXTS]
    if name in ("referenceless", "unified-source"):
        rows = [{key: row[key] for key in ("src", "mt")} for row in rows]
    scores = loaded.predict(rows, batch_size=4, gpus=0, progress_bar=False, num_workers=0).scores
    (folder / "hparams.yaml").write_text(yaml.safe_dump({**hparams, "pretrained_model": f"tiny-{encoder_kind}"}))
    return list(scores)


def main() -> None:
    """Make everything anew."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    found = {
        "texts": TEXTS,
        "bertscore": {kind: bertscores(kind) for kind in ("bert", "xlm-roberta")},
        "comet": {name: comet(name) for name in COMETS},
    }
    (GOLDEN / "scores.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
