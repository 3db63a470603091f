"""Tasks that measure quantized models: their scores, their data, and small models that PyTorch exported."""

import importlib.util
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from benchmarks import accuracy, speech_to_text
from benchmarks.spread import spread
from benchmarks.tasks import (
    denoise,
    orientation,
    pages,
    pitch,
    scores,
    similarity,
    sounds,
    source_code,
    speech,
    synthesizer,
)
from benchmarks.tasks.task import Array, Inputs, predictor
from tests.cases.benchmark_tasks import EXPORTED, key, recorded
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain.require import require


def test_spearman_knows_order_and_shares_ranks_of_equal_values() -> None:
    assert scores.spearman([1, 2, 3, 4], [10, 100, 1000, 10_000]) == pytest.approx(1)
    assert scores.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert scores.ranks(numpy.array([5.0, 1.0, 5.0, 9.0])).tolist() == [2.5, 1, 2.5, 4]
    assert scores.spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / 22.5**0.5)


def test_area_under_curve_counts_pairs_in_order_and_half_of_the_ties() -> None:
    positive = numpy.array([False, False, True, True])
    assert scores.area_under_curve(numpy.array([0.1, 0.4, 0.35, 0.8]), positive) == pytest.approx(0.75)
    assert scores.area_under_curve(numpy.zeros(4), positive) == pytest.approx(0.5)


def test_signal_to_distortion_is_the_ratio_of_powers_at_any_volume() -> None:
    clean, disturbance = numpy.array([3.0, 0, 0, 1]), numpy.array([0.0, 1, 0, 0])
    assert scores.signal_to_distortion_db(clean + disturbance, clean) == pytest.approx(10)
    assert scores.signal_to_distortion_db(7 * (clean + disturbance), clean) == pytest.approx(10)


def test_word_errors_are_the_fewest_changes_of_words_whatever_case_and_punctuation() -> None:
    assert scores.word_errors("Please, open the window!", "please open the window") == 0
    assert scores.word_errors("please open a window", "please open the window") == 1
    assert scores.word_errors("open the window window", "please open the window") == 2
    assert scores.word_errors("the cat", "") == scores.word_errors("", "the cat") == 2
    assert scores.word_errors("it's ill", "its ill") == 1
    assert scores.word_error_rate(["a b c", "e f g"], ["a b c d", "e"]) == pytest.approx(3 / 5)
    assert scores.word_error_rate(["", "one two three"], ["a", "b"]) == 2


def test_a_recognizers_row_counts_word_errors_and_texts_that_are_the_same() -> None:
    said = ["one two three four", "five six"]
    written = speech_to_text.Written(
        sentences=said,
        optimized=said,
        plain=["one two three", "five six"],
        ours=["One two three.", "five six"],
        ours_resampled=["", "five six"],
    )
    *_, row = speech_to_text.table({"en-us": written})
    cells = [each.strip() for each in row.strip("|").split("|")]
    assert cells[1] == "6"
    assert [each.split(" \u00b1 ")[0] for each in cells[2:4]] == ["16.7", "16.7"]
    assert cells[4:7] == ["1 of 2", "0.0 \u00b1 0.0 %", "1 of 2"]
    assert [each.split(" \u00b1 ")[0] for each in cells[7:]] == ["-16.7", "66.7", "+50.0"]


def test_the_spread_of_word_errors_is_that_of_a_share_where_sentences_have_one_word() -> None:
    errors = numpy.array([0, 1] * 50)
    assert speech_to_text.standard_error(errors, ["word"] * 100) == pytest.approx(0.05, rel=0.1)
    assert speech_to_text.standard_error(errors * 0 + 1, ["word"] * 100) == 0


def test_a_tone_keeps_its_pitch_and_volume_at_another_rate() -> None:
    time = numpy.arange(synthesizer.RATE) / synthesizer.RATE
    found = synthesizer.resampled((1000 * numpy.sin(2 * numpy.pi * 440 * time)).astype(numpy.int16), 16000)
    assert found.dtype == numpy.int16
    assert len(found) == 16000
    assert numpy.abs(numpy.fft.rfft(found)).argmax() == 440
    assert numpy.abs(found).max() == pytest.approx(1000, abs=2)


