"""Generated texts of a page are those of Python: ONNX Runtime's WebAssembly runs the models in a worker."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.files.store import Store
from packager.files.user_cache import cache_folder
from tests.toolchain import generation_models, projects
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.generation_models import CONVERSATION, PROMPT, REFUSED, SAID, SEEDS, SPOILT, Made, messages
from tests.toolchain.web.page import Page, package, page_of
from tests.toolchain.web.site import files_of

WHOLE = "const whole = async (text) => { let made = ''; for await (const part of text) made += part; return made; };"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    found = generation_models.made(tmp_path_factory.mktemp("models"), Store(cache_folder() / "store"))
    return {each.plan.model.name: each for each in found}


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium"), seconds=1800.0) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(open_browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One visit for all tests: ONNX Runtime starts once."""
    files = files_of(package(tmp_path_factory.mktemp("package"), projects.TALES), "/vision/")
    with page_of(open_browser, files) as opened:
        opened.visit()
        yield opened


def test_texts_are_those_of_python(page: Page, made: dict[str, Made]) -> None:
    prompts = [PROMPT, "", "a dog"]
    program = f"const model = await Teller.load(); {WHOLE} const texts = {json.dumps(prompts)};"
    found = page.run(f"{program} return Promise.all(texts.map((text) => whole(model.generate(text))));", "Teller")
    assert found == [made["teller"].steps.text(prompt) for prompt in prompts]


def test_a_seed_chooses_what_it_chooses_in_python(page: Page, made: dict[str, Made]) -> None:
    program = f"const model = await Sampler.load(); {WHOLE} const found = [];"
    loop = f"for (const seed of {list(SEEDS)}) found.push(await whole(model.generate('a dog', {{ seed }})));"
    wanted = [made["sampler"].steps.text("a dog", seed) for seed in SEEDS]
    assert page.run(f"{program} {loop} return found;", "Sampler") == wanted


def test_a_conversation_is_gone_on_with(page: Page, made: dict[str, Made]) -> None:
    said, spoilt = (json.dumps(messages(SAID)), json.dumps([messages(each) for each in SPOILT]))
    program = (
        f"const model = await Sampler.load(); {WHOLE} const text = await whole(model.chat({said}, {{ seed: 7 }}));"
    )
    refused = (
        f"const errors = {spoilt}.map((each) => {{ try {{ model.chat(each); }} catch (e) {{ return e.message; }} }});"
    )
    text, errors = page.run(f"{program} {refused} return [text, errors];", "Sampler")
    assert text == made["sampler"].steps.text(CONVERSATION, 7)
    assert errors == list(REFUSED)


def test_the_text_of_a_recording_is_that_of_python(page: Page, tmp_path: Path) -> None:
    sound = "const samples = Float32Array.from({ length: 160 }, (_, n) => (((n * 7919) % 60000) - 30000) / 32768);"
    program = f"const model = await ScribeModel.load(); {WHOLE} {sound}"
    found = page.run(f"{program} return await whole(model.generate({{ samples, rate: 16000 }}));", "ScribeModel")
    assert found == generation_models.plain_text(tmp_path)


@pytest.mark.parametrize("name", ["Teller", "Sampler"])
def test_every_model_passes_its_self_test(page: Page, name: str) -> None:
    tested = page.run(f"const model = await {name}.load(); return await model.selfTest();", name)
    assert tested["passed"], tested
