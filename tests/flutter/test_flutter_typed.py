"""Contracts in Dart: what an app passes reaches the graph as it is, and what comes out is what Python gives.

The models are small graphs that tell what they were given, and small nets that write texts; ONNX Runtime runs them in
one program of Dart.
"""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Package, baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from tests.cases import spoken
from tests.cases.onnx_text import compiled, onnx_model, saved
from tests.golden.cases import Case, Published
from tests.npm.test_react_native_typed import MODELS, given_texts, made, planned
from tests.toolchain import generation_models, objective_c, typed_texts
from tests.toolchain.dart import compile_kernel, configured_package, dart
from tests.toolchain.generation_models import CONVERSATION, PROMPT, REFUSED, SEEDS

PROGRAMS = Path(__file__).parents[1] / "toolchain" / "dart_programs"
BRAIN = "(bfloat16[2, 3] x) => (bfloat16[3, 2] y) { y = Transpose (x) }"
LARGE = "(float[N] x) => (float[N] y) { y = Neg (x) }"
LARGEST = "(float[N] x) => (float[1] y) { y = ReduceMax <keepdims = 1> (x) }"
HUGE = "(int64[1] n) => (float[N] y) { y = ConstantOfShape (n) }"
TWICE = "(float[N] x) => (float[N] y) { y = Add (x, x) }"
SAID = re.compile(r"^([a-z][a-z0-9 ]*) ([\[{\"\d-].*|true)$", re.MULTILINE)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, generation_models.Made]:
    found = generation_models.made(tmp_path_factory.mktemp("tales"), Store(cache_folder() / "store"))
    return {each.plan.model.name: each for each in found}


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> generation_models.Heard:
    return generation_models.heard(tmp_path_factory.mktemp("heard"), Store(cache_folder() / "store"))


@pytest.fixture(scope="module")
def said(
    told: dict[str, generation_models.Made], heard: generation_models.Heard, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Any]:
    """Output of one run of the program."""
    folder = tmp_path_factory.mktemp("typed")
    tokenizing = (typed_texts.tokens(folder / "tokens"), *typed_texts.lists(folder))
    plans = (
        *(made(name, folder) for name in MODELS),
        *(planned(compile_variant(baseline(each), Store(folder / "store"))) for each in tokenizing),
        planned(compiled(folder, onnx_model(BRAIN), "brain")),
        planned(compiled(folder, onnx_model(LARGE), "large")),
        planned(compiled(folder, onnx_model(LARGEST), "largest")),
        *(each.plan for each in told.values()),
        heard.plan,
    )
    package = Package(name="typed", version="1.0.0", license="")
    android = Case(package=package, target=Android(providers=()), plans=plans, report=Report(parities=()), golden={})
    write_sources(Published(target=Flutter(), android=android).sources(), folder / "package")
    configured_package(folder / "package", "typed")
    for program in ("typed.dart", "serving.dart"):
        (folder / "package" / program).write_bytes((PROGRAMS / program).read_bytes())
    own = saved(folder / "package" / "own.onnx", onnx_model(BRAIN))
    saved(folder / "package" / "huge.onnx", onnx_model(HUGE))
    shutil.copy(objective_c.library(), folder / "package")
    saved(folder / "package" / "twice.onnx", onnx_model(TWICE))
    texts = folder / "package" / "texts.json"
    texts.write_text(json.dumps({**given_texts(), "prompt": PROMPT, "seeds": SEEDS}), encoding="utf-8")
    toolchain = dart()
    library = toolchain.onnxruntime()
    done = toolchain.run(
        ["dart", "--enable-asserts", compile_kernel(folder / "package", "typed.dart"), library, texts, own],
        cwd=folder / "package",
        mounts={str(library.parent): library.parent},
    )
    assert done.returncode == 0, done.output
    found = {name: json.loads(value) for name, value in SAID.findall(done.output)}
    assert found.get("done") is True, done.output
    teller = folder / "package" / "lib" / "src" / "models" / "teller.dart"
    return {**found, "code of the teller": teller.read_text(encoding="utf-8")}


def test_texts_have_the_tokens_of_python(said: Mapping[str, Any]) -> None:
    assert [tuple(each) for each in said["tokens"]] == list(typed_texts.ids())