def test_rows_of_a_task_that_is_measured_again_replace_its_own_alone() -> None:
    known = {name: [f"| **{name}**: a model | float |", "|  | auto |"] for name in ("digits", "speech")}
    text = accuracy.with_rows(f"before\n\n{accuracy.BEGIN}\n{accuracy.END}\n\nafter\n", known)
    assert accuracy.with_rows(text, {}) == text
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    row = "| **digits**: another | float |"
    assert accuracy.with_rows(text, {"digits": [row]}) == text.replace("\n".join(known["digits"]), row)
    added = accuracy.with_rows(text, {"pitch": [row]}).splitlines()
    assert added.index(row) == added.index(known["speech"][0]) - 1


def test_agreement_is_a_share_and_refuses_lists_of_two_lengths() -> None:
    assert scores.agreement([1, 2, 3, 4], numpy.array([1, 2, 3, 0])) == 0.75
    with pytest.raises(ValueError, match="2 answers for 1 question"):
        scores.agreement([1, 2], [1])


def test_the_published_vocabulary_becomes_berts_own() -> None:
    names = ["[PAD]", "[UNK]", similarity.START + "play", "ing", similarity.START + "["]
    assert list(similarity.vocabulary_lines(names)) == ["[PAD]", "[UNK]", "play", "##ing", "["]


def test_a_change_that_is_the_same_for_all_pairs_has_no_spread_and_noise_has_one() -> None:
    numbers = numpy.random.default_rng(0)
    ratings = numbers.random(200)
    original = [similarity.Rated(cosines=ratings, ratings=ratings)]
    scaled = [similarity.Rated(cosines=2 * ratings, ratings=ratings)]
    noisy = [similarity.Rated(cosines=ratings + numbers.normal(0, 0.2, 200), ratings=ratings)]
    assert (spread(original, scaled, 20).change, spread(original, scaled, 20).error) == pytest.approx((0, 0))
    found = spread(original, noisy, 100)
    assert found.low < found.change < found.high < 0 < found.error < 0.1


def test_bytes_are_padded_behind_the_beginning_and_in_front_of_the_end() -> None:
    (given,) = source_code.features(b"  ab c\n")
    assert given.dtype == numpy.int32
    assert given.shape == (2048,)
    assert given[:5].tolist() == [*b"ab c", 256]
    assert given[-5:].tolist() == [256, *b"ab c"]
    (given,) = source_code.features(b"a" * 1024 + b"b" * 1024)
    assert (set(given[:1024]), set(given[1024:])) == ({ord("a")}, {ord("b")})


def test_noise_is_mixed_in_at_the_ratio_asked_for() -> None:
    numbers = numpy.random.default_rng(0)
    voice, disturbance = sounds.speech(numbers, 1, 16000), sounds.noise(numbers, 16000, 1)
    added = sounds.mixed(voice, disturbance, 6) - voice
    assert 10 * numpy.log10(numpy.mean(voice**2) / numpy.mean(added**2)) == pytest.approx(6)


def test_a_tone_sounds_at_the_pitch_of_its_note() -> None:
    sound = sounds.tone(numpy.random.default_rng(0), 69, 1, 22050)
    assert numpy.abs(numpy.fft.rfft(sound)).argmax() == 440


def test_a_sound_comes_back_from_its_spectrum() -> None:
    sound = sounds.noise(numpy.random.default_rng(0), 3200, 0)
    inside = slice(denoise.WINDOW, -denoise.WINDOW)
    back = denoise.waveform(denoise.spectrum(sound))
    assert numpy.corrcoef(back[inside], sound[inside])[0, 1] > 0.9999


def test_a_page_turned_four_times_is_upright_again() -> None:
    upright = numpy.arange(224 * 224, dtype=numpy.float32).reshape(224, 224) / 200
    turned = orientation.turned(upright, 1)
    # Clockwise: the lower left corner is the upper left one.
    assert turned[0, 0, 0, 0] == orientation.turned(upright, 0)[0, 0, -1, 0]
    assert turned.dtype == numpy.float32
    assert numpy.array_equal(orientation.turned(upright, 4), orientation.turned(upright, 0))


def test_pages_are_the_same_each_time_and_differ_from_seed_to_seed() -> None:
    require(importlib.util.find_spec("PIL") is not None, "Pillow is missing: pip install 'mobpack[test]'")
    assert numpy.array_equal(pages.page(1), pages.page(1))
    assert not numpy.array_equal(pages.page(1), pages.page(2))


