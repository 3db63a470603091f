"""Makes the files of a decision, each distinct one once, and resolves its alternatives."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice

from packager.compile.cache_key import with_room
from packager.compile.compile import (
    OrtFormatError,
    compile_for_chip,
    compile_fused,
    compile_plain,
    compile_unfused,
    compile_variant,
)
from packager.core.contract import TextInput
from packager.core.decision import Decision, FileSpec, GraphForm, Selection
from packager.core.values import Choice, Compiled, Format, Plan, Style, Variant, baseline
from packager.files.store import Store
from packager.graph.rewriting import single
from packager.graph.rewriting.draft import draft_of
from packager.graph.rewriting.texts import tokenizing_nodes
from packager.models.traits import traits_of
from packager.quantizers import REWRITES

REWRITTEN = {GraphForm.DEQUANTIZED: ("dequantized", "float"), GraphForm.UNSIGNED: ("unsigned", "unsigned")}
"""Form -> the quantizer that rewrites the variant, and the end of the new variant's name."""
LONGEST_SETTING = 8192
"""characters of a value of ONNX Runtime's session configuration"""


def make_files(decision: Decision, variant: Variant, store: Store, announce: Callable[[str], None]) -> Plan:
    """The plan for which `decision` was made about `variant`; `announce` is called before each file is made.

    Raises ModelError when a required file cannot be made.
    """
    maker = Maker(variant=variant, store=store, announce=announce)
    return Plan(
        model=variant.model,
        target=decision.target,
        environment=decision.environment,
        choices=tuple(choices(decision, maker)),
        notes=decision.notes,
        precision=decision.precision,
        left_out=decision.left_out,
    )


def choices(decision: Decision, maker: "Maker") -> Iterator[Choice]:
    """The files of `decision`, or the alternatives of those that ORT format cannot hold."""
    replaced: set[str] = set()
    for each in decision.selections:
        if each.is_companion and each.provider in replaced:
            continue
        try:
            compiled = maker.file(each.file)
        except OrtFormatError as refusal:
            replaced.add(each.provider)
            yield instead(each, refusal, maker)
        else:
            yield choice(each, compiled, each.reason, each.settings, maker)


def instead(selection: Selection, refusal: OrtFormatError, maker: "Maker") -> Choice:
    """The alternative of `selection`; raises `refusal` if there is none."""
    other = selection.alternative
    if other is None:
        raise refusal
    return choice(selection, maker.file(other.file), other.reason(refusal.unheld), other.settings, maker)


def choice(
    selection: Selection, compiled: Compiled, reason: str, settings: Mapping[str, str], maker: "Maker"
) -> Choice:
    return Choice(
        provider=selection.provider,
        compiled=replace(compiled, settings={**compiled.settings, **settings, **maker.cpu_nodes(selection)}),
        reason="; ".join(filter(None, (reason, compiled.attention))),
        soc_models=selection.soc_models,
        variant=selection.variant,
    )


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Makes the files of one variant."""

    variant: Variant
    store: Store
    announce: Callable[[str], None]
    attempts: dict[FileSpec, Compiled | OrtFormatError] = field(default_factory=dict)
    """files and refusals so far, so that nothing is repeated"""
    forms: dict[GraphForm, Variant] = field(default_factory=dict)
    """rewritten variants so far"""

    def file(self, spec: FileSpec) -> Compiled:
        """Raises OrtFormatError if ORT format cannot hold it or the file that it lies over."""
        if spec not in self.attempts:
            try:
                self.attempts[spec] = self._made(spec)
            except OrtFormatError as refusal:
                self.attempts[spec] = refusal
        found = self.attempts[spec]
        if isinstance(found, OrtFormatError):
            raise found
        return found

    def cpu_nodes(self, selection: Selection) -> Mapping[str, str]:
        """The session configuration with which a provider leaves to the CPU what makes tokens of texts, and what
        computed in 64 bits."""
        from onnx import ModelProto

        contract = self.variant.model.contract
        if not selection.cpu_nodes_key or contract is None:
            return {}
        graph = ModelProto.FromString(self.variant.graph)
        wide = single.wide_nodes(graph) if selection.file.form is GraphForm.SINGLE else ()
        texts = {each.code_points.name for each in contract.inputs if isinstance(each, TextInput)}
        names = _within(LONGEST_SETTING, dict.fromkeys((*wide, *tokenizing_nodes(graph, texts))))
        return {selection.cpu_nodes_key: "\n".join(names)} if names else {}

    def _made(self, spec: FileSpec) -> Compiled:
        over = self.file(spec.over) if spec.over else None
        variant = self._form(spec.form)
        self.announce(words(spec, variant))
        asked = replace(variant, graph=with_room(variant.graph)) if spec.has_cache_key else variant
        return replace(compiled(spec, asked, over, self.store), variant=variant)

    def _form(self, form: GraphForm) -> Variant:
        if form not in self.forms:
            self.forms[form] = formed(self.variant, form)
        return self.forms[form]


def _within(characters: int, names: Collection[str]) -> list[str]:
    """The first of `names` that fit, a line each."""
    ends = accumulate(names, lambda end, name: end + len(name) + 1, initial=-1)
    return [name for name, end in zip(names, islice(ends, 1, None), strict=True) if end <= characters]


def formed(variant: Variant, form: GraphForm) -> Variant:
    """`variant` in another form."""
    if form is GraphForm.VARIANT:
        return variant
    if form is GraphForm.MODEL:
        return baseline(variant.model)
    if form is GraphForm.SINGLE:
        return _in_single(variant)
    quantizer, suffix = REWRITTEN[form]
    draft = draft_of(variant.graph, variant.data_folder)
    REWRITES[quantizer]().quantize(draft)
    graph, name = draft.finish(), f"{variant.name}-{suffix}"
    return replace(variant, name=name, quantizer=quantizer, graph=graph, traits=traits_of(variant.model, graph))


def _in_single(variant: Variant) -> Variant:
    """`variant` with the nodes of its contract in 32-bit floats."""
    from onnx import ModelProto

    proto = ModelProto.FromString(variant.graph)
    single.narrow(proto)
    return replace(variant, name=f"{variant.name}-single", graph=proto.SerializeToString(deterministic=True))


def words(spec: FileSpec, variant: Variant) -> str:
    """Describes the file that is about to be made."""
    name = variant.model.name
    if spec.chip:
        return f"compile {name} for {spec.chip}"
    if spec.style is Style.PLAIN:
        return f"write {name} ({variant.name}) as ONNX"
    return f"{'convert' if spec.format is Format.ORT else 'write'} {name} ({variant.name}, {spec.style})"


def compiled(spec: FileSpec, variant: Variant, over: Compiled | None, store: Store) -> Compiled:
    """The file of `variant`, which is in the form of `spec`; `over` is the file whose weights it uses."""
    if spec.chip:
        return compile_for_chip(variant, spec.chip, store)
    if spec.style is Style.PLAIN:
        return compile_plain(variant, store, inside=spec.inside)
    if spec.format is Format.ORT:
        return compile_variant(variant, store, style=spec.style, processor=spec.processor)
    if over and spec.style is Style.FIXED:
        return compile_fused(variant, store, over)
    return compile_unfused(variant, store, over, processor=spec.processor, inside=spec.inside)
