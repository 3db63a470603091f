"""Web packages: their files, and what Node and TypeScript make of them."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.toolchain import node, projects
from tests.toolchain.npm_checks import compile_all
from tests.toolchain.web.page import NAME, RUN_MINILM, app, embedding, package

FENCE = re.compile(r"^```(tsx?)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MODELS = ("Embedder", "Minilm", "Names", "OrientationModel", "SileroVad", "Tokens")
CONSUMER = """\
import { Minilm, ModelError, OrientationModel, SileroVad, removeOldDownloads, setUp } from '@example/models';
import type { OrientationModelOutputs, PageOptions, Picture } from '@example/models';
import { pictureFrom, videoFrames } from '@example/models/image';
import { recordingFrom, soundBlocks } from '@example/models/sound';
import { useOrientationModel, type ModelState } from '@example/models/react';

const options: PageOptions = { base: '/models/', threads: 2, worker: true, cache: false };
setUp(options);
export async function main(file: File, video: HTMLVideoElement, signal: AbortSignal): Promise<OrientationModelOutputs> {
  const model = await OrientationModel.load({ signal, onProgress: ({ loadedBytes }) => { console.log(loadedBytes); } });
  const picture: Picture = await pictureFrom(file, { maxSize: 640 });
  for await (const found of model.frames(videoFrames(video))) console.log(found);
  await removeOldDownloads();
  const other: Minilm = await Minilm.load();
  other.dispose();
  if (!(await model.selfTest()).passed) throw new ModelError('runtime', 'self-test');
  return model.predict(picture, { signal }) as unknown as OrientationModelOutputs;
}
export async function listen(file: File, node: AudioNode, signal: AbortSignal): Promise<void> {
  const model = await SileroVad.load();
  const sr = BigInt64Array.of(16000n);
  await model.predict(await recordingFrom(file, { rate: 16000 }), sr);
  for await (const block of soundBlocks(node, { length: 512, signal })) await model.predict(block, sr);
}
export function useState(): ModelState<Awaited<ReturnType<typeof OrientationModel.load>>>['state'] {
  return useOrientationModel().state;
}
// @ts-expect-error: an option that there is not
setUp({ wasm: '/x/' });
// @ts-expect-error: numbers of another type
void SileroVad.load().then((model) => model.run({ input: new Int32Array(1) }));
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


def test_a_package_has_javascript_types_models_and_one_build_of_onnxruntime(unpacked: Path) -> None:
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert {path for path in found if not path.startswith("lib/")} == {
        "LICENSE-onnxruntime.txt",
        "README.md",
        "api.json",
        "package.json",
        "sbom.cdx.json",
        "onnxruntime/ort-wasm-simd-threaded.wasm",
        "onnxruntime/ort.wasm.bundle.min.mjs",
        *(f"models/{name}.ort" for name in ("embedder", "minilm", "names", "orientation", "silero-vad", "tokens")),
        *(
            f"models/{name}-golden.safetensors"
            for name in ("embedder", "minilm", "names", "orientation", "silero-vad", "tokens")
        ),
    }
    types = {path.removesuffix(".d.ts") for path in found if path.endswith(".d.ts")}
    assert types == {path.removesuffix(".js") for path in found if path.endswith(".js")}


def test_publint_finds_nothing(unpacked: Path, tmp_path: Path) -> None:
    folder = app(tmp_path / "app", unpacked, "web")
    program = node.tool(node.project("web"), "publint")
    done = node.run([program, "--strict", "--pack=false", folder / "node_modules" / NAME], cwd=folder)
    assert done.returncode == 0, done.output
    assert "All good" in done.output


def test_every_entry_has_types_that_bundlers_and_node_find(tmp_path: Path) -> None:
    """are-the-types-wrong, for packages of ECMAScript modules alone."""
    program = node.tool(node.project("web"), "attw")
    arguments = ["--profile=esm-only", "--no-definitely-typed", "--no-color", "--no-emoji"]
    done = node.run([program, projects.WEB.archive(), *arguments], cwd=tmp_path)
    assert done.returncode == 0, done.output
    assert f"{NAME}/models/minilm" in done.stdout


@pytest.mark.parametrize("resolution", ["bundler", "nodenext"])
def test_programs_and_the_examples_of_the_readme_compile(unpacked: Path, tmp_path: Path, resolution: str) -> None:
    folder = app(tmp_path / "app", unpacked, "react_native")
    examples = FENCE.findall((unpacked / "README.md").read_text(encoding="utf-8"))
    assert [kind for kind, _ in examples] == ["ts", "ts", "ts", "tsx"]
    (folder / "src").mkdir()
    for number, (kind, text) in enumerate([("tsx", CONSUMER), *examples]):
        (folder / "src" / f"program{number}.{kind}").write_text(text, encoding="utf-8")
    options = {
        "strict": True,
        "skipLibCheck": False,
        "noEmit": True,
        "target": "es2022",
        "lib": ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
        "types": [],
        "jsx": "react-jsx",
        "module": "nodenext" if resolution == "nodenext" else "esnext",
        "moduleResolution": resolution,
    }
    text = json.dumps({"compilerOptions": options, "include": ["src"]})
    (folder / "tsconfig.json").write_text(text, encoding="utf-8")
    [done] = compile_all([folder / "tsconfig.json"])
    assert (done.returncode, done.output) == (0, "")


def test_node_computes_what_python_computes_and_passes_self_tests(unpacked: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.mjs"
    program.write_text(
        f"""
        import {{ {", ".join(MODELS)} }} from '{(unpacked / "lib" / "index.js").as_uri()}';
        const run = async () => {{ {RUN_MINILM} }};
        const tests = [];
        for (const each of [Minilm, OrientationModel, SileroVad]) {{
          tests.push((await (await each.load()).selfTest()).passed);
        }}
        console.log(JSON.stringify({{ found: await run(), tests }}));
        """,
        encoding="utf-8",
    )
    done = node.run([program], cwd=tmp_path)
    assert done.returncode == 0, done.output
    found = json.loads(done.stdout)
    assert found["tests"] == [True, True, True]
    assert found["found"] == pytest.approx(embedding(), abs=1e-5)


def test_importing_a_package_reads_no_file_of_models(unpacked: Path, tmp_path: Path) -> None:
    """As servers do that render pages."""
    folder = shutil.copytree(unpacked, tmp_path / "package")
    shutil.rmtree(folder / "models")
    shutil.rmtree(folder / "onnxruntime")
    program = tmp_path / "program.mjs"
    program.write_text(
        f"""
        import {{ Minilm }} from '{(folder / "lib" / "index.js").as_uri()}';
        console.log(await Minilm.load().catch((error) => error.code));
        """,
        encoding="utf-8",
    )
    done = node.run([program], cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "missing"), done.output
