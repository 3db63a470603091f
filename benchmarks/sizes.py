"""Sizes of generated code, and what an app gets of it: `python -m benchmarks.results sizes`.

The packages are those of the golden trees. `classes.jar` lies in a package with its entries stored; Gradle deflates
them. The app for Android loads a model and runs it once, and R8 shrinks it. The same app on ONNX Runtime's own API is
the measure: both suspend, end a run early, and have kotlinx.coroutines, Kotlin's library and ONNX Runtime. The page
imports one model, and esbuild makes a minified script of it, without ONNX Runtime. Needs what the tests for Android and
npm need.
"""

import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.android.aar import consumer_rules
from tests.cases.archives import read_zip
from tests.golden.cases import IMAGE_CLASSIFIER, WEB_CASES, Case, Paged, plan
from tests.golden.trees import TREES
from tests.toolchain import apptools, jvm, node

APP = """\
package com.example.app

import android.content.Context
{imports}

fun main(arguments: Array<String>) {{
    val context = Class.forName(arguments[0]).getConstructor().newInstance() as Context
    println(runBlocking {{ best(context, FloatArray(3 * 224 * 224)) }})
}}

suspend fun best(context: Context, pixels: FloatArray): Int? {body}
"""
MAIN = "com.example.app.AppKt"
WITH_PACKAGE = APP.format(
    imports="import com.example.vision.Classifier\nimport kotlinx.coroutines.runBlocking",
    body="""= Classifier.load(context).use { model ->
    val input = Classifier.Input(batch = 1)
    input.x.put(pixels)
    val output = model.run(input)
    (0 until 4).maxByOrNull { output.logits[it] }
}""",
)
BY_HAND = APP.format(
    imports="""\
import ai.onnxruntime.OnnxTensor
import ai.onnxruntime.OrtEnvironment
import ai.onnxruntime.OrtSession.RunOptions
import java.nio.FloatBuffer
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.suspendCancellableCoroutine

private val turns = Dispatchers.IO.limitedParallelism(1).asExecutor()""",
    body="""= suspendCancellableCoroutine { waiting ->
    turns.execute {
        val environment = OrtEnvironment.getEnvironment()
        val options = RunOptions()
        waiting.invokeOnCancellation { options.setTerminate(true) }
        try {
            val file = context.assets.open("classifier.ort").use { it.readBytes() }
            environment.createSession(file).use { session ->
                OnnxTensor.createTensor(environment, FloatBuffer.wrap(pixels), longArrayOf(1, 3, 224, 224)).use { x ->
                    session.run(mapOf("x" to x), options).use { result ->
                        val scores = (result.get("logits").get() as OnnxTensor).floatBuffer
                        waiting.resume((0 until 4).maxByOrNull { scores[it] })
                    }
                }
            }
        } catch (failure: Exception) {
            waiting.resumeWithException(failure)
        }
    }
}""",
)
SIGNATURE = IMAGE_CLASSIFIER.plans[0].model.signature
PACKAGES: Mapping[str, Case] = {
    "one model, CPU alone": replace(
        IMAGE_CLASSIFIER, target=Android(providers=()), plans=(plan("classifier", SIGNATURE),), golden={}
    ),
    "XNNPACK, self-test": IMAGE_CLASSIFIER,
}
BROTLI = """
const script = require('fs').readFileSync(process.argv[1]);
process.stdout.write(String(require('zlib').brotliCompressSync(script).length));
"""
MODELS = (
    (("image_classifier", "cpu_alone"), "Classifier"),
    (("contracts",), "Classifier"),
    (("contracts",), "Storyteller"),
)
"""cases of which a target has the first or the second, and the class of a model"""


def main() -> int:
    with tempfile.TemporaryDirectory(dir=cache_folder()) as name:
        packages(Path(name))
        pages(Path(name))
    lines()
    return 0


