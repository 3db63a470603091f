"""As many layers in integers as a budget of accuracy allows: what they are is found by measuring."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.core.user_functions import is_function
from packager.quantizers.quantizer import METRICS, Calibration, CalibrationKey, RangeMethod
from packager.rewriting.schemes import ActivationElement


@dataclass(frozen=True, kw_only=True)
class Auto:
    NAME: ClassVar[str] = "auto"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["auto"] = "auto"
    """how the variant is made"""
    calibration: CalibrationKey
    """what the ranges of activations, and the metric, are measured on"""
    max_drop: float
    """the budget: how much lower than that of the float model the metric may be. The float model's own is 1 for `top1`
    and `cosine`; for `sqnr` it is how much noise there may be for the output's power: 0.001 is 30 dB, 0.01 is 20"""
    metric: str = "sqnr"
    """`sqnr` (signal to quantization noise), `cosine` (similarity of outputs), `top1` (share of equal best classes), or
    `module:function`: it gets a function that runs the model on a dictionary of inputs, and returns a number of which
    more is better"""
    methods: tuple[RangeMethod, ...] = ("minmax", "percentile", "entropy", "mse")
    """ways to find ranges that are tried, each for the whole model"""
    activations: ActivationElement = "int8"
    """as for static-qdq"""
    sensitivity_samples: int = 16
    """how many samples each layer alone is tried on"""
    further_tries: int = 8
    """how many layers are tried one by one after the largest set was found by halving"""
    exclude: tuple[str, ...] = ()
    """nodes, by name, that stay in float in any case"""

    def __post_init__(self) -> None:
        """Raises ValueError: what is wrong, `|`, what to do."""
        if self.metric not in METRICS and not is_function(self.metric):
            raise ValueError(f"metric '{self.metric}' is not known|use {', '.join(METRICS)} or module:function")
        if not self.max_drop >= 0:
            raise ValueError(f"max-drop {self.max_drop:g} is negative|0.01 gives one percent away")
        if self.calibration.method != Calibration.method:
            ignored = f"calibration.method '{self.calibration.method}' would be ignored"
            raise ValueError(f"{ignored}|auto tries those of `methods`: name it there")
        if not self.methods:
            raise ValueError("methods is empty|name at least one: minmax")
        if self.sensitivity_samples < 1 or self.further_tries < 0:
            raise ValueError("sensitivity-samples is at least 1, further-tries at least 0|leave them out for defaults")
