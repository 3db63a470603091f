"""Programs of the Swift toolchain that tests talk to while they run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.toolchain.swift import DEVICES, Swift, _alone, _mount_all, _shell, swift


def command(
    arguments: Sequence[str | Path],
    *,
    cwd: Path,
    mounts: Mapping[str, Path],
    environment: Mapping[str, str],
    toolchain: Swift | None = None,
) -> list[str]:
    """Command that starts a program of a toolchain, by default Swift's, in `cwd`, as `Swift.run` does.

    The program sees that folder and `mounts`, and ends with the process that the command makes.
    """
    toolchain = toolchain or swift()
    seen = {
        str(cwd): cwd,
        str(toolchain.shared): toolchain.shared,
        **mounts,
        **{str(device): device for device in DEVICES},
    }
    top = toolchain.folder / "seen"
    top.mkdir(exist_ok=True)
    variables = {"HOME": str(toolchain.shared), "LC_ALL": "C.UTF-8", **environment}
    inside = ["env", "-i", f"--chdir={cwd}", *(f"{name}={value}" for name, value in variables.items())]
    script = [*_mount_all(toolchain.root, seen, top), _shell("chroot", top, *inside, *arguments), "exit $?"]
    return [*_alone(), "sh", "-c", "\n".join(script)]