def test_parts_of_a_text_are_where_dart_finds_them(said: Mapping[str, Any]) -> None:
    wanted = [list(each) for each in typed_texts.spans()]
    assert said["spans"] == wanted
    assert said["no spans"] == []
    assert said["noted"] == [wanted, [ord(each) for each in "before"]]


def test_documents_are_ranked(said: Mapping[str, Any]) -> None:
    assert said["score"] == 3
    assert said["ranked"] == [list(each) for each in typed_texts.RANKED]
    assert said["ranked none"] == []
    assert said["cancelled"] == "cancelled"


def test_texts_in_lists_have_the_results_of_single_ones(said: Mapping[str, Any]) -> None:
    wanted = typed_texts.listed()
    typed_texts.same(said["embedder"]["together"], wanted["embedder"])
    typed_texts.same(said["embedder"]["alone"], wanted["embedder"])
    assert said["embedder"]["none"] == []
    assert said["topics"] == typed_texts.topics()
    assert said["one topic"] == [1] * len(typed_texts.LISTED)
    longest = max(map(len, wanted["rows"]))
    assert [ids for ids, _ in said["rows"]] == [each + [0.0] * (longest - len(each)) for each in wanted["rows"]]
    assert [shape for _, shape in said["rows"]] == [[1, longest]] * len(typed_texts.LISTED)
    for scores in said["judge"]:
        typed_texts.same([[each] for each in scores], wanted["judge"])
    typed_texts.same(said["judged"], typed_texts.ranked(3))
    assert said["no pairs"] == "badInput"


