"""`mobpack device xcode --run`: a Swift package is timed and checked on an iPhone, at a Mac, in one command."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.measuring.devices.comparing import DeviceBaseline
from packager.measuring.devices.document import DeviceDocument
from packager.measuring.devices.gates import DeviceGate
from packager.measuring.devices.iphones import chosen, run_tests
from packager.measuring.devices.xcode_tests import write_device_tests
from packager.workflows.device import farming


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    package: Path
    """folder of a Swift package"""
    device: str = ""
    """pattern; empty for the only one"""
    team: str = ""
    """identifier of the team that signs; empty for the one of the project"""
    gates: tuple[DeviceGate, ...] = ()
    baseline: DeviceBaseline | None = None


def run(request: RunRequest, console: Console) -> DeviceDocument:
    """Writes the Xcode project to a scratch folder, runs its test on the device, and reads the results.

    A test that fails still has results. Raises ToolError without a Mac, a device, or results.
    """
    device = chosen(request.device)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        project, _ = write_device_tests(request.package, scratch)
        with console.step(f"build and test on {device.name}"):
            done = run_tests(project / f"{project.name}.xcodeproj", device, request.team, scratch)
        try:
            return farming.read(done.output, request.gates, request.baseline, console)
        except ToolError as error:
            raise ToolError(
                f"xcodebuild has ended with code {done.code}, and left no results: {done.said}",
                hint="name the team that signs with --team, or open the project of `mobpack device xcode` in Xcode",
            ) from error
