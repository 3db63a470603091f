"""The sample app for React Native with a package that has a channel: its screen for pictures, in JavaScriptCore.

C++ and JavaScript are the package's, the components the app's own; what Android's part does is done for it.
`host/script/sample.js` has the commands.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from tests.delivery_drivers.react_native import Driver
from tests.toolchain import jsc, node
from tests.toolchain.react_native import codegen, native, sample_app
from tests.toolchain.react_native.network import Network
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.react_native.verifier import add_verifier

NAME, MODULE = "react-native-vision", "VisionModels"
EXPO = ("expo-asset", "expo-camera", "expo-file-system/legacy", "expo-image-picker")
PICTURE = sample_app.SOURCE / "assets" / "coffee.jpg"
LONGEST = 1024
"""side of the picture that the app asks for, in pixels"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The app with its package."""

    program: jsc.Program
    script: Path
    models: Path
    """the package's files"""


def make(archive: Path, folder: Path) -> Sample:
    """Compiles the C++ of the package in `archive`, and packs the app's own sources as Metro does with a channel."""
    project = node.project(jsc.NEWEST)
    app = folder / "app"
    unpack(archive, folder / "unpacked")
    modules = node.link(project, app)
    package = modules / NAME
    shutil.move(folder / "unpacked" / "package", package)
    wanted = {"name": "app", "private": True, "dependencies": {NAME: "1.0.0"}}
    (app / "package.json").write_text(json.dumps(wanted), encoding="utf-8", newline="\n")
    specs = codegen.for_ios(app, folder / "codegen", project=jsc.NEWEST)
    native_code = folder / "native" / NAME
    shutil.copytree(package, native_code)
    add_verifier(native_code)
    for name in sample_app.OURS:
        shutil.copytree(sample_app.SOURCE / name, app / name)
    stand_ins = {"react-native": "sample-react-native.js", **dict.fromkeys(EXPO, "sample-expo.js")}
    options = [f"--alias:{name}={native.SCRIPTS / script}" for name, script in stand_ins.items()]
    options += [
        f"--alias:sample={app}",
        "--resolve-extensions=.channel.tsx,.tsx,.ts,.js,.json",
        "--define:process.env.EXPO_PUBLIC_CHANNEL=plan.address",
        "--jsx=automatic",
        "--loader:.jpg=empty",
    ]
    script = folder / "script.js"
    native.bundle(app, script, "sample.js", options)
    return Sample(program=jsc.program(native_code, specs, MODULE), script=script, models=package / "models")


@contextmanager
def started(sample: Sample, address: str, folder: Path, trusted: Path) -> Iterator[Driver]:
    """Starts the app, which trusts servers with a certificate, on a phone whose files for it lie in `folder`."""
    folder.mkdir(exist_ok=True)
    mail = Path(tempfile.mkdtemp(dir=folder))
    picture = Image.open(PICTURE).convert("RGBA")
    (mail / "pixels").write_bytes(picture.tobytes())
    assets = [path for each in ("both", "android") for path in (sample.models / each).rglob("*") if path.is_file()]
    plan = {
        "module": f"{MODULE}Cxx",
        "os": "android",
        "cache": str(folder / "cache"),
        "places": {f"mobpack/{MODULE}/{path.name}": {"path": str(path), "offset": 0} for path in assets},
        "address": address,
        "mail": str(mail),
        "uri": "file:///coffee.jpg",
        "options": {"maxSize": LONGEST},
        "decoded": {"path": str(mail / "pixels"), "width": picture.width, "height": picture.height, "orientation": 1},
    }
    (mail / "plan.json").write_text(json.dumps(plan), encoding="utf-8", newline="\n")
    process = subprocess.Popen(
        [sample.program.path, sample.script, mail / "plan.json"],
        env={
            "PATH": os.environ.get("PATH", ""),
            "LD_LIBRARY_PATH": os.pathsep.join(map(str, jsc.libraries(jsc.onnxruntime()))),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with process:
        try:
            yield Driver(process=process, network=Network(folder=mail, trusted=trusted))
        finally:
            process.kill()