def test_documents_are_ranked_eight_in_a_run(said: Mapping[str, Any]) -> None:
    assert said["judged in"] == -(-3 * len(typed_texts.LISTED) // 8)
    assert said["not judged"] == "cancelled"


def test_embeddings_are_compared_as_in_every_language(said: Mapping[str, Any]) -> None:
    assert np.array(said["cosines"], np.float32).tolist() == typed_texts.cosines()
    assert said["nearest"] == typed_texts.nearest()
    assert said["nearest two"] == 2


def test_generated_texts_are_those_of_python(
    said: Mapping[str, Any], told: dict[str, generation_models.Made], heard: generation_models.Heard
) -> None:
    teller, sampler = told["teller"].steps, told["sampler"].steps
    wanted = [teller.text(prompt) for prompt in (PROMPT, "", "a dog")]
    assert said["told"] == said["told at once"] == wanted
    assert 3 < said["parts"] <= len(wanted[0])
    assert said["seeds"] == [sampler.text("a dog", seed) for seed in SEEDS]
    assert len(set(said["seeds"])) > 1
    assert said["chat"] == sampler.text(CONVERSATION, 7)
    assert said["no chat"] == list(REFUSED)
    assert said["heard"] == heard.text


def test_a_text_is_made_as_far_as_somebody_listens(said: Mapping[str, Any]) -> None:
    parts, runs, is_same = said["left"]
    assert (parts, runs, is_same) == (3, 0, True)
    assert said["ended"] == "cancelled"
    assert said["ended before"] == "cancelled"
    assert said["bad sound"] == "badInput"
    assert said["disposed while it runs"] == said["disposed"] == "disposed"


def test_a_region_of_a_picture_is_all_that_the_model_looks_at(said: Mapping[str, Any]) -> None:
    wanted = [[10, 160, 2, 3], [40, 160, 2, 2], [130, 130, 1, 1], [100, 160, 1, 3]]
    assert said["regions"] == [each for each in wanted for _ in range(2)]


def test_luma_and_chroma_reach_the_model_as_they_lie_in_memory(said: Mapping[str, Any]) -> None:
    plain = [4.5, 20, 30, 1, 1, 2]
    swapped = [4.5, 30, 20, 1, 1, 2]
    assert said["chroma"] == [
        plain,
        [4.5, 30, 20, 4, 1, 2],
        [5.5, 30, 40, 1, 1, 1],
        plain,
        plain,
        swapped,
        [4.5, 20, 30, 4, 1, 2],
        [85, 0, 0, 0, 1, 1],
    ]
    assert [said["bgra"][each] for each in ("red", "green", "blue")] == [105, 95, 85]


def test_orientations_have_exif_s_numbers(said: Mapping[str, Any]) -> None:
    turns = ["up", "right", "down", "left", "left", "right"]
    assert said["orientations"] == [*range(1, 9), *turns, "up"]


def test_pictures_that_cannot_be_are_refused(said: Mapping[str, Any]) -> None:
    assert said["refused"] == ["badInput"] * 10 + ["badOptions", "badInput"]


def test_several_results_come_together(said: Mapping[str, Any]) -> None:
    seen, where, vector, words, raw, shape, made = said["everything"]
    assert seen == [["", 0, 65.25], ["", 1, 65.25]]
    assert where == [4, 1, [1, 2, 3, 255], [1, 2, 3, 255], ["no", "yes"]]
    assert (vector, words, raw, shape) == ([65.25] * 3, "語a'", [8], [])
    assert made == [4, 1, [each for each in (1, 2, 3, 255) for _ in range(4)]]
    assert said["boxes"] == [["dog", 1, 0.5, 1, 2, 3, 4], ["", 7, 0.25, 5, 6, 7, 8]]


def test_bfloat16_passes_as_bits(said: Mapping[str, Any]) -> None:
    assert said["bfloat16"] == [[0x3F80, 0xC080, 0x4000, 0x7FC0, 0x4040, 0xFF80], [3, 2]]


def test_tensors_are_not_copied_between_isolates(said: Mapping[str, Any]) -> None:
    """64 MiB go in, and a number comes out, or as much: the native input, ONNX Runtime's output and the app's are all
    that there is."""
    used, count, last = said["large"]
    assert (count, last) == (16 << 20, 1 - (16 << 20))
    assert 128 < used < 224, used
    used, largest = said["largest"]
    assert largest == (16 << 20) - 1
    assert 32 < used < 96, used


def test_sounds_and_states_reach_the_model(said: Mapping[str, Any]) -> None:
    one, two, again = said["heard sums"]
    assert one == again == [0.75, 2, 2, 8000, 0, 0]
    assert two == [0.75, 2, 1, 44100, 0.75, 1]


def test_a_sound_that_a_model_makes_is_a_file_that_python_writes_alike(said: Mapping[str, Any]) -> None:
    assert said["played"] == [spoken.RATE, spoken.CHANNELS, len(spoken.STEPS), 0]
    assert bytes(said["wav"]) == spoken.wav_file()
    assert bytes(said["wav of whole"]) == spoken.wav_file((0, 1, 0, 2))[44:]
    assert said["nothing played"] == [0, 44]
    assert said["nothing heard"] == "badInput"


def test_a_run_that_fails_is_repeated_on_the_cpu(said: Mapping[str, Any]) -> None:
    answers, log, provider, reasons = said["retries"]
    assert answers == ["cpu again"] * 3 + ["cpu"]
    assert log == ["open nnapi", "open cpu", "close nnapi", "close cpu"]
    assert (provider, reasons) == ("cpu", ["no kernel on nnapi"])
    again = ["cpu again", "cpu again", "nnapi"]
    assert said["three in a row"] == [again + again, "nnapi"]
    assert said["not repeated"] == ["runtime", "runtime"]


def test_the_session_of_a_retry_does_not_stay(said: Mapping[str, Any]) -> None:
    code, words, log, answers = said["bad inputs"]
    assert (code, answers) == ("runtime", ["cpu again", "nnapi"])
    assert words == "no kernel on cpu; nnapi had failed before: no kernel on nnapi"
    assert log == ["open nnapi", "open cpu", "close cpu"] * 2


def test_a_failed_host_is_replaced_and_one_that_starts_holds_no_cancelled_run(said: Mapping[str, Any]) -> None:
    assert said["another host"] == ["cpu", ["open cpu", "open cpu"]]
    assert said["cancelled while it opens"] == "cancelled"


def test_whatever_an_isolate_throws_is_told_and_requests_to_one_that_has_ended_end(said: Mapping[str, Any]) -> None:
    answers, words = said["broken workers"]
    assert answers == ["host", "1"], words
    assert words == "the isolate of the model failed: Bad state: nobody expected this"
    assert said["dead workers"] == [["host", "host"], "host", True]
    assert said["no memory"] == ["1", "outOfMemory"]


def test_the_latest_frame_wins_while_a_listener_is_busy(said: Mapping[str, Any]) -> None:
    seen, runs, before, last = said["latest frames"]
    assert seen == runs == [0, 199, 299, 399]
    assert (before, last) == ([], [4])


def test_a_file_is_read_once_unless_it_is_another_one_or_was_written_to(said: Mapping[str, Any]) -> None:
    assert said["notes"] == ["right", "right", *["corrupted"] * 5]
    assert said["notes of files"] == ["right", "corrupted"]


def test_a_run_takes_what_the_one_before_has_left_without_a_copy(said: Mapping[str, Any]) -> None:
    assert said["held tensors"] == [[16, -32, 48], 0, True, "badInput"]


def test_a_copied_model_is_given_back_when_its_session_is_closed(said: Mapping[str, Any]) -> None:
    """In MiB."""
    opened, freed = said["copied models"]
    assert opened > 60
    assert freed > 60


def test_texts_are_made_of_what_the_run_before_has_left(said: Mapping[str, Any]) -> None:
    assert "held: const [" in said["code of the teller"]


def test_apple_s_systems_are_asked_by_the_names_of_classes(said: Mapping[str, Any]) -> None:
    """A library has their functions here."""
    is_open, state, heat, told = said["apple"]
    assert (is_open, state, heat) == (True, 2, 3)
    assert told.split() == [
        *("UIApplication", "sharedApplication", "UIApplication", "applicationState"),
        *("NSProcessInfo", "processInfo", "NSProcessInfo", "thermalState"),
        *("NSString", "stringWithUTF8String:", "NSURL", "fileURLWithPath:isDirectory:", "/files"),
        *("NSNumber", "numberWithBool:", "NSURL", "setResourceValue:forKey:error:", "yes", "ExcludedFromBackup"),
    ]


def test_what_earlier_packages_kept_in_caches_is_moved_once(said: Mapping[str, Any]) -> None:
    assert said["moved"] == [["checked/one", "files/late"], ["channels/stable/state.json", "files/one"]]


def test_an_asset_is_copied_in_pieces_between_which_the_app_goes_on(said: Mapping[str, Any]) -> None:
    assert said["copies"] == [True, 1]


def test_a_lock_ends_with_its_isolate(said: Mapping[str, Any]) -> None:
    assert said["locks"] == [None, True]


def test_a_hot_device_halves_the_threads(said: Mapping[str, Any]) -> None:
    """Another session is opened first. What is warm changes nothing, nor does a run that is under way."""
    changed = ["open cpu", "close cpu", "release thermal"]
    assert said["heat"] == [[2, 0], changed * 2]
    assert said["heat while it runs"] == 2
    assert said["heat of others"] == [[], []]
    assert said["heat at once"] == [[2], [each.replace("cpu", "xnnpack") for each in changed]]
    assert said["heat without a file"] == [[[], []], "cpu"]


def test_a_model_that_was_released_is_opened_again(said: Mapping[str, Any]) -> None:
    log, both = said["released"]
    assert log == ["open cpu", "close cpu", "release memory", "open cpu", "close cpu", "release memory"]
    assert both == ["cpu", "cpu"]
    events, outputs, profiled, is_unknown, has_passed = said["events"]
    loaded, ran = "load brain true", "run null true"
    assert events == [loaded, ran, ran, "release memory", loaded, ran, ran, "release close"]
    assert (outputs, profiled, is_unknown, has_passed) == (2, 3, True, False)


def test_a_run_that_is_under_way_ends_before_its_model(said: Mapping[str, Any]) -> None:
    assert said["disposed under way"] == [3, 2]


def test_what_each_provider_runs_is_told(said: Mapping[str, Any]) -> None:
    assert said["assignment"] == [["cpu", 1, 0]]


def test_runs_are_counted(said: Mapping[str, Any]) -> None:
    who, counts, is_sorted, is_bounded, attributes = said["metrics"]
    assert who == ["brain", "1.0.0", "cpu", 3, 1]
    assert said["cancelled run"] == "cancelled"
    assert counts == [5, 0, 0, 4, 4]
    assert said["repeated"] == [101, 1, 101, 100]
    assert (is_sorted, is_bounded) == (True, True)
    assert {"mobpack.run.duration.p99", "mobpack.provider", "process.memory.usage"} <= set(attributes)
    p50, p90, p99, mean = said["percentiles"]
    assert mean == 50.5
    assert [50 <= p50 <= 55, 90 <= p90 <= 99, 99 <= p99 <= 100] == [True] * 3