def test_removing_noise_by_what_is_known_of_the_voice_scores_higher_than_keeping_all() -> None:
    voices = iter([denoise.voice_and_mixture(seed) for seed in (1000, 1001)])

    def known(inputs: Inputs) -> Mapping[str, Array]:
        voice, mixture = next(voices)
        powers = [numpy.abs(denoise.spectrum(sound)) ** 2 for sound in (voice, mixture)]
        return {denoise.OUTPUT: (powers[0] / powers[1])[None]}

    def keep_all(inputs: Inputs) -> Mapping[str, Array]:
        return {denoise.OUTPUT: numpy.ones_like(inputs[denoise.INPUT])}

    assert denoise.accuracy(known, 2) > denoise.accuracy(keep_all, 2) + 3


def test_hearing_the_right_notes_scores_one_and_hearing_none_scores_next_to_nothing() -> None:
    chords = iter([pitch.notes_and_sound(seed)[0] for seed in range(1000, 1002)])

    def presence(keys: set[int]) -> Mapping[str, Array]:
        row = numpy.zeros((1, 172, 88))
        row[..., [note - pitch.LOWEST_KEY for note in keys]] = 1
        return {pitch.OUTPUT: row}

    assert pitch.accuracy(lambda inputs: presence(next(chords)), 2) == 1
    assert pitch.accuracy(lambda inputs: presence({21, 22, 23}), 2) == 0


def test_loudness_alone_tells_voices_from_pauses_better_than_chance_and_worse_than_truth() -> None:
    truth = iter([float(answer) for answer in speech.recording(speech.FIRST_TEST_RECORDING)[1]])
    state = numpy.zeros((2, 1, 128), numpy.float32)

    def answer(chance: float) -> Mapping[str, Array]:
        return {"output": numpy.array([[chance]]), "stateN": state}

    def loudness(inputs: Inputs) -> Mapping[str, Array]:
        return answer(float(numpy.abs(inputs["input"]).mean()))

    assert speech.accuracy(lambda inputs: answer(next(truth)), 1) == 1
    assert 0.6 < speech.accuracy(loudness, 1) < 1
    assert speech.accuracy(lambda inputs: answer(0.5), 1) == 0.5


def test_sounds_for_calibration_are_not_those_of_the_test() -> None:
    predict, heard = recorded(lambda inputs: {denoise.OUTPUT: numpy.ones((1, 1, 161))})
    denoise.accuracy(predict, 2)
    calibrated = {key(inputs) for inputs in islice(denoise.calibration(), 2)}
    assert len(heard) == len(calibrated) == 2
    assert not heard & calibrated


def test_a_predictor_gives_outputs_by_name(tmp_path: Path) -> None:
    text = "(float[2] x) => (float[2] twice, float[2] less) { twice = Add (x, x) less = Neg (x) }"
    found = predictor(saved(tmp_path / "m.onnx", onnx_model(text)))({"x": numpy.array([1, 2], numpy.float32)})
    assert {name: value.tolist() for name, value in found.items()} == {"twice": [2, 4], "less": [-1, -2]}


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.stem)
def test_an_exported_model_runs_and_tells_nothing_of_the_machine_that_made_it(path: Path) -> None:
    model = onnx.load(path, load_external_data=False)
    assert path.stat().st_size < 61_440
    assert not any(word in path.read_bytes() for word in (b".py", b"/torch", b"stack_trace", b"/home", b"/usr"))
    assert not any(tensor.external_data for tensor in model.graph.initializer)
    (given,) = model.graph.input
    sizes = [axis.dim_value or 2 for axis in given.type.tensor_type.shape.dim]
    numbers = numpy.random.default_rng(0)
    is_text = given.type.tensor_type.elem_type == onnx.TensorProto.INT64
    values = numbers.integers(0, 64, sizes) if is_text else numbers.standard_normal(sizes).astype(numpy.float32)
    (answer,) = onnxruntime.InferenceSession(path).run(None, {given.name: values})
    assert numpy.isfinite(answer).all()
    assert answer.std() > 0.1


def test_there_are_three_exported_models() -> None:
    assert [path.stem for path in EXPORTED] == ["torch_convnet", "torch_lstm", "torch_transformer"]
