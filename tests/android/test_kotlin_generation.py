"""Generated texts in Kotlin, on ONNX Runtime's Android libraries and in a jar on Java 11, are those of Python."""

from collections.abc import Mapping

import pytest

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.cases import decoders
from tests.toolchain import desktop_java, generation_models, jvm
from tests.toolchain.device import device, library
from tests.toolchain.generation_models import PROMPT, SEEDS, Heard, Made, shown


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Made]:
    found = generation_models.made(tmp_path_factory.mktemp("models"), Store(cache_folder() / "store"))
    return {each.plan.model.name: each for each in found}


@pytest.fixture(scope="module")
def scribe(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    return generation_models.heard(tmp_path_factory.mktemp("models"), Store(cache_folder() / "store"))


@pytest.fixture(scope="module", params=("android", "jvm"))
def facts(
    request: pytest.FixtureRequest,
    models: Mapping[str, Made],
    scribe: Heard,
    kotlin_compiler: None,
    onnxruntime_android: jvm.AndroidRuntime,
    tmp_path_factory: pytest.TempPathFactory,
) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("generation")
    target, store = Android(), Store(cache_folder() / "store")
    plans = (*(each.plan for each in models.values()), scribe.plan)
    package, report = Package(name="models", version="1.0.0", license=""), Report(parities=())
    if request.param == "jvm":
        apps = (jvm.APPS / "generation" / "Generating.kt", desktop_java.APPS / "LowMemory.kt")
        jar = desktop_java.built_of(package, plans, report, folder)
        return jar.facts("Generating", *apps, java=desktop_java.oldest_java())
    view = target.view(package, plans, report)
    aar = target.assemble(view, target.render(view), store)[0].path
    phone = device(library(aar, folder, apps="generation/*"), folder)
    return phone.run("Generating", providers="CPU").facts


def test_the_whole_text_is_that_of_python(models: Mapping[str, Made], facts: Mapping[str, str]) -> None:
    text = models["teller"].steps.text(PROMPT)
    assert text.count(decoders.EMOJI) == 1
    assert text.count("\ufffd")
    assert facts["text"] == shown(text)
    assert facts["text of nothing"] == shown(models["teller"].steps.text(""))


def test_a_model_goes_on_after_a_text_that_was_left(models: Mapping[str, Made], facts: Mapping[str, str]) -> None:
    text = models["teller"].steps.text(PROMPT)
    assert shown(text).startswith(facts["part"])
    assert 0 < len(facts["part"]) < len(shown(text))
    assert facts["text again"] == shown(text)


def test_what_a_text_keeps_outlives_the_session_that_made_it(
    models: Mapping[str, Made], facts: Mapping[str, str]
) -> None:
    assert facts["text with a session for each token"] == shown(models["teller"].steps.text(PROMPT))


def test_a_token_takes_no_more_of_javas_heap_the_longer_the_text_is(facts: Mapping[str, str]) -> None:
    """ONNX Runtime keeps the cache, of which a token has two layers of keys and values."""
    runs = list(map(int, facts["allocated"].split(",")))
    assert len(runs) >= 10
    token = decoders.LAYERS * 2 * decoders.HEADS * decoders.SIZE * 4
    half = len(runs) // 2
    assert sum(runs[-half:]) - sum(runs[-2 * half : -half]) < half * half * token / 4


def test_texts_that_are_made_at_once_are_those_made_alone(models: Mapping[str, Made], facts: Mapping[str, str]) -> None:
    wanted = [shown(models["teller"].steps.text(prompt)) for prompt in (PROMPT, "a dog", PROMPT)]
    assert facts["texts at once"] == "/".join(wanted)


def test_a_seed_chooses_what_it_chooses_in_python(models: Mapping[str, Made], facts: Mapping[str, str]) -> None:
    wanted = [shown(models["sampler"].steps.text("a dog", seed)) for seed in SEEDS]
    assert len(set(wanted)) == len(SEEDS)
    assert facts["sampled"] == "/".join(wanted)
    assert facts["sampled by default"] == wanted[0]


def test_a_conversation_is_gone_on_with(models: Mapping[str, Made], facts: Mapping[str, str]) -> None:
    steps = models["sampler"].steps
    assert facts["chat"] == "/".join(shown(steps.text(generation_models.CONVERSATION, seed)) for seed in (0, 7))
    assert facts["refused"].split("; ") == list(generation_models.REFUSED)


def test_the_text_of_a_recording_is_that_of_python(scribe: Heard, facts: Mapping[str, str]) -> None:
    assert facts["text of a recording"] == shown(scribe.text)
