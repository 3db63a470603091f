"""Node packages: programs under Node get answers of them, in either form of modules and in threads, and words."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from PIL import Image

from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, node
from tests.toolchain.npm_checks import compile_all
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.witness import watched

NAME = "vision-node"
PROJECT = """\
[package]
name = "vision"
version = "1.0.0"
[model.chooser]
path = "chooser.onnx"
[model.chooser.inputs.image]
kind = "image"
size = [6, 8]
[model.chooser.outputs.y]
kind = "classes"
labels = "labels.txt"
activation = "softmax"
top-k = 4
[model.slow]
path = "slow.onnx"
[target.node]
"""
PIXELS = "Buffer.from(Array.from({ length: 1200 }, (_, i) => (i * 37) % 251))"
PICTURE = f"{{ data: {PIXELS}, width: 20, height: 20, format: 'rgb' }}"
MAIN = f"""\
import {{ Chooser, ModelError, Proof, Slow, type Picture }} from '{NAME}';

const said: Record<string, unknown> = {{}};
const picture: Picture = {PICTURE};
const words = async (name: string, call: () => Promise<unknown>): Promise<void> => {{
  try {{
    await call();
  }} catch (error) {{
    said[name] = error instanceof ModelError ? `${{error.code}}: ${{error.message}}` : String(error);
  }}
}};
const model = await Chooser.load();
said['found'] = (await model.classify(picture)).map(({{ label, score }}) => [label, score]);
said['tests'] = (await model.selfTest()).passed;
const reasons: string[] = [];
const other = await Chooser.load({{
  providers: ['dml', 'cuda'],
  proof: new Proof(),
  observer: {{
    onLoad: ({{ fallbacks }}) => {{
      for (const {{ provider, reason }} of fallbacks) reasons.push(`${{provider}}: ${{reason}}`);
    }},
  }},
}});
Object.assign(said, {{ provider: other.provider, reasons }});
const slow = await Slow.load({{ threads: 1 }});
let turns = 0;
let isRunning = true;
const count = (): void => {{
  turns += 1;
  if (isRunning) setImmediate(count);
}};
setImmediate(count);
const {{ y }} = await slow.run({{ x: new Float32Array(256 * 512).fill(1) }});
isRunning = false;
Object.assign(said, {{ turns, shape: y.shape, telemetry: process.env['ORT_DISABLE_TELEMETRY'] }});
await words('short', () => model.classify({{ ...picture, width: 21 }}));
await words('long', () => slow.run({{ x: new Float32Array(3) }}));
await words('sync', async () => model.classifySync(picture));
await words('url', () => Chooser.load({{ source: {{ url: 'https://example.com/models/' }} }}));
await words('path', () => Chooser.load({{ source: {{ path: '/nowhere/a.onnx' }} }}));
await words('relative', () => Chooser.load({{ source: {{ path: 'a.onnx' }} }}));
const waiting = slow.run({{ x: new Float32Array(256 * 512) }});
model.dispose();
slow.dispose();
said['last'] = (await waiting).y.shape;
await words('disposed', () => model.classify(picture));
console.log(JSON.stringify(said));
// @ts-expect-error: numbers of another type
void ((): unknown => slow.run({{ x: new Int32Array(1) }}));
"""
COMMON = f"""\
import {{ Chooser }} from '{NAME}';
void Chooser.load().then(async (model) => {{ console.log((await model.classify({PICTURE}))[0]?.label); }});
"""
THREAD = f"""\
import {{ Worker, isMainThread }} from 'node:worker_threads';
if (isMainThread) for (const _ of [1, 2]) new Worker(new URL(import.meta.url));
else {{
  const {{ Chooser }} = await import('{NAME}');
  const model = await Chooser.load();
  console.log((await model.classify({PICTURE}))[0].label);
}}
"""
ENDING = f"""\
import {{ Slow }} from '{NAME}';
const model = await Slow.load({{ threads: 1 }});
void model.run({{ x: new Float32Array(256 * 512) }});
setTimeout(() => process.exit(3), 20);
"""
LOADING = f"""\
import {{ Slow }} from '{NAME}';
await Slow.load().catch(({{ code, message }}) => console.log(`${{code}}: ${{message}}`));
"""
PATIENT = "\n".join(f"y{step + 1} = MatMul (y{step}, w)" for step in range(8))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    graph = "m = ReduceMean <axes = [2, 3], keepdims = 0> (image) y = MatMul (m, w)"
    graph = f"(float[1, 3, 6, 8] image) => (float[1, 4] y) {{ {graph} }}"
    saved(folder / "chooser.onnx", onnx_model(graph, weights={"w": weight(3, 4)}))
    graph = f"(float[256, 512] x) => (float[256, 512] y) {{ y0 = Identity (x) {PATIENT} y = Identity (y8) }}"
    slow = onnx_model(graph, weights={"w": weight(512, 512)})
    onnx.save(slow, folder / "slow.onnx", save_as_external_data=True, location="slow.bin")
    (folder / "labels.txt").write_text("ant\nbee\ncat\ndog\n", encoding="utf-8")
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    done = command.run("build", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def app(project: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder where npm has installed the package, with the packages that it depends on."""
    [archive] = (project / "dist" / "npm").glob("*.tgz")
    modules = node.link(node.project("react_native"), tmp_path)
    unpack(archive, tmp_path)
    shutil.move(tmp_path / "package", modules / NAME)
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_a_program_asks_nothing_of_a_network(app: Path, tmp_path: Path) -> None:
    """ONNX Runtime alone looks up a name and leaves an identifier of the machine at home."""
    program = app / "opened.mjs"
    program.write_text(f"await (await import('{NAME}')).Slow.load();\nsetTimeout(() => undefined, 3000);\n")
    found = watched([node.node().program, program], tmp_path / "watched")
    assert found.is_silent, found


