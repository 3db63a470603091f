"""Write Arabic names in Latin letters: arabic-name-romanizer (MIT), two GRUs with attention, character by character.

`files` lays its two ONNX files out as Hugging Face's optimum would: the encoder's last state travels at the end of its
result. The reference is a plain loop over the files as they are.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from benchmarks.tasks.graph import BOOL, FLOAT, INT64, Graph
from benchmarks.tasks.packages import content, unpacked
from benchmarks.tasks.task import predictor

PIN, FOLDER = "model-romanizer", "arabic_name_romanizer/resources"
START, STOP, UNKNOWN = "<BOS>", "<EOS>", "<UNK>"
BEFORE = ("<UNK_COUNTRY>", "<ROLE_UNKNOWN>")
"""tokens before a name: no country, and neither a given name nor a surname"""
WIDTH, LAYERS, MOST_TOKENS = 256, 2, 31
NAMES = """محمد أحمد فاطمة عبدالله خالد يوسف مريم ابراهيم حسن حسين علي عمر عثمان زينب خديجة سارة ليلى نور سعيد طارق
جمال كمال رشيد فيصل سلمان منصور ناصر هاشم ياسين زكريا داود سليمان موسى عيسى بلال حمزة مصطفى محمود عادل كريم
نادية سميرة رانيا هدى أمينة لطيفة وفاء شيماء الخطيب النجار""".split()


def tokenizer() -> Tokenizer:
    """The characters of the package's vocabulary."""
    tokens = json.loads(content(PIN, f"{FOLDER}/vocab.json"))["tokens"]
    made = Tokenizer(models.WordLevel({token: number for number, token in enumerate(tokens)}, unk_token=UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    around = [(token, made.token_to_id(token)) for token in (*BEFORE, STOP)]
    made.post_processor = processors.TemplateProcessing(single=" ".join([*BEFORE, "$A", STOP]), special_tokens=around)
    made.decoder = decoders.Fuse()
    special = [token for token in tokens if token.startswith("<") and token.endswith(">")]
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in special])
    return made


def files(folder: Path) -> None:
    """`encoder_model.onnx`, `decoder_model_merged.onnx` and `tokenizer.json`."""
    onnx.save(encoder(), folder / "encoder_model.onnx")
    onnx.save(decoder(), folder / "decoder_model_merged.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))


def _original(name: str) -> onnx.ModelProto:
    return onnx.load_model_from_string(content(PIN, f"{FOLDER}/{name}.onnx"))


def encoder() -> onnx.ModelProto:
    graph, own = Graph(), _original("encoder")
    graph.weights = {each.name: each for each in own.graph.initializer}
    graph.op("Cast", "input_ids", to=INT64, out="src")
    graph.op("Not", graph.op("Cast", "attention_mask", to=BOOL), out="src_mask")
    graph.nodes += [node for node in own.graph.node if node.output[0] != "src_mask_out"]
    graph.op("Concat", "memory_out", "hidden_out", axis=1, out="last_hidden_state")
    row = ["batch_size", "encoder_sequence_length"]
    return graph.model(
        [("input_ids", INT64, row), ("attention_mask", INT64, row)],
        [("last_hidden_state", FLOAT, ["batch_size", "encoder_hidden_length", WIDTH])],
    )


def decoder() -> onnx.ModelProto:
    """The first step begins with the encoder's last state, the others with `state`."""
    graph, own = Graph(), _original("decoder")
    graph.weights = {each.name: each for each in own.graph.initializer}
    later, first = graph.branch(), graph.branch()
    past = later.op("Identity", "state", out="later_state")
    given = first.op("Slice", "encoder_hidden_states", [-LAYERS], [2**31], [1], out="first_state")
    graph.choice("use_cache_branch", (later, [past]), (first, [given]), ["hidden"])
    graph.op("Slice", "encoder_hidden_states", [0], [-LAYERS], [1], out="memory")
    graph.op("Not", graph.op("Cast", "encoder_attention_mask", to=BOOL), out="src_mask")
    graph.op("Identity", "input_ids", out="prefix")
    graph.nodes += own.graph.node
    graph.op("Unsqueeze", "logprobs", [1], out="logits")
    graph.op("Identity", "hidden_out", out="next_state")
    row = ["batch_size", "decoder_sequence_length"]
    return graph.model(
        [
            ("input_ids", INT64, row),
            ("encoder_hidden_states", FLOAT, ["batch_size", "encoder_hidden_length", WIDTH]),
            ("encoder_attention_mask", INT64, ["batch_size", "encoder_sequence_length"]),
            ("state", FLOAT, [1, LAYERS, WIDTH]),
            ("use_cache_branch", BOOL, [1]),
        ],
        [
            ("logits", FLOAT, ["batch_size", 1, tokenizer().get_vocab_size()]),
            ("next_state", FLOAT, [1, LAYERS, WIDTH]),
        ],
    )


def reference() -> Callable[[str], str]:
    """The likeliest characters for a name, by the two files as they are."""
    known = tokenizer()
    encode, decode = (predictor(unpacked(PIN, f"{FOLDER}/{name}.onnx")) for name in ("encoder", "decoder"))

    def text(name: str) -> str:
        ids = numpy.array([known.encode(name).ids])
        memory, mask, hidden = encode({"src": ids, "src_mask": numpy.zeros(ids.shape, bool)}).values()
        start, stop = (known.encode(each, add_special_tokens=False).ids[0] for each in (START, STOP))
        made = [start]
        while len(made) <= MOST_TOKENS:
            given = {"prefix": numpy.array([made]), "memory": memory, "src_mask": mask, "hidden": hidden}
            scores, hidden = decode(given).values()
            made.append(int(scores[0].argmax()))
            if made[-1] == stop:
                break
        return str(known.decode(made))

    return text
