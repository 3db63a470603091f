"""The command that a release was built with."""

from dataclasses import dataclass

from packager.core.parsing import Json


@dataclass(frozen=True, kw_only=True)
class BuildParameters:
    """Options of `mobpack build` that change the files of a release."""

    targets: tuple[str, ...]
    settings: tuple[str, ...] = ()
    """of --set"""
    shapes: tuple[str, ...] = ()
    """of --shape"""
    emit_project: bool = False
    emit_ort_package: bool = False

    def document(self) -> dict[str, object]:
        return {
            "targets": list(self.targets),
            "set": list(self.settings),
            "shape": list(self.shapes),
            "emitProject": self.emit_project,
            "emitOrtPackage": self.emit_ort_package,
        }


def parameters_of(document: Json) -> BuildParameters:
    """The parameters in a statement. Raises KeyError and TypeError for another document."""
    return BuildParameters(
        targets=tuple(map(str, document["targets"])),
        settings=tuple(map(str, document["set"])),
        shapes=tuple(map(str, document["shape"])),
        emit_project=document["emitProject"] is True,
        emit_ort_package=document["emitOrtPackage"] is True,
    )
