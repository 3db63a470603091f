"""The kind `generated`: a score for each token that can follow, of which the graph chooses one per step."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract import tokenization
from packager.contract.generation import caches, chat
from packager.contract.generation.choosing import Sampling
from packager.contract.generation.inputs import Cache, Names, Prompt, StartTokens
from packager.contract.generation.step import TokenStep
from packager.contract.kind import Expanded, InputKind, Tokenizing
from packager.contract.tokenization.decoder import Decoding
from packager.core.errors import ConfigError, SettingError, nearest
from packager.core.signature import Signature
from packager.core.strict_tables import STRICT

MASK, POSITIONS = "attention_mask", "position_ids"
"""names that exporters give to these inputs"""
IDS, LATER = "decoder_input_ids", "use_cache_branch"
"""inputs of a decoder with an encoder: token ids, and whether this is a further step"""
HIDDEN = "encoder_hidden_states"
"""input of a decoder whose encoder is not in the graph"""
OF_SAMPLING = ("temperature", "top_k", "top_p")


@dataclass(frozen=True, kw_only=True)
class Generated:
    """Logits of a decoder: `[1, tokens, n]` or `[1, n]`; those of the last token count.

    A run of the graph is a step: it chooses a token, and gives the characters that it completes. The text is that of
    Hugging Face's tokenizers for all tokens, without special ones. The model's caches, if it has any, are states.
    """

    KIND: ClassVar[str] = "generated"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["generated"] = "generated"
    """kind of the output"""
    stop_tokens: tuple[str, ...] = ()
    """tokens that end the text and are no part of it, as in `["<|endoftext|>"]`; `generation_config.json` beside the
    model often names their ids"""
    start_tokens: tuple[str, ...] = ()
    """for a model with an `encoder`: tokens that the decoder begins with, as in `["<s>"]`; `decoder_start_token_id` in
    `generation_config.json` beside the model is the id of the first"""
    max_new_tokens: int = 128
    """number of tokens after which the text ends in any case"""
    strategy: Literal["greedy", "sample"] = "greedy"
    """`greedy`: the token with the largest logit; `sample`: a random one, which depends on a seed that apps can pass"""
    temperature: float = 1.0
    """for `sample`: divides the logits; below 1 likely tokens become likelier"""
    top_k: int = 50
    """for `sample`: number of likeliest tokens to choose from; 0 for all"""
    top_p: float = 1.0
    """for `sample`: chooses from the likeliest tokens that together have this probability"""
    repetition_penalty: float = 1.0
    """divides the logits of tokens that the prompt or the text has already, as in arXiv:1909.05858"""
    tokenizer: Path | None = None
    """`tokenizer.json` whose decoder makes text of tokens; default: that of the text input"""
    chat_template: Path | None = None
    """`tokenizer_config.json` or `chat_template.jinja`: apps pass conversations to `chat`, and the tokenizer's own
    template adds nothing to a prompt any more"""
    chat_values: dict[str, bool | int | str] = field(default_factory=dict)
    """values of names that the chat template reads, as in `{ enable_thinking = false }`"""
    caches: dict[str, str] = field(default_factory=dict)
    """inputs that are caches, and the outputs with their next values; default: those with the usual names, such as
    `past_key_values.0.key` and `present.0.key`"""
    mask: str = ""
    """input that is 1 for each token; default: `attention_mask`, if the model has it"""
    positions: str = ""
    """input with the position of each token; default: `position_ids`, if the model has it"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        defaults = {each.name: each.default for each in fields(self)}
        for key in OF_SAMPLING:
            if self.strategy == "greedy" and getattr(self, key) != defaults[key]:
                shown = key.replace("_", "-")
                raise SettingError(f"{shown} has no effect with strategy 'greedy'", hint='use strategy = "sample"')
        if self.chat_values and not self.chat_template:
            raise SettingError(
                "chat-values has no effect without chat-template", hint="name the template, or remove it"
            )
        for key, is_fine, words in (
            ("max_new_tokens", self.max_new_tokens >= 1, "use a number of tokens"),
            ("temperature", 0 < self.temperature < 1e6, "use a number above 0; greedy is without randomness"),
            ("top_k", self.top_k >= 0, "use a number of tokens, or 0 for all"),
            ("top_p", 0 < self.top_p <= 1, "use a probability above 0, up to 1"),
            ("repetition_penalty", 0 < self.repetition_penalty < 1e6, "use 1 for none, and 1.1 or 1.2 for some"),
        ):
            if not is_fine:
                raise SettingError(f"{key.replace('_', '-')} cannot be {getattr(self, key)}", hint=words)

    def within(self, folder: Path) -> Self:
        return replace(
            self,
            tokenizer=folder / self.tokenizer if self.tokenizer else None,
            chat_template=folder / self.chat_template if self.chat_template else None,
        )

    def expanded(self, name: str, inputs: Mapping[str, InputKind], signature: Signature) -> Expanded:
        if HIDDEN in {spec.name for spec in signature.inputs}:
            raise ConfigError(
                f"the model takes '{HIDDEN}', which its encoder makes",
                hint='name the encoder in the model\'s table: encoder = "encoder_model.onnx"',
            )
        if f"past_key_values.{HIDDEN}" in {spec.name for spec in signature.inputs}:
            return self._with_encoder(name, inputs, signature)
        if self.start_tokens:
            raise ConfigError("start-tokens has no effect on a model without an encoder", hint="remove it")
        table = chat.read(self.chat_template, self.chat_values) if self.chat_template else None
        prompts = {each: kind for each, kind in inputs.items() if isinstance(kind, Tokenizing)}
        if len(prompts) != 1:
            raise ConfigError(
                f"{len(prompts)} inputs are texts, not one that is the prompt",
                hint='give the input of token ids a table with kind = "text" and the tokenizer',
            )
        ((ids, text),) = prompts.items()
        if table and len(text.names) > 1:
            raise ConfigError("chat-template has no effect on a model of two texts", hint="remove it")
        found = caches.caches_of(signature, self.caches)
        for each in found:
            if each in inputs:
                raise ConfigError(f"'{each}' is a cache, and has a table of its own", hint="remove that table")
        decoding = tokenization.read_decoder(self.tokenizer or text.tokenizer)
        names = Names(output=name)
        stops = self._stops(decoding)
        mask, positions = self._filled(signature, "mask", MASK), self._filled(signature, "positions", POSITIONS)
        others = [spec.name for spec in signature.inputs if spec.name not in {ids, mask, positions, *found}]
        if table and others:
            raise ConfigError(
                f"chat-template: no conversation gives '{others[0]}', which the model takes",
                hint="remove chat-template",
            )
        prompt = Prompt(
            text=text,
            names=names,
            cache=next(iter(found), ""),
            mask=mask,
            positions=positions,
            start=stops[0],
            is_whole=table is not None,
        )
        return _expanded(ids, prompt, found, replace(self._step(names, ids, decoding, takes_all=not found), chat=table))

    def _with_encoder(self, name: str, inputs: Mapping[str, InputKind], signature: Signature) -> Expanded:
        """The tables of a decoder that begins with start tokens, and whose encoder is in the graph."""
        if self.chat_template:
            raise ConfigError("chat-template has no effect on a model with an encoder", hint="remove it")
        of_texts = [kind.tokenizer for kind in inputs.values() if isinstance(kind, Tokenizing)]
        tokenizer = self.tokenizer or (of_texts[0] if len(of_texts) == 1 else None)
        if tokenizer is None:
            raise ConfigError("tokenizer is missing", hint='name the file that makes text of tokens: "tokenizer.json"')
        if not self.start_tokens:
            raise ConfigError("start-tokens is missing", hint='name the tokens that the decoder begins with: ["<s>"]')
        decoding = tokenization.read_decoder(tokenizer)
        names, found = Names(output=name), caches.caches_of(signature, self.caches)
        start = StartTokens(names=names, tokens=_numbers(decoding, "start-tokens", self.start_tokens), later=LATER)
        step = replace(self._step(names, IDS, decoding, takes_all=False), has_encoder=True)
        return _expanded(IDS, start, found, step)

    def _step(self, names: Names, ids: str, decoding: Decoding, *, takes_all: bool) -> TokenStep:
        return TokenStep(
            names=names,
            ids=ids,
            takes_all=takes_all,
            stops=self._stops(decoding),
            decoder=decoding.decoder,
            most=self.max_new_tokens,
            penalty=self.repetition_penalty,
            sampling=Sampling(temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)
            if self.strategy == "sample"
            else None,
        )

    def _stops(self, decoding: Decoding) -> tuple[int, ...]:
        """Ids of the stop tokens."""
        if not self.stop_tokens:
            special = [token for token, number in decoding.tokens.items() if number in decoding.special]
            known = f"; special ones of the tokenizer: {', '.join(special)}" if special else ""
            raise ConfigError("stop-tokens is missing", hint=f"name the tokens that end a text{known}")
        return _numbers(decoding, "stop-tokens", self.stop_tokens)

    def left_out(self, signature: Signature) -> Mapping[str, int | None]:
        mask, positions = self._filled(signature, "mask", MASK), self._filled(signature, "positions", POSITIONS)
        found: dict[str, int | None] = dict.fromkeys(caches.caches_of(signature, self.caches))
        return found | ({mask: 0} if mask else {}) | ({positions: 1} if positions else {})

    def _filled(self, signature: Signature, key: str, usual: str) -> str:
        """Name of the input for `key`; empty if the model has none."""
        known = [spec.name for spec in signature.inputs]
        given = str(getattr(self, key))
        if given and given not in known:
            raise ConfigError(f"{key}: the model has no input '{given}'", hint=nearest(given, known))
        return given or (usual if usual in known else "")


def _numbers(decoding: Decoding, key: str, tokens: tuple[str, ...]) -> tuple[int, ...]:
    """Ids of `tokens`, the value of `key`. Raises ConfigError for one that the tokenizer does not have."""
    for token in tokens:
        if token not in decoding.tokens:
            raise ConfigError(f"{key}: the tokenizer has no '{token}'", hint=nearest(token, list(decoding.tokens)))
    return tuple(decoding.tokens[token] for token in tokens)


def _expanded(ids: str, kind: InputKind, found: Mapping[str, str], step: TokenStep) -> Expanded:
    return Expanded(inputs={ids: kind, **{each: Cache(output=after) for each, after in found.items()}}, output=step)
