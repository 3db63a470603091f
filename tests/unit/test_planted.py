"""The list of planted faults is true: each applies once, names tests that exist, and every language has ten."""

import re
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
        if names := re.findall(r"\w+_\w+", fault.only):
            texts = "".join((ROOT / each).read_text(encoding="utf-8") for each in fault.test_files(ROOT))
            wrong += [f"{fault.name}: no {name}" for name in names if name not in texts]
    assert not wrong, "\n".join(wrong)
    assert not [name for name, count in Counter(each.name for each in faults()).items() if count > 1]
    found = Counter(each.language for each in faults())
    assert found.total() >= 80
    assert {name: count for name, count in found.items() if count < 10} == {}
    assert {*found} == {"cpp", "dart", "kotlin", "python", "swift", "typescript"}
