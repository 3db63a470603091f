"""A model with `kind = "generated"` makes the text of a plain loop over the model, token by token."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import pytest
from tokenizers import Tokenizer

from packager.compile.compile import compile_variant
from packager.compile.reader import read_graph
from packager.contract.generation import Generated, randomness
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType
from packager.core.values import Model, baseline
from packager.files.store import Store
from packager.graph.writer import Writer
from tests.cases import decoders
from tests.cases.contract_graphs import Ran, graph_of
from tests.cases.generation import Steps, generating, plain_greedy, plain_logits
from tests.cases.onnx_text import session as opened

PROMPTS = ("the quick", "a dog \U0001f600", "\u6771", "x" * 30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("decoder")
    decoders.tokenizer(made)
    return made


def net_of(folder: Path, kind: str, **keys: Any) -> Any:
    size = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size() + 4
    return decoders.decoder(size, kind=kind, **keys)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "plain"])
def test_greedy_text_is_that_of_a_plain_loop(folder: Path, kind: str) -> None:
    net = net_of(folder, kind)
    steps = Steps.of(generating(folder, net))
    seen: set[int] = set()
    for prompt in PROMPTS:
        tokens, text = plain_greedy(net, folder, prompt)
        assert steps.tokens(prompt) == tokens
        assert steps.text(prompt) == text
        seen |= set(tokens)
    assert len(seen) > 8


@pytest.mark.parametrize(("kind", "turns"), [("gpt2", 0), ("llama", 2 * decoders.LAYERS)])
def test_a_file_for_the_cpu_has_fused_attention_and_chooses_the_same_tokens(
    folder: Path, kind: str, turns: int, tmp_path: Path
) -> None:
    model = generating(folder, net_of(folder, kind))
    made = compile_variant(baseline(model), Store(tmp_path))
    assert made.attention == "attention is fused"
    assert "com.microsoft;1;GroupQueryAttention" in made.operators
    nodes = Counter(node.op for node in read_graph(made.path).nodes)
    assert (nodes["GroupQueryAttention"], nodes["RotaryEmbedding"], nodes["Softmax"]) == (decoders.LAYERS, turns, 0)
    fused, whole = Steps(model, opened(made.path)), Steps.of(model)
    for prompt in PROMPTS:
        assert fused.tokens(prompt) == whole.tokens(prompt)


def test_a_window_of_attention_stays_as_it_is(folder: Path, tmp_path: Path) -> None:
    model = generating(folder, net_of(folder, "llama", window=300))
    made = compile_variant(baseline(model), Store(tmp_path))
    assert made.attention.startswith("attention is not fused: 'logits' would differ by 0.")
    assert "com.microsoft;1;GroupQueryAttention" not in made.operators


@pytest.mark.parametrize("kind", ["gpt2", "llama", "plain"])
def test_characters_come_with_their_last_byte_and_the_stop_token_is_no_part_of_the_text(
    folder: Path, kind: str
) -> None:
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    prompt, words = "the quick", f" fox {decoders.EMOJI}s \u6771"
    script = [-1] * (len(known.encode(prompt).ids) - 1) + [*known.encode(words).ids, known.token_to_id(decoders.STOP)]
    steps = Steps.of(generating(folder, net_of(folder, kind, script=script)))
    parts = ["".join(map(chr, made["logits.characters"])) for made in steps(prompt)]
    assert "".join(parts) == words
    assert decoders.EMOJI in parts
    assert "" in parts
    assert len(parts) == len(known.encode(words).ids) + 1


def test_bytes_that_are_cut_at_the_end_are_replaced(folder: Path) -> None:
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    script = known.encode(decoders.EMOJI).ids[:3]
    net = net_of(folder, "llama", script=script)
    assert Steps.of(generating(folder, net, max_new_tokens=3)).text("a") == "\ufffd"


def test_the_number_of_tokens_is_limited(folder: Path) -> None:
    assert len(Steps.of(generating(folder, net_of(folder, "gpt2"), max_new_tokens=7)).tokens("a")) == 7


def test_an_empty_prompt_is_the_first_stop_token(folder: Path) -> None:
    net = net_of(folder, "llama")
    steps = Steps.of(generating(folder, net))
    assert steps.tokens("") == steps.tokens(decoders.STOP)


@pytest.mark.parametrize("kind", ["gpt2", "plain"])
def test_a_penalty_divides_the_logits_of_tokens_so_far(folder: Path, kind: str) -> None:
    net, penalty = net_of(folder, kind), 3.0
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = opened(net.SerializeToString())
    ids = known.encode("the quick").ids
    start = len(ids)
    for _ in range(12):
        logits = plain_logits(session, ids)
        seen = list(set(ids))
        logits[seen] = numpy.where(logits[seen] < 0, logits[seen] * penalty, logits[seen] / penalty)
        ids.append(int(logits.argmax()))
        if ids[-1] == known.token_to_id(decoders.STOP):
            break
    found = Steps.of(generating(folder, net, repetition_penalty=penalty, max_new_tokens=12)).tokens("the quick")
    assert found == ids[start:]
    assert found != Steps.of(generating(folder, net, max_new_tokens=12)).tokens("the quick")


def test_a_seed_makes_random_choices_again(folder: Path) -> None:
    steps = Steps.of(generating(folder, net_of(folder, "llama"), strategy="sample"))
    texts = {seed: steps.tokens("the", seed) for seed in (0, 1, 2**32, -1)}
    assert texts == {seed: steps.tokens("the", seed) for seed in texts}
    assert len({tuple(each) for each in texts.values()}) == 4


@pytest.mark.parametrize(
    "keys",
    [
        {"top_k": 0},
        {"top_k": 5, "temperature": 0.7},
        {"top_p": 0.6, "temperature": 2.0},
        {"top_p": 0.05, "top_k": 0, "repetition_penalty": 1.5},
    ],
    ids=str,
)
def test_choices_are_as_likely_as_transformers_says(folder: Path, keys: dict[str, Any]) -> None:
    net = net_of(folder, "llama", sharpness=1.0)
    known = Tokenizer.from_file(str(folder / "tokenizer.json"))
    session = opened(net.SerializeToString())
    ids = known.encode("the").ids
    wanted = shares_of(plain_logits(session, ids), ids, **keys)
    steps = Steps.of(generating(folder, net, strategy="sample", max_new_tokens=1, **keys))
    runs = 1500
    counts = numpy.bincount([steps.tokens("the", seed)[0] for seed in range(runs)], minlength=len(wanted))
    assert not counts[wanted == 0].any()
    kept = wanted > 0
    squares = ((counts[kept] - runs * wanted[kept]) ** 2 / (runs * wanted[kept])).sum()
    freedom = max(int(kept.sum()) - 1, 1)
    assert squares < freedom + 5 * (2 * freedom) ** 0.5


def shares_of(
    logits: Any, ids: list[int], *, top_k: int = 50, top_p: float = 1.0, temperature: float = 1.0, **keys: float
) -> Any:
    """Probabilities after the logits processors of transformers."""
    penalty = keys.get("repetition_penalty", 1.0)
    logits = logits.astype(numpy.float64)
    logits[ids] = numpy.where(logits[ids] < 0, logits[ids] * penalty, logits[ids] / penalty)
    logits /= temperature
    if top_k:
        logits[logits < numpy.sort(logits)[-top_k]] = -numpy.inf
    shares = numpy.exp(logits - logits.max())
    shares /= shares.sum()
    ascending = numpy.argsort(shares, kind="stable")
    removed = numpy.cumsum(shares[ascending]) <= 1 - top_p
    removed[-1] = False
    shares[ascending[removed]] = 0
    return shares / shares.sum()


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_random_numbers_are_those_of_philox(
    counter: tuple[int, ...], key: tuple[int, ...], block: tuple[int, ...]
) -> None:
    """Known answers of Random123, the library of its authors."""
    writer = Writer(scope="random")
    even, odd = randomness.philox(writer, *(writer.integers(*each) for each in (counter[::2], counter[1::2], key)))
    for name, value in (("even", even), ("odd", odd)):
        writer.output(value, name, ElementType.INT64, (2,))
    made = Ran(graph_of(writer, inputs=[]))({})
    assert (*made["random.even"], *made["random.odd"]) == (block[0], block[2], block[1], block[3])


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"stop_tokens": ()}, "stop-tokens is missing"),
        ({"stop_tokens": ("</s>",)}, "the tokenizer has no '</s>'"),
        ({"caches": {"past": "present"}}, "the model has no input 'past'"),
        ({"caches": {"past_key_values.0.key": "logits"}}, "but the cache 'past_key_values.0.key' is"),
        ({"mask": "masks"}, "mask: the model has no input 'masks'"),
    ],
)
def test_keys_that_do_not_fit_the_model_are_named(folder: Path, keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        generating(folder, net_of(folder, "gpt2"), **keys)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"top_k": 5}, "top-k has no effect"),
        ({"max_new_tokens": 0}, "max-new-tokens cannot be 0"),
        ({"strategy": "sample", "temperature": 0.0}, "temperature cannot be 0.0"),
        ({"strategy": "sample", "top_p": 1.5}, "top-p cannot be 1.5"),
    ],
)
def test_settings_without_sense_are_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Generated(stop_tokens=("a",), **keys)


def test_the_app_passes_a_prompt_and_all_else_is_carried(folder: Path) -> None:
    model: Model = generating(folder, net_of(folder, "gpt2"), strategy="sample")
    contract = model.contract
    assert contract is not None
    assert contract.verb == "generate"
    assert [each.identifier for each in contract.parameters] == ["text"]
    assert [each.input.name for each in contract.states] == [
        *(f"past_key_values.{layer}.{part}" for layer in range(decoders.LAYERS) for part in ("key", "value")),
        "logits.progress",
        "logits.bytes",
    ]
    assert contract.states[0].first_shape == (1, decoders.HEADS, 0, decoders.SIZE)
    assert {each.name for each in model.signature.outputs} == {
        "logits.characters",
        "logits.finished",
        *(each.output.name for each in contract.states),
    }
