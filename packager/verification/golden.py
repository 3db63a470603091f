"""Makes the golden vectors of a package: the reference's outputs, verified on every file that must reproduce them, from
what parity has run where it ran the same samples.

Inputs are random, unless the user asks for samples of his own: those would then be in every app. Random ones take
hardly any space, because apps generate them. A model has vectors for all of its files or for none, so that a self-test
never finds a file without.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from packager import vectors
from packager.config.checks import ParityTable
from packager.core import parsing
from packager.core.characters import to_json
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.values import Plan, Variant
from packager.engines.runners import RUNNERS
from packager.files.hashes import sha256_of
from packager.files.store import Step, Store, content_key
from packager.samples import given
from packager.vectors import Allowed, Golden, ValuesRecipe, Vectors, generated
from packager.verification import parity
from packager.verification.golden_scores import Scores, sorted_scores, with_only_scores
from packager.verification.golden_tolerances import allowed_of, allowed_of_scores
from packager.verification.parity import ParitySettings, Subject

SettingsOf = Callable[[Subject], ParitySettings]
"""The parity settings of a file."""

GOLDEN = Step(
    name="golden",
    caller=__name__,
    computed_by=(
        "packager.verification.golden_scores",
        "packager.verification.golden_tolerances",
        "packager.verification.parity",
        "packager.engines.runners",
        "packager.samples",
        "packager.samples.random",
        "packager.vectors",
        "packager.vectors.generated",
    ),
)
RANDOM_SAMPLES = 2
NAME, ALLOWED = "golden.safetensors", "allowed.json"
"""Files of a stored result, if there are vectors."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """The files of a plan that are compared with the same graph."""

    original: Variant
    subjects: tuple[Subject, ...]
    variant: str
    """name of the variant that ships"""


@dataclass(frozen=True, kw_only=True)
class GoldenInputs:
    """Inputs of a model's vectors."""

    folder: Path
    """folder of .npz files, like `[parity] samples`"""
    description: str
    recipes: tuple[Mapping[str, ValuesRecipe], ...] = ()
    """recipes of every sample; empty for the user's own"""
    seed: int | None = None
    """of random ones"""
    left_out: frozenset[int] = frozenset()
    """outputs whose rows a phone may give in another order"""
    scores: Mapping[int, Scores] = field(default_factory=dict)
    """outputs of which only the sorted scores are compared, for the same reason"""

    def paths(self) -> tuple[Path, ...]:
        return tuple(sorted(self.folder.glob("*.npz")))


class NotGoldenError(Exception):
    """The reason why a model has no vectors, in words."""


class NothingToTestError(NotGoldenError):
    """No vectors could tell a phone that is right from one that is wrong: no fault of the model."""


REASONS = {"reason.txt": NotGoldenError, "nothing.txt": NothingToTestError}
"""File of a stored result that has the reason why there are no vectors."""


def golden_vectors(
    plans: Sequence[Plan],
    table: ParityTable,
    settings_of: SettingsOf,
    store: Store,
    console: Console,
    references: parity.OriginalOutputs | None = None,
) -> Golden:
    """The vectors of every file of `plans`; a warning names the models without any, and the reason. Runs that
    `references` remember are not repeated."""
    found: dict[tuple[str, str], Vectors] = {}
    if table.golden == "none":
        return found
    missing: dict[tuple[str, str, bool], list[str]] = {}
    with store.scratch() as scratch:
        known = references or parity.OriginalOutputs(scratch)
        maker = GoldenMaker(table=table, settings_of=settings_of, store=store, scratch=scratch, references=known)
        for plan in plans:
            title = f"write golden vectors of {plan.model.name} for {plan.place}"
            with console.step(title, kind="write golden vectors"):
                try:
                    found = maker.of_plan(plan) | found  # a file inside a wrapper has its own package's vectors
                except NotGoldenError as reason:
                    is_fault = not isinstance(reason, NothingToTestError)
                    missing.setdefault((plan.model.name, str(reason), is_fault), []).append(plan.place)
    for (name, reason_words, is_fault), places in missing.items():
        tell = console.warn if is_fault else console.caution
        tell(f"model '{name}' has no self-test on {', '.join(places)}: {reason_words}")
    return found