def packages(folder: Path) -> None:
    print("| package for Android | classes | classes.jar, kB | deflated, kB | classes.dex of the app, kB | added, kB |")
    print("|---|--:|--:|--:|--:|--:|")
    without = dex_bytes(folder / "by-hand", [], BY_HAND)
    print(f"| none: ONNX Runtime's own API | | | | {without / 1e3:.1f} | |", flush=True)
    store = Store(folder / "store")
    for name, case in PACKAGES.items():
        aar = archive(case, store)
        jar = apptools.extract(aar, "classes.jar", folder / "classes.jar")
        classes = read_zip(jar)
        count = sum(path.suffix == ".class" for path in classes)
        deflated = sum(len(zlib.compress(content, 9)) for content in classes.values())
        made = dex_bytes(folder / name, [aar], WITH_PACKAGE)
        sizes = (jar.stat().st_size, deflated, made, made - without)
        print(f"| {name} | {count} | {' | '.join(f'{size / 1e3:.1f}' for size in sizes)} |", flush=True)


def archive(case: Case, store: Store) -> Path:
    """The .aar of a package."""
    target = case.target
    assert isinstance(target, Android)
    view = target.view(case.package, case.plans, case.report, golden=case.golden)
    return target.assemble(view, target.render(view), store)[0].path


def dex_bytes(folder: Path, aars: Sequence[Path], source: str) -> int:
    """Size of the code of an app with `aars`, after R8."""
    folder.mkdir()
    (folder / "App.kt").write_text(source, encoding="utf-8")
    libraries = [apptools.extract(aar, "classes.jar", folder / "classes.jar") for aar in aars]
    known = [*libraries, apptools.app_tools().android_jar, jvm.android_runtime().classes]
    app = jvm.compile_kotlin([folder / "App.kt"], classpath=known)
    # An app needs these, whatever calls ONNX Runtime.
    rules = apptools.APP_RULES + consumer_rules().replace("{", "{{").replace("}", "}}")
    made = apptools.dex(aars, app, archive=folder / "dex.zip", main_class=MAIN, app_rules=rules)
    return len(read_zip(made)[PurePosixPath("classes.dex")])


def pages(folder: Path) -> None:
    print("\n| page with | script, kB | brotli, kB |\n|---|--:|--:|")
    for case, name in (("cpu_alone", "a model of tensors"), ("contracts", "a classifier of pictures")):
        place = folder / case
        made = WEB_CASES[case]
        assert isinstance(made, Paged)
        write_sources(made.sources(), place / "package")
        node.link(node.project("web"), place)
        (place / "main.js").write_text("export { Classifier } from './package/lib/index.js';\n", encoding="utf-8")
        script = place / "out.js"
        bundled = ["main.js", "--bundle", "--format=esm", "--minify", f"--outfile={script}", "--log-level=warning"]
        done = node.run([node.tool(node.project("web"), "esbuild"), *bundled], cwd=place)
        small = node.run(["-e", BROTLI, script], cwd=place)
        assert (done.returncode, small.returncode) == (0, 0), done.output + small.output
        print(f"| {name} | {script.stat().st_size / 1e3:.1f} | {int(small.output) / 1e3:.1f} |", flush=True)


def lines() -> None:
    """Lines of the files that the classes of models are in."""
    print("\n| file of a model, lines | Kotlin | Swift | TypeScript | JavaScript | Dart |\n|---|--:|--:|--:|--:|--:|")
    of_languages = {"android": ".kt", "ios": ".swift", "react_native": ".ts", "web": ".js", "flutter": ".dart"}
    for cases, name in MODELS:
        found = []
        for target, suffix in of_languages.items():
            case = next((each for each in cases if each in TREES[target]), "")
            files = TREES[target][case].texts() if case else {}
            each = [text for path, text in files.items() if path.stem.lower() == name.lower() and path.suffix == suffix]
            found.append(str(each[0].count("\n")) if each else "")
        print(f"| `{cases[0]}`, {name} | {' | '.join(found)} |")


if __name__ == "__main__":
    sys.exit(main())
