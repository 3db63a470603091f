"""Generated texts, and vectors of several texts in a run, through the C++ of a React Native package, in JavaScriptCore,
are those of Python."""

from pathlib import Path

import pytest

from packager.files.store import Store
from packager.files.user_cache import cache_folder
from tests.toolchain import generation_models, typed_texts
from tests.toolchain.generation_models import CONVERSATION, PROMPT, REFUSED, SAID, SEEDS, SPOILT, messages
from tests.toolchain.react_native import native, packages


def test_texts_are_those_of_python(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    code = native.build(packages.tales(tmp_path_factory), tmp_path / "native", main="tales.js")
    (tmp_path / "models").mkdir()
    made = generation_models.made(tmp_path / "models", Store(cache_folder() / "store"))
    steps = {each.plan.model.name: each.steps for each in made}
    prompts = [PROMPT, "", "a dog"]
    listed = [typed_texts.utf16(text).tolist() for text in typed_texts.LISTED]
    said, spoilt = messages(SAID), [messages(each) for each in SPOILT]
    app = code.app(tmp_path / "app")
    found = app.run("tales", prompts=prompts, seeds=list(SEEDS), listed=listed, said=said, spoilt=spoilt)
    texts = [steps["teller"].text(prompt) for prompt in prompts]
    assert found["told"] == texts
    assert found["again"] == texts[0]
    assert found["value"]
    assert texts[0].startswith(found["value"])
    assert found["heard"] == generation_models.plain_text(tmp_path)
    assert found["sampled"] == [steps["sampler"].text("a dog", seed) for seed in SEEDS]
    assert found["chatted"] == steps["sampler"].text(CONVERSATION, 7)
    assert found["refused"] == [f"bad-input: {each}" for each in REFUSED]
    vectors = typed_texts.listed()["embedder"]
    for how in ("together", "at once", "alone"):
        typed_texts.same(found["embedded"][how], vectors)
