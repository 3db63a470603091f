"""A plug-in for pytest: leaves out tests that hold on Linux only, and refuses names that only Linux tells apart."""

import os
from collections.abc import Iterator, Sequence

import pytest

SYSTEM = "MOBPACK_TESTS_ELSEWHERE"
"""Environment variable with the system that is stood in for."""
LINUX_ENVIRONMENT = "about an environment that only Linux can have"
NO_LINKS = "about links, which Windows refuses without developer mode"
BACKSLASHES = "it prints paths, with backslashes"
LINUX_ONLY = {
    "test_arm64.py": LINUX_ENVIRONMENT,
    "test_environments.py::test_an_environment_this_machine_cannot_have_says_so_in_words": LINUX_ENVIRONMENT,
    "test_environments.py::test_qnn_asks_for_the_c_library_it_was_built_with": LINUX_ENVIRONMENT,
    "test_gpu_words.py::test_an_environment_that_is_not_installed_is_asked_for_after_the_gpu": LINUX_ENVIRONMENT,
    "test_publish.py::test_somebody_who_looks_always_finds_a_whole_release[in one step]": "macOS' own call is not here",
    "test_runners.py::test_a_runner_without_its_environment_says_how_to_get_it": LINUX_ENVIRONMENT,
    "test_runners.py::test_a_runner_on_a_machine_that_cannot_have_its_environment_says_why": LINUX_ENVIRONMENT,
    "test_runners.py::test_arm64_is_one_runner_for_each_core_or_the_machines_own": LINUX_ENVIRONMENT,
    "test_tensors_writing.py::test_bytes_are_copied_where_the_kernel_does_not": "about the kernel's own copies",
    "test_tensors_whole.py::test_weights_never_are_in_memory": "copies that the kernel does not make need 1 MiB",
}
"""Tests that say what is so on Linux only -> why."""
NOT_ON_WINDOWS = {
    "test_cli.py::test_errors_have_their_exit_code_a_message_and_a_hint[arguments10": BACKSLASHES,
    "test_ios_runtime_package.py::test_the_runtime_keeps_its_links_wherever_it_is_written": NO_LINKS,
    "test_store.py::test_who_has_a_damaged_file_open_reads_on": "Windows keeps files that are open",
    "test_store_pruning.py::test_a_reader_that_was_first_keeps_its_file": "Windows keeps files that are open",
    "test_xcframework.py::test_links_survive_a_zip": NO_LINKS,
    "test_xcframework_folder.py::test_nothing_is_written_through_a_link": NO_LINKS,
    "test_xcframework_folder.py::test_links_that_lead_in_circles_are_refused": NO_LINKS,
    "test_xcframework_folder.py::test_a_folder_is_told_by_names_links_and_contents": NO_LINKS,
    "test_xcframework_repackage.py::test_a_dynamic_framework_stays_as_it_is": NO_LINKS,
    "test_xcode_project.py::test_the_command_does_all_of_it_beside_the_project": BACKSLASHES,
}


def left_out(system: str) -> tuple[str, ...]:
    """Beginnings of the names of tests that cannot hold on `system`."""
    return (*LINUX_ONLY, *(NOT_ON_WINDOWS if system == "win32" else ()))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    beginnings = left_out(os.environ[SYSTEM])
    left = [item for item in items if item.nodeid.split("/", 2)[-1].startswith(beginnings)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(autouse=True)
def _no_names_that_differ_in_case_only(request: pytest.FixtureRequest) -> Iterator[None]:
    made = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for folder, folders, files in os.walk(made) if made else ():
        assert (twice := _twice([*folders, *files])) == [], f"one file on other systems: {folder}, {twice}"


def _twice(names: Sequence[str]) -> list[str]:
    folded = [name.casefold() for name in names]
    return [name for name in names if folded.count(name.casefold()) > 1]
