"""Apps of tests run in a process that stays as in one of their own."""

from pathlib import Path

import pytest

from tests.toolchain import jvm, warm_apps
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


APP = """\
package apps

import device.report
import kotlin.concurrent.thread
import kotlin.system.exitProcess

object Memory {
    var runs = 0
}

fun main(arguments: Array<String>) {
    Memory.runs += 1
    report("runs", Memory.runs)
    report("process", ProcessHandle.current().pid())
    report("property", System.getProperty("odd"))
    System.err.println("said to the log")
    when (arguments.last()) {
        "do=throw" -> error("it broke")
        "do=end" -> exitProcess(3)
        "do=later" -> thread { Thread.sleep(200).also { report("later", "done") } }
    }
}
"""


@pytest.fixture(scope="module")
def app(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    source = tmp_path_factory.mktemp("app") / "Remembering.kt"
    source.write_text(APP, encoding="utf-8")
    return jvm.compile_kotlin([source], classpath=[jvm.fakes()])


def run(app: Path, do: str = "nothing", **properties: object) -> jvm.Run:
    return warm_apps.run("apps.RememberingKt", {"do": do}, classpath=[app], properties=properties)


def test_an_app_begins_anew_in_the_process_of_the_one_before(app: Path) -> None:
    first, second = run(app, odd="set"), run(app)

    assert first.facts["process"] == second.facts["process"]
    assert first.facts["runs"] == second.facts["runs"] == "1"
    assert (first.facts["property"], second.facts["property"]) == ("set", "null")
    assert first.log == second.log == "said to the log\n"


def test_threads_of_an_app_are_waited_for(app: Path) -> None:
    assert run(app, "later").facts["later"] == "done"


def test_a_failure_is_told_in_javas_words(app: Path) -> None:
    with pytest.raises(AssertionError, match=r"ended with exit code 1\n(.*\n)*.*IllegalStateException: it broke"):
        run(app, "throw")


def test_an_app_that_ends_the_process_fails_and_the_next_has_another(app: Path) -> None:
    before = run(app).facts["process"]

    with pytest.raises(AssertionError, match="ended with exit code 3"):
        run(app, "end")

    assert run(app).facts["process"] != before
