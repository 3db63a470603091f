"""The files of a recipe."""

from packager.runtimes.recipe import recipe

OPERATORS = [{"ai.onnx;13;Softmax": '{"inputs": {"0": ["float"]}}', "com.microsoft;1;FusedConv": ""}]


def texts(target: str, **options: object) -> dict[str, str]:
    made = recipe(target, OPERATORS, **{"providers": (), **options})  # type: ignore[arg-type]
    return {str(path): text for path, text in made.sources.texts.items()}
