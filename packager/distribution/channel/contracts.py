"""Hash of a model's API, by which an app knows that its generated code fits a model that was built later."""

import hashlib

from packager.core.parsing import Json
from packager.distribution.differences.models import MEANING
from packager.signing.statements import payload

VERSION = 1
"""raised when the same API gets another hash"""


def contract_hash(model: Json, settings: Json) -> str:
    """Hex sha256 of the API of a model: its name, the names, types and shapes of its tensors, its contract with the
    labels, and what its outputs mean.

    `model` is its entry in a manifest, and `settings` its `options.contract` there. Weights, the graph, the provider
    and what happens to inputs inside the graph have no part in it.
    """
    outputs = settings.get("outputs", {})
    document = {
        "version": VERSION,
        "name": model["name"],
        "inputs": [_tensor(each) for each in model["inputs"]],
        "outputs": [_tensor(each) for each in model["outputs"]],
        "contract": model.get("contract"),
        "meaning": {name: {key: each[key] for key in MEANING if key in each} for name, each in outputs.items()},
    }
    return hashlib.sha256(payload(document)).hexdigest()


def _tensor(tensor: Json) -> dict[str, object]:
    return {key: tensor[key] for key in ("name", "identifier", "element", "shape")}
