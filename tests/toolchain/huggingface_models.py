"""Hugging Face's folders for the tests of `mobpack import`: made and imported in one process of their environment.

`python -m tests.toolchain.huggingface_models FOLDER` is that process.
"""

import json
import shutil
import sys
from pathlib import Path

from tests.toolchain.importing import write_answers

SOURCES = ("bert", "vit", "t5", "own_code", "cut", "no_config")
"""Folders that `save_all` writes."""


def save_all(folder: Path) -> None:
    """Writes SOURCES: tiny nets with random weights, and damaged copies."""
    import torch
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        T5Config,
        T5ForConditionalGeneration,
        ViTConfig,
        ViTForImageClassification,
    )

    torch.manual_seed(0)
    tiny = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    bert = BertConfig(vocab_size=100, max_position_embeddings=64, num_labels=3, **tiny)
    BertForSequenceClassification(bert).save_pretrained(folder / "bert")
    vit = ViTConfig(image_size=32, patch_size=8, num_labels=5, **tiny)
    ViTForImageClassification(vit).save_pretrained(folder / "vit")
    t5 = T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2)
    T5ForConditionalGeneration(t5).save_pretrained(folder / "t5")
    for name in SOURCES[3:]:
        shutil.copytree(folder / "bert", folder / name)
    config = json.loads((folder / "bert" / "config.json").read_text(encoding="utf-8"))
    (folder / "own_code" / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "net.Net"}}))
    weights = folder / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    (folder / "no_config" / "config.json").write_text("{")


def main() -> None:
    folder = Path(sys.argv[1])
    save_all(folder)
    write_answers(folder, SOURCES)


if __name__ == "__main__":
    main()