def test_programs_in_typescript_get_what_mobpack_predicts_and_words(project: Path, app: Path) -> None:
    for name, text in (("main.mts", MAIN), ("common.cts", COMMON)):
        (app / name).write_text(text, encoding="utf-8")
    strict = dict.fromkeys(("strict", "exactOptionalPropertyTypes", "noUncheckedIndexedAccess"), True)
    options = {**strict, "module": "nodenext", "target": "es2022", "lib": ["es2022"], "types": ["node"]}
    settings = {"compilerOptions": {**options, "outDir": "lib"}, "files": ["main.mts", "common.cts"]}
    (app / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    [compiled] = compile_all([app / "tsconfig.json"])
    assert (compiled.returncode, compiled.output) == (0, "")
    done = node.run(["lib/main.mjs"], cwd=app)
    assert done.returncode == 0, done.output
    said = json.loads(done.stdout)
    pixels = bytes(each * 37 % 251 for each in range(1200))
    Image.frombytes("RGB", (20, 20), pixels).save(project / "picture.png")
    predicted = command.run("predict", "--json", "--model", "chooser", "picture.png", folder=project)
    [wanted] = json.loads(predicted.stdout)["predictions"][0]["answers"].values()
    assert said["found"] == [[each["label"], pytest.approx(each["score"], abs=1e-5)] for each in wanted]
    assert (said["tests"], said["provider"], said["telemetry"]) == (True, "cpu", "1")
    assert [each.partition(":")[0] for each in said["reasons"]] == ["dml", "cuda"]
    assert "dml" in said["reasons"][0]
    assert said["turns"] > 100  # the event loop went on during the run
    assert said["shape"] == said["last"] == [256, 512]
    assert "21 x 20 pixels" in said["short"]
    codes = {name: said[name].partition(":")[0] for name in ("long", "sync", "url", "path", "relative", "disposed")}
    assert codes == {
        "long": "bad-input",
        "sync": "unsupported",
        "url": "unsupported",
        "path": "missing",
        "relative": "bad-options",
        "disposed": "disposed",
    }
    done = node.run(["lib/common.cjs"], cwd=app)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, said["found"][0][0], "")


def test_threads_load_models_and_programs_end_during_a_run(app: Path) -> None:
    for name, text in (("thread.mjs", THREAD), ("ending.mjs", ENDING)):
        (app / name).write_text(text, encoding="utf-8")
    done = node.run(["thread.mjs"], cwd=app)
    assert (done.returncode, len(set(done.stdout.split())), len(done.stdout.split())) == (0, 1, 2), done.output
    done = node.run(["ending.mjs"], cwd=app)
    assert (done.returncode, done.output) == (3, "")


def test_files_that_are_missing_or_wrong_are_told_and_electron_finds_them_unpacked(app: Path) -> None:
    package = app / "node_modules" / NAME
    weights = next((package / "models" / "slow").glob("*.weights"))
    content = weights.read_bytes()
    program = ["--input-type=module", "-e", LOADING]
    assert node.run(program, cwd=app).output == ""
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert re.fullmatch(r"corrupted: .*\.weights has sha256 .*\n", node.run(program, cwd=app).output)
    weights.unlink()
    assert re.fullmatch(r"missing: .*\.weights cannot be found: .*\n", node.run(program, cwd=app).output)
    weights.write_bytes(content)
    runtime = app / "node_modules" / "onnxruntime-node"
    runtime.unlink()
    assert node.run(program, cwd=app).output.startswith("not-linked: onnxruntime-node is not installed")
    runtime.symlink_to(node.project("react_native") / "node_modules" / runtime.name)
    older = ["--import", "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'18.20.8'})"]
    words = "unsupported: this is Node 18.20.8, and vision-node needs 20.19.0 or later\n"
    assert node.run([*older, *program], cwd=app).output == words
    # As electron-builder leaves an app: code in both places, files of models in the second one.
    for folder in ("app.asar", "app.asar.unpacked"):
        shutil.copytree(app / "node_modules", app / folder / "node_modules", symlinks=True)
    shutil.rmtree(app / "app.asar" / "node_modules" / NAME / "models")
    electron = ["--import", "data:text/javascript,Object.assign(process.versions,{electron:'45.5.0'})"]
    (app / "app.asar" / "main.mjs").write_text(LOADING, encoding="utf-8")
    assert node.run(["main.mjs"], cwd=app / "app.asar").output.startswith("missing: ")
    assert node.run([*electron, "main.mjs"], cwd=app / "app.asar").output == ""
