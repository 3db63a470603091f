"""The kind `boxes`: objects found in a picture, with their positions."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.boxes.candidates import Candidates
from packager.contract.boxes.choosing import BoxChoice, ChosenBoxes, chosen
from packager.contract.boxes.formats import DECODERS, BoxLayout, Order
from packager.contract.boxes.regions import Regions
from packager.contract.kind import AttachedOutput, Core, Placement
from packager.contract.labels import labels_for, read
from packager.contract.pictures import placement_of
from packager.contract.scores import Activation
from packager.core.contract import BoxesOutput
from packager.core.errors import SettingError
from packager.core.names import kebab_case
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

Format = Literal["yolo", "yolo-objectness", "corners", "rows", "regions"]

IOU_THRESHOLD = 0.5
SCORE_THRESHOLD, REGION_THRESHOLD = 0.25, 0.6


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """Boxes, scores and classes, best first; ties in the model's order.

    A box counts if its score is above `score-threshold`, its corners are finite and part of it is in the picture, to
    which it is clipped. Of two boxes of a class whose intersection over union is above `iou-threshold`, the one with
    the lower score is dropped (ONNX NonMaxSuppression; torchvision.ops.nms).
    """

    KIND: ClassVar[str] = "boxes"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["boxes"] = "boxes"
    """kind of the output"""
    format: Format
    """box format of the model. `yolo`: [1, 4 + n, m], centre, size and n scores (YOLOv8, 11). `yolo-objectness`: [1, m,
    5 + n], with an objectness score before the class scores (YOLOv5). `corners`: [1, m, 4], with scores in another
    output (SSD, DETR). `rows`: [1, m, 6], corners, score and class of boxes selected by the model (YOLOv10). `regions`:
    [1, 1, h, w], a probability for each place, with boxes around connected places (DB, the text detector of PP-OCR)"""
    scores: str = ""
    """of `corners`: the output with scores, [1, m, n], [1, n, m] or [1, m]"""
    classes: str = ""
    """of `corners`: the output with classes, [1, m], of a model that selects its boxes itself"""
    order: Order | None = None
    """meaning of the four numbers: `cxcywh` (default of both yolo formats), `xyxy` (default of the others), `yxyx`,
    `xywh`"""
    coordinates: Literal["pixels", "relative"] = "pixels"
    """`relative`: from 0 to 1 across the model's input picture"""
    activation: Activation = "none"
    """activation that turns scores into probabilities, if the model does not include it"""
    background: int | None = None
    """index of the background class, which is not reported; the others count from 0 without it. -1 is the last"""
    score_threshold: float | None = None
    """boxes need a higher score; default: 0.25, or 0.6 for `regions`"""
    iou_threshold: float | None = None
    """allowed overlap of two boxes; default: 0.5; 1 keeps all boxes"""
    max_boxes: int = 300
    """largest number of boxes"""
    agnostic: bool = False
    """whether boxes of different classes suppress each other"""
    multi_label: bool = False
    """whether a box counts for each class above the threshold, instead of the best only"""
    threshold: float = 0.3
    """of `regions`: places need a higher probability"""
    unclip_ratio: float = 1.5
    """of `regions`: growth of a box on each side, as a share of its area divided by its outline; DB is trained to
    detect text thinner than it is"""
    min_size: float = 3.0
    """of `regions`: smallest shorter side of a box, in places, before it grows"""
    labels: Path | None = None
    """file with one class name per line, in the model's order, without the background"""
    image: str = ""
    """the input with the picture that the boxes are in, if there are several"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        for key in ("score_threshold", "iou_threshold", "threshold"):
            value = getattr(self, key)
            if value is not None and not 0 <= value <= 1:
                raise SettingError(f"{kebab_case(key)} {value:g} is not from 0 to 1", hint="omit it for the default")
        if not (isfinite(self.unclip_ratio) and self.unclip_ratio >= 0 and isfinite(self.min_size)):
            raise SettingError(
                "unclip-ratio must be at least 0, and min-size a number", hint="omit them for the defaults"
            )
        if not 1 <= self.max_boxes <= 100_000:
            raise SettingError(f"max-boxes {self.max_boxes} is not from 1 to 100000", hint="omit it for the default")
        if self.agnostic and self.multi_label:
            raise SettingError("agnostic and multi-label contradict each other", hint="remove one of them")
        self._refuse_unused()

    def _refuse_unused(self) -> None:
        """Raises ValueError for keys that have no effect with this format, and for missing ones."""
        only = {
            "corners": ("scores", "classes", "background"),
            "regions": ("threshold", "unclip_ratio", "min_size"),
        }
        for name, keys in only.items():
            self._refuse(keys if self.format != name else (), f"it is for format '{name}'")
        if self.format == "corners" and not self.scores:
            raise SettingError("'scores' is missing", hint="set it to the output with the scores of the boxes")
        if self.format == "rows" or self.classes:
            self._refuse(("iou_threshold", "agnostic", "multi_label", "background"), "the model has chosen itself")
        if self.format == "regions":
            self._refuse(("order", "coordinates", "iou_threshold", "agnostic", "multi_label"), "regions never overlap")

    def _refuse(self, keys: tuple[str, ...], reason: str) -> None:
        """Raises ValueError if one of `keys` is set."""
        defaults = {each.name: each.default for each in fields(self)}
        for key in keys:
            if getattr(self, key) != defaults[key]:
                raise SettingError(
                    f"'{kebab_case(key)}' has no effect with format '{self.format}'", hint=f"remove it: {reason}"
                )

    def within(self, folder: Path) -> Self:
        return replace(self, labels=folder / self.labels) if self.labels else self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        placement = placement_of(core, self.image)
        writer = writer.hiding(placement.nothing if placement else "")
        candidates, labels = self.proposed(writer, spec, core, placement)
        boxes, scores, classes = outputs_of(writer, spec, self.best(writer, candidates, placement))
        typed = BoxesOutput(identifier=spec.identifier, boxes=boxes, scores=scores, classes=classes, labels=labels)
        return AttachedOutput(typed=typed, taken=self.taken(spec))

    def taken(self, spec: TensorSpec) -> tuple[str, ...]:
        """Outputs of the core that boxes are made of."""
        return tuple(filter(None, (spec.name, self.scores, self.classes)))

    def proposed(
        self, writer: Writer, spec: TensorSpec, core: Core, placement: Placement | None, *, extra: int = 0
    ) -> tuple[Candidates, tuple[str, ...]]:
        """Every box of the model in pixels of the core, and the labels; each has `extra` numbers of another meaning."""
        candidates = self._candidates(writer, spec, core, placement, extra)
        corners = candidates.corners
        if self.coordinates == "relative":
            corners = self._in_pixels(writer, corners, placement)
        labels = self._labels(candidates.class_count)
        return replace(candidates, corners=corners, class_count=candidates.class_count or len(labels)), labels

    def best(self, writer: Writer, candidates: Candidates, placement: Placement | None) -> ChosenBoxes:
        """The boxes that apps get."""
        return chosen(writer, candidates, placement, self._choice())

    def _candidates(
        self, writer: Writer, spec: TensorSpec, core: Core, placement: Placement | None, extra: int
    ) -> Candidates:
        layout = BoxLayout(
            scores=self.scores,
            classes=self.classes,
            order=self.order or ("cxcywh" if self.format.startswith("yolo") else "xyxy"),
            activation=self.activation,
            background=self.background,
            regions=Regions(threshold=self.threshold, unclip_ratio=self.unclip_ratio, min_size=self.min_size),
            core_size=(placement.core_width, placement.core_height) if placement else None,
            extra=extra,
        )
        return DECODERS[self.format](writer, spec, core, layout)

    def _in_pixels(self, writer: Writer, corners: str, placement: Placement | None) -> str:
        """Corners in pixels; without a picture, relative numbers stay relative."""
        if placement is None:
            return corners
        return writer.node("Mul", corners, [float(placement.core_width), float(placement.core_height)] * 2)

    def _labels(self, class_count: int) -> tuple[str, ...]:
        if class_count:
            return labels_for(self.labels, class_count)
        return read(self.labels).stripped() if self.labels else ()

    def _choice(self) -> BoxChoice:
        usual = REGION_THRESHOLD if self.format == "regions" else SCORE_THRESHOLD
        return BoxChoice(
            score_threshold=usual if self.score_threshold is None else self.score_threshold,
            iou_threshold=IOU_THRESHOLD if self.iou_threshold is None else self.iou_threshold,
            max_boxes=self.max_boxes,
            is_agnostic=self.agnostic,
            is_multi_label=self.multi_label,
        )


def outputs_of(writer: Writer, spec: TensorSpec, found: ChosenBoxes) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    """Boxes, scores and classes as outputs of the graph."""
    count = f"{spec.name}.count"
    return (
        writer.output(found.boxes, "boxes", ElementType.FLOAT, (count, 4)),
        writer.output(found.scores, "scores", ElementType.FLOAT, (count,)),
        writer.output(found.classes, "classes", ElementType.INT64, (count,)),
    )