def families(plan: Plan) -> list[Family]:
    """The files of `plan`, grouped by their reference."""
    subjects: dict[tuple[bytes, Path | None], list[Subject]] = {}
    for compiled in plan.files:
        subject = Subject(variant=compiled.variant, compiled=compiled)
        subjects.setdefault((subject.original.graph, subject.original.weights), []).append(subject)
    names = {choice.compiled.sha256: choice.variant for choice in reversed(plan.choices)}
    return [
        Family(
            original=each[0].original,
            subjects=tuple(each),
            variant=plan.cpu_of(names[each[0].sha256]).variant.name,
        )
        for each in subjects.values()
    ]


@dataclass(frozen=True, kw_only=True)
class GoldenMaker:
    """Makes vectors with the settings of `[parity]`, once for the same files, from inputs that are found once for all
    targets."""

    table: ParityTable
    settings_of: SettingsOf
    store: Store
    scratch: Path
    """must exist while vectors are made"""
    references: parity.OriginalOutputs
    drawn: dict[tuple[object, ...], GoldenInputs] = field(default_factory=dict)
    """original and number of the draw -> its inputs"""

    def of_plan(self, plan: Plan) -> dict[tuple[str, str], Vectors]:
        """Raises NotGoldenError if one of its files cannot have vectors."""
        groups = families(plan)
        max_bytes = self.table.golden_max_kib * 1024 // len(groups)
        return {key: vectors for family in groups for key, vectors in self._of_family(family, max_bytes).items()}

    def _of_family(self, family: Family, max_bytes: int) -> dict[tuple[str, str], Vectors]:
        def make(folder: Path) -> None:
            try:
                allowed = self._write(family, max_bytes, folder / NAME)
                (folder / ALLOWED).write_text(json.dumps(allowed, default=asdict), encoding="utf-8", newline="\n")
            except NotGoldenError as reason:
                name = next(name for name, kind in REASONS.items() if type(reason) is kind)
                (folder / name).write_text(str(reason), encoding="utf-8", newline="\n")

        folder = self.store.results(GOLDEN, self._inputs(family, max_bytes), make)
        for name, kind in REASONS.items():
            if (folder / name).exists():
                raise kind((folder / name).read_text(encoding="utf-8"))
        golden = vectors.read(folder / NAME)
        allowed = parsing.json_of((folder / ALLOWED).read_text(encoding="utf-8"))
        return {
            (family.original.model.name, sha256): Vectors(
                golden=golden, allowed={name: Allowed(**each) for name, each in outputs.items()}
            )
            for sha256, outputs in allowed.items()
        }

    def _inputs(self, family: Family, max_bytes: int) -> list[object]:
        """Everything the vectors depend on."""
        original = family.original
        own = parity.sample_files(self.table.samples) if self.table.golden == "samples" else ()
        samples = [[path.name, sha256_of(path)] for path in own]
        (cpu,) = RUNNERS["cpu"]("")
        return [
            original.model.name,
            original.model.sha256,
            family.variant,
            hashlib.sha256(original.graph).hexdigest(),
            content_key(original.weights),
            [subject.sha256 for subject in family.subjects],
            [{**asdict(self.settings_of(subject)), "samples": samples, "typical": None} for subject in family.subjects],
            [self.table.golden, self.table.seed, max_bytes, generated.KIND],
            cpu.identity(),
        ]

    def _write(self, family: Family, max_bytes: int, path: Path) -> dict[str, Mapping[str, Allowed]]:
        """Writes the vectors to `path`; returns sha256 of every file -> output -> its tolerance."""
        try:
            inputs = self._inputs_of(family)
            settings = [replace(self.settings_of(each), samples=inputs.folder) for each in family.subjects]
            reference = self.references.of(family.original, settings[0])
        except ModelError as error:
            raise NotGoldenError(error.message) from error
        allowed: dict[str, Mapping[str, Allowed]] = {}
        for subject, each in zip(family.subjects, settings, strict=True):
            allowed[subject.sha256] = _proven(subject, each, inputs, self.references, self._new_folder())
        if len(reference.unstable) == len(family.original.model.signature.outputs):
            raise NothingToTestError("all its outputs are random")
        void = without_numbers(reference)
        if len(reference.unstable | void | inputs.left_out) == len(family.original.model.signature.outputs) and void:
            raise NotGoldenError(
                f"on {inputs.description}, its outputs are NaN, infinite or empty: nothing to compare a phone with; "
                f"{self._advice()}"
            )
        whole = [outcome.outputs for outcome in reference.outcomes if outcome.outputs]
        computed = vectors.Computed(
            samples=reference.samples.paths,
            outputs=tuple(with_only_scores(each, inputs.scores, self._new_folder() / "only") for each in whole),
            left_out=reference.unstable | void | inputs.left_out,
            recipes=inputs.recipes,
        )
        about = _about(family, inputs, allowed.values())
        if reason := vectors.write(path, family.original.model.signature, computed, about, max_bytes=max_bytes):
            raise NotGoldenError(reason)
        return allowed

    def _advice(self) -> str:
        if self.table.golden == "samples":
            return "give inputs like the app's with [parity] samples"
        given = "yours from [parity] samples" if self.table.samples else "[parity] samples like the app's inputs"
        return f'golden = "samples" in [parity] ships {given}'

    def _inputs_of(self, family: Family) -> GoldenInputs:
        """Inputs of the first draw that is not ill-conditioned; the user's samples are drawn once."""
        is_random = self.table.golden == "random" or self.table.samples is None
        drawn: list[GoldenInputs] = []
        reasons: list[str] = []
        for draw in range(1 + parity.REDRAWS if is_random else 1):
            drawn.append(self._accepted(family, draw) if is_random else self._given(family, self._new_folder()))
            try:
                return self._well_conditioned(family, drawn[-1])
            except NotGoldenError as reason:
                reasons.append(str(reason))
        in_order = self._swapped(family, drawn[0])
        if not in_order:
            raise NotGoldenError(reasons[0])
        left = replace(drawn[0], left_out=in_order)
        if len(in_order) == len(family.original.model.signature.outputs):
            left = self._with_scores(family, left)
        return self._well_conditioned(family, left)

    def _with_scores(self, family: Family, inputs: GoldenInputs) -> GoldenInputs:
        """`inputs` with the sorted scores of the outputs that are left out: nothing else stays where it is."""
        settings = replace(self.settings_of(family.subjects[0]), samples=inputs.folder)
        scores = sorted_scores(family.original, settings, self.references, inputs.left_out)
        general = settings.general.max_rel_error or 0.0
        steady = {index: each for index, each in scores.items() if each.scale and each.moves_by <= general}
        if not steady:
            raise NothingToTestError(
                f"its rows are sorted by scores that are nearly equal on {inputs.description}: a phone may give them "
                "in another order, so there is nothing to test"
            )
        return replace(inputs, left_out=inputs.left_out - steady.keys(), scores=steady)

    def _swapped(self, family: Family, inputs: GoldenInputs) -> frozenset[int]:
        """The outputs with rows that a phone may give in another order: the sorted scores themselves stay."""
        every = frozenset(range(len(family.original.model.signature.outputs)))
        settings = [replace(self.settings_of(each), samples=inputs.folder) for each in family.subjects]
        strictest = min(settings, key=lambda each: each.tolerance)
        return frozenset(
            index
            for index in parity.sorted_outputs(family.original)
            for number in range(len(inputs.paths()))
            if parity.movement(family.original, strictest, number, self.references, but=every - {index})
        )

    def _well_conditioned(self, family: Family, inputs: GoldenInputs) -> GoldenInputs:
        settings = [replace(self.settings_of(each), samples=inputs.folder) for each in family.subjects]
        return well_conditioned(family, inputs, settings, self.references, self._new_folder())

    def _accepted(self, family: Family, draw: int) -> GoldenInputs:
        """Random inputs that the original accepts, others in each draw."""
        original = family.original
        key = (original.model.name, original.model.sha256, original.graph, original.weights, draw)
        if key not in self.drawn:
            seed = self.table.seed + draw * parity.SEEDS
            self.drawn[key] = accepted(original, seed, self._new_folder(), self.references.runs)
        return self.drawn[key]

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def _given(self, family: Family, scratch: Path) -> GoldenInputs:
        """The first of the user's samples."""
        assert self.table.samples
        folder = scratch / "given"
        folder.mkdir()
        (scratch / "prepared").mkdir()
        paths = given(family.original.model, self.table.samples, scratch / "prepared").paths[: vectors.MAX_SAMPLES]
        for number, path in enumerate(paths):
            shutil.copyfile(path, folder / f"{number}.npz")
        return GoldenInputs(folder=folder, description=f"{len(paths)} given")


