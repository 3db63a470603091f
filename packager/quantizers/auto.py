"""Quantizes as many layers as an accuracy budget allows, chosen by measuring."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from packager.core.errors import SettingError
from packager.core.strict_tables import STRICT
from packager.core.user_functions import is_function
from packager.graph.rewriting.schemes import ActivationElement
from packager.quantizers.quantizer import METRICS, Calibration, CalibrationKey, RangeMethod


@dataclass(frozen=True, kw_only=True)
class Auto:
    NAME: ClassVar[str] = "auto"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["auto"] = "auto"
    """how the variant is made"""
    calibration: CalibrationKey
    """samples for the ranges of activations and for the metric"""
    max_drop: float
    """the budget: how much lower than the float model's the metric may be. The float model has 1 for `top1` and
    `cosine`; for `sqnr` it is the noise relative to the output's power: 0.001 is 30 dB, 0.01 is 20"""
    metric: str = "sqnr"
    """`sqnr` (signal to quantization noise), `cosine` (similarity of outputs), `top1` (share of equal best classes), or
    `module:function`: it gets a function that runs the model on a dictionary of inputs, and returns a number, higher is
    better"""
    methods: tuple[RangeMethod, ...] = ("minmax", "percentile", "entropy", "mse")
    """calibration methods to try, each for the whole model"""
    activations: ActivationElement = "int8"
    """as for static-qdq"""
    sensitivity_samples: int = 16
    """number of samples on which each layer is tried alone"""
    further_tries: int = 8
    """number of layers to try one by one after bisection has found the largest set"""
    exclude: tuple[str, ...] = ()
    """nodes, by name, that stay in float in any case"""
    scales_from: Path | None = None
    """release before, or a file in its folder `scales`: scales that still fit are kept, which makes deltas between the
    two versions small; see docs/quantization.md"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.metric not in METRICS and not is_function(self.metric):
            raise SettingError(
                f"metric '{self.metric}' is unknown", hint=f"use {', '.join(METRICS)} or module:function"
            )
        if not self.max_drop >= 0:
            raise SettingError(f"max-drop {self.max_drop:g} is negative", hint="0.01 allows a loss of one percent")
        if self.calibration.method != Calibration.method:
            ignored = f"calibration.method '{self.calibration.method}' would be ignored"
            raise SettingError(f"{ignored}", hint="auto tries the methods of `methods`: add it there")
        if not self.methods:
            raise SettingError("methods is empty", hint="add at least one: minmax")
        if self.sensitivity_samples < 1 or self.further_tries < 0:
            raise SettingError(
                "sensitivity-samples must be at least 1, further-tries at least 0", hint="omit them to use the defaults"
            )
