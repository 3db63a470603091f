"""Whether pip finds a wheel of every pinned dependency for Macs and Windows: `python -m benchmarks.wheels [--json]`.

Asks the registry for what users of those systems would be given, for every Python that mobpack supports, and prints a
table. Ends with 1 where a wheel is missing that `KNOWN` does not name, or where one that it names exists by now.
Nothing is installed. Needs the network.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from packager.engines.environments.runtime import LOCK, shipped_version

ROOT = Path(__file__).parents[1]
PINS = ROOT / "requirements" / "test.txt"
EXTRAS = ("android", "images", "xcode")
"""Extras of the product whose packages are pinned."""
PYTHONS = ("3.11", "3.12", "3.13")
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)(?: *; *(.+?))? *\\$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Host:
    """A system that mobpack may run on."""

    name: str
    tag: str
    """pip's name of it; pip takes wheels for older versions of macOS too"""
    sys_platform: str
    machine: str


HOSTS = (
    Host(name="macOS, Apple silicon", tag="macosx_15_0_arm64", sys_platform="darwin", machine="arm64"),
    Host(name="macOS, Intel", tag="macosx_15_0_x86_64", sys_platform="darwin", machine="x86_64"),
    Host(name="Windows, x86_64", tag="win_amd64", sys_platform="win32", machine="AMD64"),
)
KNOWN = {
    ("onnxruntime", HOSTS[1].tag): "no wheels for Intel Macs since 1.24: mobpack does not run there",
    ("cryptography", HOSTS[1].tag): "50.0.2 has no wheels for Intel Macs, where mobpack does not run",
    **{("docopt", host.tag): "pip builds it, without a compiler, for `mobpack xcode`" for host in HOSTS},
}
"""Wheels that do not exist, and what follows."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """pip's answer for one package, host and Python."""

    package: str
    host: str
    """its tag"""
    python: str
    wheel: str
    """its file name; empty where there is none"""


def pins(text: str, host: Host, python: str) -> dict[str, str]:
    """Package -> version in a requirements file, for one host and Python."""
    return {
        canonicalize_name(name): version
        for name, version, marker in PIN.findall(text)
        if not marker or Marker(marker).evaluate(_variables(host, python))
    }


def product(host: Host, python: str, known: Mapping[str, str]) -> dict[str, str]:
    """Package -> pinned version of all that `pip install mobpack[...]` installs there."""
    found: dict[str, str] = {}
    waiting = _required("mobpack", EXTRAS, host, python)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = known[name]
            waiting += _required(name, (), host, python)
    return found


def _required(name: str, extras: Sequence[str], host: Host, python: str) -> list[str]:
    """Direct requirements of an installed package; one that only another host needs requires nothing itself."""
    try:
        requirements = [Requirement(text) for text in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return []
    variables = _variables(host, python)
    return [
        canonicalize_name(each.name)
        for each in requirements
        if not each.marker or any(each.marker.evaluate({**variables, "extra": extra}) for extra in ("", *extras))
    ]


def _variables(host: Host, python: str) -> dict[str, str]:
    """Variables of markers (PEP 508)."""
    system = {"darwin": "Darwin", "win32": "Windows"}[host.sys_platform]
    return {
        "sys_platform": host.sys_platform,
        "platform_system": system,
        "platform_machine": host.machine,
        "os_name": "nt" if host.sys_platform == "win32" else "posix",
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


def wheels(packages: Mapping[str, str], host: Host, python: str) -> dict[str, str]:
    """Package -> file name of its wheel; those without one are left out."""
    likely = {name: version for name, version in packages.items() if (name, host.tag) not in KNOWN}
    together = _asked([f"{name}=={version}" for name, version in likely.items()], host, python)
    left = {name: version for name, version in packages.items() if name not in together}
    one_by_one = [_asked([f"{name}=={version}"], host, python) for name, version in left.items()]
    return {name: wheel for found in (together, *one_by_one) for name, wheel in found.items()}


def _asked(requirements: Sequence[str], host: Host, python: str) -> dict[str, str]:
    """Package -> wheel that pip would install; empty where it would not install all of them."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--disable-pip-version-check"]
        command += ["--ignore-installed", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python"]
        command += ["--platform", host.tag, "--python-version", python, "--target", scratch, "--report", str(report)]
        done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            installs = json.loads(report.read_text(encoding="utf-8"))["install"]
            return {
                canonicalize_name(each["metadata"]["name"]): each["download_info"]["url"].rpartition("/")[2]
                for each in installs
            }
    if "No matching distribution" not in done.stderr:
        raise SystemExit(f"pip cannot say:\n{done.stderr}")
    return {}


def answers() -> Iterator[Answer]:
    """For every host and Python: the packages of the product, and of the ONNX Runtime that ships."""
    runtime = LOCK.read_text(encoding="utf-8").replace("${ONNXRUNTIME}", shipped_version())
    for host in HOSTS:
        for python in PYTHONS:
            known = pins(PINS.read_text(encoding="utf-8"), host, python)
            for packages in (product(host, python, known), pins(runtime, host, python)):
                found = wheels(packages, host, python)
                for name, version in packages.items():
                    yield Answer(package=f"{name} {version}", host=host.tag, python=python, wheel=found.get(name, ""))


def faults(found: Sequence[Answer]) -> list[str]:
    """Wheels that are missing and not known to be, and those known to be missing that exist."""
    faulty = []
    for each in sorted(found, key=lambda each: (each.package, each.host, each.python)):
        is_known = (each.package.partition(" ")[0], each.host) in KNOWN
        if not each.wheel and not is_known:
            faulty.append(f"{each.package}: no wheel for {each.host} and Python {each.python}")
        if each.wheel and is_known:
            faulty.append(f"{each.package}: {each.wheel} exists; remove it from KNOWN")
    return faulty


def table(found: Sequence[Answer]) -> str:
    """A Markdown table: package, and for each host the oldest system that its wheels are for, or what is missing."""
    lines = ["| package | " + " | ".join(host.name for host in HOSTS) + " |", "|---|" + "---|" * len(HOSTS)]
    for package in sorted({each.package for each in found}):
        cells = [_cell([each for each in found if each.package == package and each.host == host.tag]) for host in HOSTS]
        lines.append(f"| {package} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(found: Sequence[Answer]) -> str:
    missing = [each.python for each in found if not each.wheel]
    if missing:
        return f"**none** for Python {', '.join(missing)}"
    return ", ".join(sorted({_system(each.wheel) for each in found})) or "not needed"


def _system(wheel: str) -> str:
    """`numpy-2.5.5-cp312-cp312-macosx_14_0_arm64.whl` -> `macOS 14.0`."""
    tag = wheel.removesuffix(".whl").rpartition("-")[2]
    oldest = re.match(r"macosx_(\d+)_(\d+)", tag)
    return f"macOS {oldest[1]}.{oldest[2]}" if oldest else {"any": "any"}.get(tag, "yes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = list(answers())
    print(json.dumps([asdict(each) for each in found], indent=2) if arguments.json else table(found))
    faulty = faults(found)
    for line in faulty:
        print(line, file=sys.stderr)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
