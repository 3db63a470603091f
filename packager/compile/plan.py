"""Decides which file each provider of a target opens, and why; `make` then has the files made.

Decisions are pure: traits of the variant, the target's table and the providers' requirements go in, a value comes out,
and nothing is opened or converted. No machine decides otherwise than another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from packager import models
from packager.compile.compile import FP16
from packager.compile.files import make_files
from packager.core.console import Announce
from packager.core.decision import Alternative, Decision, FileSpec, GraphForm, Inside, Selection, Weighed
from packager.core.values import Format, GraphRequirements, LeftOut, Model, Plan, Precision, Style, Variant
from packager.files.store import Store
from packager.providers import CPU, provider_of
from packager.targets.target import Planned

NO_PACKING = {"session.disable_prepacking": "1"}
"""Prepacking copies every matrix into memory that stays allocated. Measured on BERT-base, 438 MB, with ONNX Runtime for
Android on x86_64 (`python -m benchmarks.loading`): 40 ms to load and 3 MB of private memory without prepacking, 372 ms
and 329 MB with it; a run of 128 tokens takes 277 ms without, 238 ms with it. Disabled on the CPU only: XNNPACK creates
its operators while packing, and its first run crashes without it. Weights in blocks are packed in any format: without
it MatMulNBits writes each matrix anew, in floats, in every run (SmolLM2 135M in 4 bits: 0.6 tokens a second, not 9)."""

TAKEN_OUT = (Precision.QDQ, Precision.WEIGHT_ONLY)
"""Quantized forms that a float graph can be recovered from."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The ORT file in which a provider needs the variant's weights: other graphs use them there."""

    provider: str
    """`coreml`"""
    file: FileSpec


@dataclass(frozen=True, kw_only=True)
class Chips:
    """The devices that open a variant."""

    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """chip -> providers that it tries before the CPU, for a variant of certain chips; empty for the target's own"""
    others: frozenset[str] = frozenset()
    """chips that open another variant"""
    measured: frozenset[str] = frozenset()
    """providers that are the fastest on some of the chips, as their settings say: they are not weighed"""

    def that_try(self, provider: str) -> tuple[str, ...]:
        """Chips that try a provider; empty for any."""
        tried = (chip for chip, order in self.orders.items() if provider in (*order, CPU.NAME))
        return tuple(sorted(tried))

    def has(self, chip: str, provider: str) -> bool:
        """Whether the devices with a chip open this variant with a provider."""
        return chip in self.that_try(provider) if self.orders else chip not in self.others


ALL_CHIPS = Chips()


def make(
    variant: Variant,
    target: Planned,
    store: Store,
    announce: Announce,
    weighed: Sequence[Weighed] = (),
    beside: Kept | None = None,
    chips: Chips = ALL_CHIPS,
) -> Plan:
    """The plan of one model for `target`: decided, then its files made. `weighed` are providers of the target's
    defaults, of which only those that are worth it get files. `beside` is a file of another target that is in the same
    package. `chips` are those that open the variant.

    Raises ModelError when a required file cannot be made.
    """
    decision = decide(variant, target, weighed=weighed, beside=beside, chips=chips)
    return make_files(decision, variant, store, announce)


def joined(found: Plan, others: Sequence[Plan]) -> Plan:
    """`found`, the plan of a target's variant, with the files of `others`: of the same model and target, each of a
    variant that certain chips open."""
    every = (found, *others)
    return replace(
        found,
        choices=tuple(choice for each in every for choice in each.choices),
        notes=tuple(dict.fromkeys(note for each in every for note in each.notes)),
        left_out=tuple(left for each in every for left in each.left_out),
    )


def decide(
    variant: Variant,
    target: Planned,
    *,
    weighed: Sequence[Weighed] = (),
    beside: Kept | None = None,
    chips: Chips = ALL_CHIPS,
) -> Decision:
    """Decides which file every provider of `target` opens on `chips`.

    Raises ModelError for a variant that is too large for the only format of `target`.
    """
    planner = _planner(variant, target, weighed, beside, chips)
    names = (*planner.providers, CPU.NAME)
    return Decision(
        model=variant.model.name,
        variant=variant.name,
        target=target.NAME,
        environment=target.environment,
        precision=variant.traits.precision,
        selections=tuple(each for name in names for each in planner.selections(name)),
        notes=tuple(dict.fromkeys(note for name in names for note in planner.notes(name))),
        left_out=tuple(replace(each, reason=planner.said(each.reason)) for each in _left_out(weighed)),
    )


