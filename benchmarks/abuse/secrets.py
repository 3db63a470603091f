"""Secrets of the parent, looked for in the environment and the arguments of every kind of child.

`python -m benchmarks.abuse.secrets FOLDER` starts the children in FOLDER, with programs on PATH that record what they
get, and prints what they had, as JSON: `{"children": [names], "leaks": [words]}`.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.abuse.result import Result
from packager.core.errors import MobpackError
from packager.distribution.publishing import cms, gpg, npm, swift_tags
from packager.distribution.publishing.registry import PublishingSession, RegistryRequest
from packager.files.processes import children, commands, copies, downloads
from packager.files.processes.channel import ChildProgram
from packager.files.processes.inherited import MODELS, PIP, users_code
from packager.measuring.devices import iphones
from packager.measuring.devices.adb.link import Adb
from packager.signing.encryption import keys
from packager.targets.android import gradle
from packager.targets.kotlin import kotlin

ROOT = Path(__file__).parents[2]
REGISTRY = "https://127.0.0.1:9"
MARK = "5ecret-"
NAMED = "WEIGHTS"
"""Variable that says nothing of its content, and is named as that of a model's key."""
NAMES = (
    *("MOBPACK_KEY_PASSWORD", "MOBPACK_MAVEN_TOKEN", "MOBPACK_CENTRAL_PASSWORD", "MOBPACK_CACHE_KEY", "MODEL_KEY"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "VAULT_TOKEN"),
    *("GITHUB_TOKEN", "GH_TOKEN", "CI_JOB_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN", "npm_config__auth", "PIP_PASSWORD"),
    *("ANDROID_KEYSTORE_PASSWORD", "ORG_GRADLE_PROJECT_signingPassword", "HF_TOKEN", "DATABASE_DSN", "XDG_SECRET"),
    *("LC_TOKEN", "CUDA_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "SLACK_PAT"),
)
MARK_OF_NAMED = "5ec4e7" + "ab" * 29
FAKES = ("adb", "npm", "gpg", "git", "openssl", "gradle", "java", "xcrun")
FAKE = """#!{python} -SE
import json, os, sys
said = {{"variables": dict(os.environ), "arguments": sys.argv[1:]}}
with open({folder!r} + "/{name}-" + str(os.getpid()) + ".json", "w") as file:
    json.dump(said, file)
if "--pack-destination" in sys.argv:  # a registry that fails is asked again
    open(sys.argv[sys.argv.index("--pack-destination") + 1] + "/p.tgz", "w").close()
else:
    sys.exit(1)
"""
TELL = """
import json, os, sys
folder, name = {folder!r}, {name!r}
with open(f"{{folder}}/{{name}}-{{os.getpid()}}.json", "w") as file:
    json.dump({{"variables": dict(os.environ), "arguments": sys.argv[1:]}}, file)
print("{{}}", flush=True)
"""


def attack(folder: Path) -> Result:
    """In a process of its own, which has the secrets."""
    folder.mkdir()
    found = leaks_of(folder)
    return Result(
        attack="secrets of the parent in its children", tries=len(found["children"]), exceptions=tuple(found["leaks"])
    )


def leaks_of(folder: Path) -> Mapping[str, list[str]]:
    secrets = {name: f"{MARK}{name.lower()}" for name in NAMES} | {NAMED: MARK_OF_NAMED}
    programs = folder / "programs"
    programs.mkdir()
    for name in FAKES:
        text = FAKE.format(python=sys.executable, folder=str(folder), name=name)
        (programs / name).write_text(text, encoding="utf-8", newline="\n")
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    own = {
        "PATH": path,
        "ANDROID_HOME": "",
        "USERS_OWN": "kept",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    command = [sys.executable, "-m", "benchmarks.abuse.secrets", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **secrets, **own}, capture_output=True, text=True, check=True
    )
    found: Mapping[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def started(folder: Path) -> Mapping[str, Callable[[], object]]:
    """Every kind of child, by its name."""
    work = folder / "work"
    (work / "kotlin").mkdir(parents=True)
    file, other = work / "local.properties", work / "key.pem"
    for each in (file, other):
        each.write_text(f"sdk.dir={work}\n", encoding="utf-8")
    (work / "copied.py").write_text(f"def main():\n    exec({_telling(folder, 'copy')!r})\n", encoding="utf-8")
    programs = {name: work / f"{name}.py" for name in ("session", "users", "job", "pip")}
    for name, program in programs.items():
        program.write_text(_telling(folder, name), encoding="utf-8", newline="\n")

    def answered(name: str, inherits: Sequence[str]) -> None:
        with ChildProgram([programs[name]], {}, work, inherits=inherits) as program:
            program.answer()

    session = PublishingSession(variables={})
    return {
        "adb": lambda: Adb(program=folder / "programs" / "adb").listed(),
        "npm": lambda: downloads.fetch("onnxruntime-web"),
        "npm-of-a-release": lambda: npm.Npm(address=REGISTRY).state(_request(f"{REGISTRY}/p"), session),
        "gpg": lambda: gpg.sign([file], work, ""),
        "git": lambda: swift_tags.SwiftTags(address=str(work)).state(_request(f"{work}#1"), session),
        "openssl": lambda: cms.signature(b"", file, other),
        "gradle": lambda: gradle.build_with_gradle(work),
        "java": lambda: kotlin.compile_kotlin({}, module_name="m", work=work / "kotlin"),
        "xcrun": iphones.iphones,
        "copy": lambda: copies.run("copied", [], work),
        "session": lambda: answered("session", MODELS),
        "users": lambda: answered("users", users_code()),
        "job": lambda: commands.run_job([programs["job"]], {}, work, crash="", hint=""),
        "pip": lambda: children.run([*children.python(), programs["pip"]], inherits=PIP),
    }


def _telling(folder: Path, name: str) -> str:
    return TELL.format(folder=str(folder), name=name)


def _request(address: str) -> RegistryRequest:
    return RegistryRequest(registry="r", method="m", address=address, file="f", size_bytes=0, sha256="", version="1")


def _recorded(folder: Path, name: str) -> list[str]:
    """Secrets that the children of a kind had."""
    files = sorted(folder.glob(f"{name.partition('-')[0]}-*.json"))
    if not files:
        return [f"{name} did not run"]
    wrong = []
    for file in files:
        said = json.loads(file.read_text(encoding="utf-8"))
        values = [*said["variables"].items(), *(("an argument", each) for each in said["arguments"])]
        wrong += [f"{name} had {key}" for key, value in values if MARK in value or MARK_OF_NAMED in value]
        if (name == "users") != ("USERS_OWN" in said["variables"]):
            wrong.append(f"{name}: variables of the user's own")
    return wrong


def main(folder: Path) -> None:
    keys.key_of(f"env:{NAMED}")
    sys.path.insert(0, str(folder / "work"))
    real, sys.executable = sys.executable, str(folder / "programs" / "python")  # npm lies beside Python, if it is there
    Path(sys.executable).symlink_to(real)
    java = folder / "programs" / "java"
    kotlin.find_compiler = lambda: kotlin.Compiler(java=java, java_home=folder, jars=(), stdlib=folder)
    known = started(folder)
    for start in known.values():
        with contextlib.suppress(MobpackError):  # the programs fail
            start()
    leaks = [leak for name in known for leak in _recorded(folder, name)]
    print(json.dumps({"children": [*known], "leaks": leaks}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
