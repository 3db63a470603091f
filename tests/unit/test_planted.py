"""The list of planted faults is true: each applies once, names a test file, and every language has ten."""

from collections import Counter

from tests.nightly.planted import NIGHT, ROOT, faults


def test_faults_apply_once_and_there_are_enough_of_each_language() -> None:
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py") if NIGHT not in path.parts}
    wrong = []
    for fault in faults():
        text = (ROOT / fault.file).read_text(encoding="utf-8") if (ROOT / fault.file).is_file() else ""
        if text.count(fault.before) != 1:
            wrong.append(f"{fault.name}: `before` occurs {text.count(fault.before)} times in {fault.file}")
        if fault.test not in tests:
            wrong.append(f"{fault.name}: there is no {fault.test}")
    assert not wrong, "\n".join(wrong)
    assert not [name for name, count in Counter(each.name for each in faults()).items() if count > 1]
    found = Counter(each.language for each in faults())
    assert found.total() >= 80
    assert {name: count for name, count in found.items() if count < 10} == {}
    assert {*found} == {"cpp", "dart", "kotlin", "python", "swift", "typescript"}