def without_numbers(reference: parity.Reference) -> frozenset[int]:
    """The outputs that have no finite number on any sample: a phone that fails gives NaN, too."""
    first = reference.outcomes[0].outputs
    count = len(list(first.glob("*.npy"))) if first else 0
    return frozenset(
        index
        for index in range(count)
        if not any(parity.numbers_in(parity.array_of(outcome, index))[0] for outcome in reference.outcomes)
    )


def accepted(original: Variant, seed: int, scratch: Path, runs: parity.SampleRuns) -> GoldenInputs:
    """Random inputs that `original` accepts, and that an app can generate; raises ModelError if there are none."""
    folder = scratch / "random"
    folder.mkdir()
    found = parity.random_inputs(original, folder, count=RANDOM_SAMPLES, seed=seed, earlier=runs).found
    samples = found.samples
    return GoldenInputs(
        folder=samples.paths[0].parent, description=samples.description, recipes=samples.recipes, seed=seed
    )


def well_conditioned(
    family: Family,
    inputs: GoldenInputs,
    settings: Sequence[ParitySettings],
    references: parity.OriginalOutputs,
    folder: Path,
) -> GoldenInputs:
    """The samples of `inputs` on which the original is not ill-conditioned: a phone sums in another order, and could
    fail on the others. Raises NotGoldenError if there are none."""
    strictest = min(settings, key=lambda each: each.tolerance)
    paths = inputs.paths()
    found = [
        parity.movement(family.original, strictest, number, references, but=inputs.left_out | inputs.scores.keys())
        for number in range(len(paths))
    ]
    taken = [number for number, moves in enumerate(found) if not moves]
    if len(taken) == len(paths):
        return inputs
    if not taken:
        worst = next(moves for moves in found if moves)
        raise NotGoldenError(f"on {inputs.description}, it is {worst.words}: a phone may differ as much")
    for number in taken:
        shutil.copyfile(paths[number], folder / paths[number].name)
    recipes = tuple(inputs.recipes[number] for number in taken) if inputs.recipes else ()
    return replace(inputs, folder=folder, recipes=recipes, description=f"{len(taken)} of {inputs.description}")


