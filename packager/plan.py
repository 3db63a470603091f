"""Plans which file each provider of a target opens, and makes those files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from packager import models
from packager.compile.cache_key import with_room
from packager.compile.compile import (
    FP16,
    OrtFormatError,
    compile_for_chip,
    compile_fused,
    compile_plain,
    compile_unfused,
    compile_variant,
)
from packager.compile.external import Inside
from packager.core.contract import TensorInput
from packager.core.values import Choice, Compiled, GraphRequirements, Plan, Precision, Style, Traits, Variant, baseline
from packager.environments.arm64 import Arm64
from packager.files.store import Store
from packager.models.graphs import read_graph
from packager.models.traits import traits
from packager.providers import CPU, provider_of
from packager.quantization.making import draft_of
from packager.quantizers import REWRITES
from packager.targets import Planned

Announce = Callable[[str], None]
"""Reports progress: called with a few words before each file is made."""

NO_PACKING = {"session.disable_prepacking": "1"}
"""Prepacking copies every matrix into memory that stays allocated. Measured on BERT-base, 438 MB, with ONNX Runtime for
Android on x86_64 (`python -m benchmarks.loading`): 40 ms to load and 3 MB of private memory without prepacking, 372 ms
and 329 MB with it; a run of 128 tokens takes 277 ms without, 238 ms with it. Disabled on the CPU only: XNNPACK creates
its operators while packing, and its first run crashes without it."""

TAKEN_OUT = (Precision.QDQ, Precision.WEIGHT_ONLY)
"""Quantized forms that a float graph can be recovered from."""


def make(variant: Variant, target: Planned, store: Store, announce: Announce) -> Plan:
    """The plan of one model for `target`, its files made.

    Raises ModelError when a required file cannot be made.
    """
    planner = Planner(variant=variant, target=target, store=store, announce=announce)
    choices = [choice for name in (*target.providers, CPU.NAME) for choice in planner.choices(name)]
    notes = dict.fromkeys(note for name in (*target.providers, CPU.NAME) for note in planner.notes(name))
    return Plan(
        model=variant.model,
        target=target.NAME,
        choices=tuple(choices),
        notes=tuple(notes),
        precision=planner.traits.precision,
    )


@dataclass(frozen=True, kw_only=True)
class Planner:
    variant: Variant
    target: Planned
    store: Store
    announce: Announce

    @cached_property
    def traits(self) -> Traits:
        found = traits(read_graph(self.variant.graph))
        contract = self.variant.model.contract
        if contract is None:
            return found
        passed = [each.spec for each in contract.parameters if isinstance(each, TensorInput)]
        # inputs that the contract prepares do not count
        return replace(found, has_dynamic_shapes=not all(spec.is_static for spec in passed))

    def requirements(self, provider: str) -> GraphRequirements:
        return provider_of(provider).requirements(self.traits)

    def choices(self, provider: str) -> Iterator[Choice]:
        """The files of one provider: those compiled for certain chips, then the one for all others."""
        requirements = self.requirements(provider)
        variant, reason = self._fitted(requirements)
        if provider_of(provider).IS_COMPILED_FOR_CHIPS:
            for chip in self.target.soc_models:
                self.announce(f"compile {self.variant.model.name} for {chip}")
                compiled = compile_for_chip(variant, chip, self.store)
                because = "compiled ahead of time: nothing is left to compile when the app starts"
                yield Choice(provider=provider, compiled=compiled, reason=because, soc_models=(chip,))
        try:
            compiled, because = self._compile(variant, requirements)
        except OrtFormatError as refusal:
            compiled, because = self._instead(variant, requirements, refusal)
        if provider == CPU.NAME and not self._packs(compiled):
            compiled = replace(compiled, settings={**compiled.settings, **NO_PACKING})
        yield Choice(provider=provider, compiled=compiled, reason=because or reason)
        if compiled.processor and self.target.format != "ort":
            others = "phones without 16-bit arithmetic: the runtime computes in 32 bits there"
            unfused = self._unfused(variant, compiled)
            yield Choice(provider=provider, compiled=unfused, reason=others)

    def notes(self, provider: str) -> Iterator[str]:
        where = f"model '{self.variant.model.name}' on {self.target.NAME}"
        requirements = self.requirements(provider)
        if requirements.note:
            yield f"{where}: {requirements.note}"
        if self.traits.precision is Precision.FLOAT16 and self._float16()[0] != self.target.float16:
            yield f"{where}: {self._float16()[1]}"

    def _packs(self, compiled: Compiled) -> bool:
        is_plain = compiled.style is Style.PLAIN
        return not is_plain if self.target.prepacking == "auto" else self.target.prepacking == "on"

    def _fitted(self, requirements: GraphRequirements) -> tuple[Variant, str]:
        """The variant whose numbers suit the provider, and why."""
        if requirements.needs_float and self.variant.weights:
            return baseline(self.variant.model), f"{requirements.reason}; the float model it was made of"
        if requirements.needs_float and self.traits.precision in TAKEN_OUT:
            variant = self._rewritten("dequantized", "float")
            return variant, f"{requirements.reason}; the quantization is taken out of the model for it"
        is_signed = self.traits.precision is Precision.QDQ and "int8" in self.traits.activations.split("+")
        if requirements.needs_unsigned and is_signed:
            variant = self._rewritten("unsigned", "unsigned")
            return variant, f"{requirements.reason}; int8 activations re-encoded as uint8 (identical values)"
        return self.variant, requirements.reason

    def _rewritten(self, quantizer: str, suffix: str) -> Variant:
        draft = draft_of(self.variant.graph, self.variant.data_folder)
        REWRITES[quantizer]().quantize(draft)
        return replace(self.variant, name=f"{self.variant.name}-{suffix}", quantizer=quantizer, graph=draft.finish())

    def _compile(self, variant: Variant, requirements: GraphRequirements) -> tuple[Compiled, str]:
        """The file, and why it is another than the one wished for; empty when it is that one."""
        size = variant.size_bytes
        if self.target.format == "ort":
            models.refuse_too_large(variant)
        beside = (
            "; its weights lie beside it, where this provider may not find them" if requirements.needs_one_file else ""
        )
        if not models.fits_ort_format(variant):
            return self._plain(variant), f"over 2 GiB ({size / 2**30:.1f} GiB): ORT format cannot hold it{beside}"
        if self.target.format == "onnx":
            return self._plain(variant), f'format = "onnx": the runtime rewrites the graph at every load{beside}'
        processor = meaning = ""
        if self.traits.precision is Precision.FLOAT16:
            how, meaning = self._float16()
            if how == "onnx":
                return self._plain(variant), meaning
            processor = FP16 if how == "native" else ""
        if requirements.style is Style.FIXED:
            if self._keeper:
                self.announce(f"write {variant.model.name} ({variant.name}, fixed)")
                fused = compile_fused(variant, self.store, self._base(processor))
                return fused, f"{requirements.reason}, the weights in the one for {self._keeper}"
            return self._base(processor), meaning
        if self.target.format == "ort":
            if requirements.refuses_ort:
                because = f'the CPU\'s file, because format = "ort" and {requirements.refuses_ort}'
                return self._ort(variant, Style.FIXED, processor), because
            return self._ort(variant, Style.UNFUSED, processor), ""
        if requirements.needs_one_file:
            # ORT format would hold the casts to 32 bits that its writer inserts.
            is_ort = self.traits.precision is not Precision.FLOAT16
            return self._ort(variant, Style.UNFUSED) if is_ort else self._whole(variant, processor), ""
        has_same_weights = variant is self.variant or variant.quantizer == "unsigned"
        return self._unfused(variant, self._base(processor) if has_same_weights else None), ""

    @cached_property
    def _keeper(self) -> str:
        """The provider whose file keeps the weights for the other graphs, because it needs them there; empty without
        one that opens the variant as it is in ORT format."""
        precision = self.traits.precision
        is_open = self.target.format == "auto" and precision is not Precision.FLOAT16 and precision not in TAKEN_OUT
        return next((name for name in self.target.providers if is_open and self.requirements(name).needs_one_file), "")

    def _base(self, processor: str) -> Compiled:
        """The ORT file that holds the variant's weights."""
        return self._ort(self.variant, Style.UNFUSED if self._keeper else Style.FIXED, processor)

    def _instead(
        self, variant: Variant, requirements: GraphRequirements, refusal: OrtFormatError
    ) -> tuple[Compiled, str]:
        """The file for a graph that ORT format cannot hold as wished, and why it is that one."""
        if self.target.format != "ort":
            return self._plain(variant), f"ships as ONNX: it has {refusal.unheld} that ORT format cannot hold"
        if requirements.style is Style.FIXED:
            raise refusal
        is_native = self.traits.precision is Precision.FLOAT16 and self._float16()[0] == "native"
        because = f"the CPU's file: unfused, the graph has {refusal.unheld} that ORT format cannot hold"
        return self._ort(variant, Style.FIXED, FP16 if is_native else ""), because

    def _ort(self, variant: Variant, style: Style, processor: str = "") -> Compiled:
        key = variant.name, style, processor
        if key not in self._attempts:
            self.announce(f"convert {variant.model.name} ({variant.name}, {style})")
            try:
                asked = variant if style is Style.FIXED else self._named(variant)
                made = compile_variant(asked, self.store, style=style, processor=processor)
                self._attempts[key] = replace(made, variant=variant)
            except OrtFormatError as refusal:
                self._attempts[key] = refusal
        found = self._attempts[key]
        if isinstance(found, OrtFormatError):
            raise found
        return found

    @cached_property
    def _attempts(self) -> dict[tuple[str, Style, str], Compiled | OrtFormatError]:
        """Conversions to ORT format by key, failed ones included, so that none is repeated."""
        return {}

    def _unfused(self, variant: Variant, fixed: Compiled | None) -> Compiled:
        """ONNX graph over the weights of `fixed`."""
        if variant.name not in self._graphs:
            self.announce(f"write {variant.model.name} ({variant.name}, unfused)")
            made = compile_unfused(
                self._named(variant),
                self.store,
                fixed,
                processor=fixed.processor if fixed else "",
                inside=self._inside,
            )
            self._graphs[variant.name] = replace(made, variant=variant)
        return self._graphs[variant.name]

    @cached_property
    def _inside(self) -> Inside:
        """Weights that every ONNX file has in the graph, so that providers can open the same file."""
        needed = map(self.requirements, self.target.providers)
        return "parameters" if any(each.needs_parameters_inside for each in needed) else "nothing"

    @cached_property
    def _graphs(self) -> dict[str, Compiled]:
        """Unfused ONNX files by variant."""
        return {}

    def _whole(self, variant: Variant, processor: str) -> Compiled:
        """ONNX file with its weights inside."""
        self.announce(f"write {variant.model.name} ({variant.name}, unfused)")
        made = compile_unfused(self._named(variant), self.store, None, processor=processor, inside="weights")
        return replace(made, variant=variant)

    def _plain(self, variant: Variant) -> Compiled:
        self.announce(f"write {variant.model.name} ({variant.name}) as ONNX")
        return replace(compile_plain(self._named(variant), self.store, inside=self._inside), variant=variant)

    def _named(self, variant: Variant) -> Variant:
        """`variant` with room in its graph for the key of a provider's cache, where one of the target looks for it."""
        is_wanted = any(self.requirements(name).needs_cache_key for name in self.target.providers)
        return replace(variant, graph=with_room(variant.graph)) if is_wanted else variant

    def _float16(self) -> tuple[str, str]:
        """How 16-bit floats of the variant ship, and what that means on phones."""
        how, reason = self.target.float16, ""
        if how == "native" and (reason := Arm64().unsupported()):
            how = self.target.float16_fallback
            reason = f"float16 cannot be converted for ARM here ({reason}); "
        if how == "onnx" and self.target.format == "ort":
            how, reason = "float32", f'{reason}format = "ort" leaves no ONNX file; '
        meaning = {
            "native": "computes in 16 bits, on ARMv8.2 cores with FP16: phones since about 2018",
            "onnx": "ships as ONNX: each phone's runtime decides whether to compute in 16 or 32 bits",
            "float32": "ships in 32 bits, at twice the size",
        }
        return how, f"{reason}{meaning[how]}"
