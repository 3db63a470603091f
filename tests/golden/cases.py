"""The models behind the golden trees: small signatures that between them use everything a template can print."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager import names
from packager.targets.android import Android
from packager.values import (
    Compiled,
    Dimension,
    ElementType,
    Model,
    Package,
    Parity,
    Report,
    Signature,
    TensorSpec,
    Variant,
)

GOLDEN = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Case:
    package: Package
    target: Android
    compiled: tuple[Compiled, ...]
    report: Report

    def texts(self) -> dict[PurePosixPath, str]:
        """Every text of the package by its path in the golden tree."""
        return dict(self.target.render(self.target.view(self.package, self.compiled, self.report)).texts)


def specs(prefix: str, *tensors: tuple[str, ElementType, tuple[Dimension, ...]]) -> tuple[TensorSpec, ...]:
    identifiers = names.identifiers([tensor[0] for tensor in tensors], prefix=prefix)
    return tuple(
        TensorSpec(name=name, identifier=identifier, element=element, shape=shape)
        for identifier, (name, element, shape) in zip(identifiers, tensors, strict=True)
    )


def compiled(name: str, signature: Signature, *, source: str = "") -> Compiled:
    model = Model(
        name=name,
        path=Path(source or f"{name}.onnx"),
        graph=b"",
        signature=signature,
        ir_version=10,
        opsets={"": 21},
        operators={},
        size_bytes=4096,
        parameter_count=1000,
        sha256="0" * 60 + "feed",
    )
    variant = Variant(model=model, name="fp32", graph=b"", quantizer="none")
    return Compiled(
        variant=variant,
        path=Path(f"{name}.ort"),
        sha256="1" * 60 + "beef",
        size_bytes=5120,
        operators={},
        disabled_optimizers=(),
    )


def reshaped(model: str, *outputs: str) -> Report:
    """A report that found other shapes than declared."""
    return Report(
        parities=(
            Parity(
                model=model,
                variant="fp32",
                runner="cpu",
                sample_count=1,
                samples="random",
                tolerance=1e-3,
                outputs=(),
                reshaped_outputs=outputs,
            ),
        )
    )


IMAGE_CLASSIFIER = Case(
    package=Package(name="vision", version="1.0.0", license="Apache-2.0"),
    target=Android(),
    compiled=(
        compiled(
            "classifier",
            Signature(
                inputs=specs("input", ("x", ElementType.FLOAT, ("batch", 3, 224, 224))),
                outputs=specs("output", ("logits", ElementType.FLOAT, ("batch", 4))),
            ),
        ),
    ),
    report=Report(parities=()),
)

EVERYTHING = Case(
    package=Package(name="every-thing", version="2.1.0", license="", description="All that a signature can hold."),
    target=Android(group="org.example_lab", providers=("qnn", "nnapi", "xnnpack"), min_sdk=26),
    compiled=(
        compiled(
            "every-thing_v2",
            Signature(
                inputs=specs(
                    "input",
                    ("serving_default_input_2:0", ElementType.FLOAT, (1, 8)),
                    ("53", ElementType.INT64, ()),
                    ("class", ElementType.BOOL, ("batch_size", 2)),
                    ("text", ElementType.STRING, ("batch_size",)),
                    ("int8", ElementType.INT8, (4,)),
                    ("uint8", ElementType.UINT8, (4, None)),
                    ("int16", ElementType.INT16, (2, 2)),
                    ("int32", ElementType.INT32, (None, None)),
                    ("float16", ElementType.FLOAT16, ("batch_size", "past sequence*/ + 1")),
                    ("bfloat16", ElementType.BFLOAT16, (3,)),
                    ("double", ElementType.DOUBLE, (0, 3)),
                ),
                outputs=specs(
                    "output",
                    ("float$static", ElementType.FLOAT, (1, 4)),
                    ("bool_static", ElementType.BOOL, (2,)),
                    ("half_static", ElementType.FLOAT16, ()),
                    ("declared_static", ElementType.FLOAT, (7,)),
                    ("scores", ElementType.DOUBLE, ("batch_size", None)),
                    ("scores_shape", ElementType.INT64, ("rank",)),
                    ("words", ElementType.STRING, (2,)),
                    ("uint16", ElementType.UINT16, (3,)),
                    ("uint32", ElementType.UINT32, (3,)),
                    ("uint64", ElementType.UINT64, (None,)),
                    ("bytes", ElementType.UINT8, (None,)),
                ),
            ),
            source="Every `thing`.onnx",
        ),
        compiled(
            "options",
            Signature(
                inputs=specs("input", ("tokens", ElementType.INT32, (1, 512))),
                outputs=specs("output", ("embedding", ElementType.FLOAT, (1, 384))),
            ),
        ),
        compiled("dice", Signature(inputs=(), outputs=specs("output", ("eyes", ElementType.STRING, ())))),
    ),
    report=reshaped("every-thing_v2", "declared_static"),
)

CASES = {"image_classifier": IMAGE_CLASSIFIER, "everything": EVERYTHING}
