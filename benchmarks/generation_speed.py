"""Speed of a generated text, beside ONNX Runtime GenAI: `python -m benchmarks.generation_speed NAME=FILE ...`.

A file is an .ort file of mobpack, or a folder that GenAI's own model builder made of the same weights. mobpack's side
has tokenizer and choice of tokens in the graph, and the loop of Kotlin's runtime: states are handed on as they are.
GenAI's caches have room for this text alone. Each side is a process of its own, with one thread, and they take turns.
Times are those of the processor, which other programs on the machine change less than those of a clock.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = "The quick brown fox jumps over the lazy dog near the river bank. " * 40
CHARACTERS, MOST, ROUNDS, THREADS = 600, 24, 3, 1
OURS = """
import json, resource, sys, time
import numpy, onnxruntime
path, text, most, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
for key in ("use_memory_mapped_ort_model", "use_ort_model_bytes_for_initializers"):
    options.add_session_config_entry(f"session.{key}", "1")
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
outputs = [each.name for each in session.get_outputs()]
value = onnxruntime.OrtValue.ortvalue_from_numpy
def zeros(each):
    element = numpy.int64 if "int64" in each.type else numpy.float32
    return value(numpy.zeros([size if isinstance(size, int) else 0 for size in each.shape], element))
given, states = {}, {}
for each in session.get_inputs():
    if each.name.endswith(".text"):
        prompt = each.name
        continue
    given[each.name] = zeros(each)
    end = each.name.rpartition(".")[2]
    states[each.name] = next(
        (name for name in outputs if name.endswith(f"next {end}")), each.name.replace("past_key_values", "present")
    )
given[prompt] = value(numpy.array([ord(letter) for letter in text], numpy.int32))
ids, times = [], []
for step in range(most):
    began = time.process_time()
    found = dict(zip(outputs, session.run_with_ort_values(outputs, given)))
    times.append(time.process_time() - began)
    if not step:
        length = found["present.0.key"].shape()[2]
    ids.append(int(found[states[next(name for name in states if name.endswith("progress"))]].numpy()[1]))
    given = {name: found[after] for name, after in states.items()}
    given[prompt] = value(numpy.array([-1], numpy.int32))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"first": times[0], "tokens": length, "rest": times[1:], "peak": peak, "ids": ids}))
"""
THEIRS = """
import json, resource, sys, time
import onnxruntime_genai as genai
path, text, most, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
config = genai.Config(path)
config.overlay(json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": threads}}}}))
model = genai.Model(config)
tokenizer = genai.Tokenizer(model)
began = time.process_time()
tokens = tokenizer.encode(text)
parameters = genai.GeneratorParams(model)
parameters.set_search_options(max_length=len(tokens) + most, do_sample=False)
generator = genai.Generator(model, parameters)
generator.append_tokens(tokens)
ids, times = [], []
for step in range(most):
    generator.generate_next_token()
    ids.append(int(generator.get_next_tokens()[0]))
    times.append(time.process_time() - began)
    began = time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"first": times[0], "tokens": len(tokens), "rest": times[1:], "peak": peak, "ids": ids}))
"""


def measured(python: str, program: str, path: Path) -> dict[str, object]:
    command = [python, "-c", program, str(path), TEXT[:CHARACTERS], str(MOST), str(THREADS)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table(sides: Sequence[tuple[str, str, str, Path]], rounds: int) -> Iterator[str]:
    """A line for each of `sides`: name, interpreter, program and file; figures are medians of `rounds`, in turn."""
    found: dict[str, list[dict[str, object]]] = {name: [] for name, *_ in sides}
    for _ in range(rounds):
        for name, python, program, path in sides:
            found[name].append(measured(python, program, path))
            print(name, {key: each for key, each in found[name][-1].items() if key != "rest"}, file=sys.stderr)
    yield "| file | first token, s | prompt, tokens/s | then, tokens/s | peak memory, MB | same ids as the first file |"
    yield "|---|--:|--:|--:|--:|--:|"
    reference = next(iter(found.values()))[0]["ids"]
    for name, runs in found.items():
        first = statistics.median(float(str(each["first"])) for each in runs)
        prompt = int(str(runs[0]["tokens"])) / first
        then = statistics.median(1 / statistics.median(list(each["rest"])) for each in runs)  # type: ignore[call-overload]
        peak = max(int(str(each["peak"])) for each in runs)
        same = sum(one == other for one, other in zip(list(reference), list(runs[0]["ids"]), strict=True))  # type: ignore[call-overload]
        yield f"| {name} | {first:.2f} | {prompt:.0f} | {then:.1f} | {peak} | {same} of {MOST} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="NAME=FILE", help="an .ort file, or a folder of GenAI's builder")
    parser.add_argument("--theirs", default=sys.executable, help="Python with onnxruntime-genai")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    named = [(name, Path(path)) for name, _, path in (each.partition("=") for each in asked.files)]
    rows = [
        (name, asked.theirs, THEIRS, path) if path.is_dir() else (name, sys.executable, OURS, path)
        for name, path in named
    ]
    print("\n".join(table(rows, asked.rounds)))