def kept_weights(variant: Variant, target: Planned, found: Plan, weighed: Sequence[Weighed] = ()) -> Kept | None:
    """The file of `found`, the plan for `target`, whose weights the graphs of other targets can use; None without one
    that a provider needs whole."""
    kept = _planner(variant, target, weighed, None).kept
    is_made = any(each.style is Style.UNFUSED and each.format is Format.ORT for each in found.files)
    return kept if is_made else None


def _planner(
    variant: Variant,
    target: Planned,
    weighed: Sequence[Weighed],
    beside: Kept | None,
    chips: Chips = ALL_CHIPS,
) -> "Planner":
    dropped = {each.provider for each in _left_out(weighed)}
    wanted = [name for name in target.providers if not chips.orders or chips.that_try(name)]
    return Planner(
        variant=variant,
        target=target,
        chips=chips,
        providers=tuple(name for name in wanted if name not in dropped),
        found={each.provider: each.reason for each in weighed},
        beside=beside,
    )


def _left_out(weighed: Sequence[Weighed]) -> Iterator[LeftOut]:
    return (
        LeftOut(provider=each.provider, reason=each.reason, is_named=each.is_named, is_refused=each.is_refused)
        for each in weighed
        if not each.is_worth
    )


@dataclass(frozen=True, kw_only=True)
class Planner:
    """Decides about the files of one variant on one target."""

    variant: Variant
    target: Planned
    chips: Chips = ALL_CHIPS
    """those that open the variant"""
    providers: tuple[str, ...]
    """those of the target that get files"""
    found: Mapping[str, str]
    """provider -> the figures for which it stands before the CPU, where nobody named it"""
    beside: Kept | None = None
    """weights of another target's file in the same package"""

    def requirements(self, provider: str) -> GraphRequirements:
        return provider_of(provider).requirements(self.variant.traits)

    def selections(self, provider: str) -> Iterator[Selection]:
        """The files of one provider: those compiled for certain chips, then the one for all others."""
        return (
            replace(each, variant=self.variant.name if self.chips.orders else "") for each in self._selections(provider)
        )

    def said(self, reason: str) -> str:
        """`reason`, after the name of a variant that is not the target's."""
        return f"variant '{self.variant.name}': {reason}" if self.chips.orders else reason

    def _selections(self, provider: str) -> Iterator[Selection]:
        requirements = self.requirements(provider)
        form, why = self._form(requirements)
        if provider_of(provider).IS_COMPILED_FOR_CHIPS:
            for chip in self.target.soc_models:
                if not self.chips.has(chip, provider):
                    continue
                ahead = FileSpec(form=form, style=Style.CONTEXT, format=Format.ONNX, chip=chip)
                because = self.said("compiled ahead of time: nothing is left to compile when the app starts")
                yield Selection(provider=provider, file=ahead, reason=because, soc_models=(chip,))
        chips = self.chips.that_try(provider)
        file, other = self._file(form, requirements)
        yield Selection(
            provider=provider,
            file=file,
            reason=self.said("; ".join(filter(None, (other or why, self.found.get(provider), self._narrowed(form))))),
            soc_models=chips,
            settings=self._settings(provider, file),
            cpu_nodes_key=requirements.cpu_nodes_key if self.variant.model.contract else "",
            alternative=self._alternative(provider, form, file, requirements),
        )
        if file.format is Format.ORT and file.processor and self.target.format != "ort":
            others = self.said("phones without 16-bit arithmetic: the runtime computes in 32 bits there")
            companion = self._unfused(form, file)
            yield Selection(provider=provider, file=companion, reason=others, soc_models=chips, is_companion=True)

    def notes(self, provider: str) -> Iterator[str]:
        where = f"model '{self.variant.model.name}' on {self.target.NAME}"
        requirements = self.requirements(provider)
        if requirements.note:
            yield f"{where}: {requirements.note}"
        if self._is_float16 and self._float16[0] != self.target.float16:
            yield f"{where}: {self._float16[1]}"

    def _settings(self, provider: str, file: FileSpec) -> Mapping[str, str]:
        return NO_PACKING if provider == CPU.NAME and not self._packs(file) else {}

    def _packs(self, file: FileSpec) -> bool:
        needs = file.style is not Style.PLAIN or self.variant.traits.precision is Precision.WEIGHT_ONLY
        return needs if self.target.prepacking == "auto" else self.target.prepacking == "on"

    def _form(self, requirements: GraphRequirements) -> tuple[GraphForm, str]:
        """The graph whose numbers suit the provider, and why."""
        traits, reason = self.variant.traits, requirements.reason
        if requirements.needs_float and self.variant.weights:
            return GraphForm.MODEL, f"{reason}; the float model it was made of"
        if requirements.needs_float and traits.precision in TAKEN_OUT:
            return GraphForm.DEQUANTIZED, f"{reason}; the quantization is taken out of the model for it"
        is_signed = traits.precision is Precision.QDQ and "int8" in traits.activations.split("+")
        if requirements.needs_unsigned and is_signed:
            return GraphForm.UNSIGNED, f"{reason}; int8 activations re-encoded as uint8 (identical values)"
        return self._own, reason

    @property
    def _own(self) -> GraphForm:
        """The variant, in floats that the target's runtime has."""
        has_contract = self.variant.model.contract is not None
        return GraphForm.SINGLE if has_contract and self.target.no_float64 else GraphForm.VARIANT

    def _narrowed(self, form: GraphForm) -> str:
        return f"its contract in 32-bit floats: {self.target.no_float64}" if form is GraphForm.SINGLE else ""

    def _file(self, form: GraphForm, requirements: GraphRequirements) -> tuple[FileSpec, str]:
        """The file, and why it is another than the one wished for; empty when it is that one."""
        weighed: Model | Variant = self.variant.model if form is GraphForm.MODEL else self.variant
        if self.target.format == "ort":
            models.refuse_too_large(weighed)
        beside = (
            "; its weights lie beside it, where this provider may not find them" if requirements.needs_one_file else ""
        )
        if not models.fits_ort_format(weighed):
            size = f"{weighed.size_bytes / 2**30:.1f} GiB"
            return self._plain(form), f"over 2 GiB ({size}): ORT format cannot hold it{beside}"
        if self.target.format == "onnx":
            return self._plain(form), f'format = "onnx": the runtime rewrites the graph at every load{beside}'
        meaning = ""
        if self._is_float16:
            how, meaning = self._float16
            if how == "onnx":
                return self._plain(form), meaning
        if requirements.style is Style.FIXED:
            return self._fixed(form, requirements, meaning)
        if self.target.format == "ort":
            return self._ort_only(form, requirements)
        if requirements.needs_one_file:
            # ORT format would hold the casts to 32 bits that its writer inserts.
            return (self._whole(form) if self._is_float16 else self._ort(form, Style.UNFUSED)), ""
        has_same_weights = form in (self._own, GraphForm.UNSIGNED)
        return self._unfused(form, self._base if has_same_weights else None), ""

    def _fixed(self, form: GraphForm, requirements: GraphRequirements, meaning: str) -> tuple[FileSpec, str]:
        """The file with every rewrite for ARM's CPU."""
        if not self.kept:
            return self._base, meaning
        fused = FileSpec(form=form, style=Style.FIXED, format=Format.ONNX, over=self._base)
        return fused, f"{requirements.reason}, the weights in the one for {self.kept.provider}"

    def _ort_only(self, form: GraphForm, requirements: GraphRequirements) -> tuple[FileSpec, str]:
        """The file of a provider that takes nodes, where only ORT format ships."""
        if not requirements.refuses_ort:
            return self._ort(form, Style.UNFUSED, self._processor), ""
        because = f'the CPU\'s file, because format = "ort" and {requirements.refuses_ort}'
        return self._ort(form, Style.FIXED, self._processor), because

    def _alternative(
        self, provider: str, form: GraphForm, file: FileSpec, requirements: GraphRequirements
    ) -> Alternative | None:
        """The file for a graph that ORT format cannot hold as in `file`, and why it is that one."""
        if file.style is Style.PLAIN:
            return None
        if self.target.format != "ort":
            other, beginning = self._plain(form), "ships as ONNX: it has"
        elif requirements.style is Style.FIXED:
            return None
        else:
            other = self._ort(form, Style.FIXED, self._processor)
            beginning = "the CPU's file: unfused, the graph has"
        if other == file:
            return None
        beginning = self.said(beginning)
        return Alternative(file=other, beginning=beginning, settings=self._settings(provider, other))

    @cached_property
    def kept(self) -> Kept | None:
        """The file that keeps the weights for the other graphs, because a provider needs them there; None without a
        provider that opens the variant as it is in ORT format."""
        precision = self.variant.traits.precision
        if self.target.format != "auto" or precision is Precision.FLOAT16 or precision in TAKEN_OUT:
            return None
        needy = next((name for name in self.providers if self.requirements(name).needs_one_file), "")
        if not needy:
            return self.beside
        return Kept(provider=needy, file=self._ort(self._own, Style.UNFUSED, self._processor))

    @cached_property
    def _base(self) -> FileSpec:
        """The ORT file that holds the variant's weights."""
        return self.kept.file if self.kept else self._ort(self._own, Style.FIXED, self._processor)

    def _ort(self, form: GraphForm, style: Style, processor: str = "") -> FileSpec:
        has_key = self._has_cache_key and style is Style.UNFUSED
        return FileSpec(form=form, style=style, format=Format.ORT, processor=processor, has_cache_key=has_key)

    def _unfused(self, form: GraphForm, over: FileSpec | None) -> FileSpec:
        """ONNX graph over the weights of `over`."""
        return FileSpec(
            form=form,
            style=Style.UNFUSED,
            format=Format.ONNX,
            processor=over.processor if over else "",
            has_cache_key=self._has_cache_key,
            inside=self._inside,
            over=over,
        )

    def _whole(self, form: GraphForm) -> FileSpec:
        """ONNX file with its weights inside."""
        return FileSpec(
            form=form,
            style=Style.UNFUSED,
            format=Format.ONNX,
            processor=self._processor,
            has_cache_key=self._has_cache_key,
            inside="weights",
        )

    def _plain(self, form: GraphForm) -> FileSpec:
        return FileSpec(
            form=form,
            style=Style.PLAIN,
            format=Format.ONNX,
            has_cache_key=self._has_cache_key,
            inside=self._inside,
        )

    @cached_property
    def _inside(self) -> Inside:
        """Tensors that every ONNX file has in the graph, so that providers can open the same file."""
        needed = map(self.requirements, self.providers)
        return "parameters" if any(each.needs_parameters_inside for each in needed) else "nothing"

    @cached_property
    def _has_cache_key(self) -> bool:
        """Whether a provider of the target looks for its cache's key in the files that it opens."""
        return any(self.requirements(name).needs_cache_key for name in self.providers)

    @cached_property
    def _processor(self) -> str:
        return FP16 if self._is_float16 and self._float16[0] == "native" else ""

    @property
    def _is_float16(self) -> bool:
        return self.variant.traits.precision is Precision.FLOAT16

    @cached_property
    def _float16(self) -> tuple[str, str]:
        """How 16-bit floats of the variant ship, and what that means on phones."""
        how, reason = self.target.float16, ""
        if how == "onnx" and self.target.format == "ort":
            how, reason = "float32", 'format = "ort" leaves no ONNX file; '
        meaning = {
            "native": "computes in 16 bits, on ARMv8.2 cores with FP16: phones since about 2018",
            "onnx": "ships as ONNX: each phone's runtime decides whether to compute in 16 or 32 bits",
            "float32": "ships in 32 bits, at twice the size",
        }
        return how, f"{reason}{meaning[how]}"