def _about(family: Family, inputs: GoldenInputs, allowed: Iterable[Mapping[str, Allowed]]) -> dict[str, str]:
    """Metadata of the file."""
    loosest: dict[str, Allowed] = {}
    for outputs in allowed:
        for name, each in outputs.items():
            loosest[name] = max(each, loosest.get(name, each), key=lambda one: one.rtol)
    tolerances = {name: {"rtol": each.rtol, "atol": each.atol, "scale": each.scale} for name, each in loosest.items()}
    return {
        "model": family.original.model.name,
        "model-sha256": family.original.model.sha256,
        "variant": family.variant,
        "samples": inputs.description,
        "tolerance": to_json(tolerances),
        **({} if inputs.seed is None else {"seed": str(inputs.seed)}),
    }


def _proven(
    subject: Subject, settings: ParitySettings, inputs: GoldenInputs, references: parity.OriginalOutputs, folder: Path
) -> dict[str, Allowed]:
    """Tolerances of the outputs, after the CPU here has reproduced the vectors.

    Raises NotGoldenError if it cannot: then no phone will.
    """
    (cpu,) = RUNNERS["cpu"]("")
    found = parity.check(subject, cpu, settings, folder, references).parity
    if found.refusal or found.over:
        over = next((f"output '{each.output}': {each.failure}" for each in found.over), found.refusal)
        raise NotGoldenError(
            f'the {subject.style} file, on {inputs.description}: {over}; with golden = "samples" in [parity] it would '
            "use yours"
        )
    measured = {each.output: each.max_rel_error for each in found.outputs}  # none if the file does not run here
    scales = references.of(subject.original, settings).scales
    names = [spec.name for spec in subject.variant.model.signature.outputs]
    allowed = {
        name: allowed_of(settings, name, scale=scale.value, measured=measured.get(name, 0.0))
        for name, scale in zip(names, scales, strict=True)
    }
    of_scores = {names[index]: allowed_of_scores(settings, names[index], each) for index, each in inputs.scores.items()}
    return {**allowed, **of_scores}
