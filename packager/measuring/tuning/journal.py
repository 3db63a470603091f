"""Rounds that were measured, one line each: a search that was stopped goes on where it was."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core import parsing
from packager.core.errors import ConfigError
from packager.measuring.tuning.candidates import Candidate
from packager.measuring.tuning.search import SearchRound

SCHEMA = 1


class Journal:
    """A file of lines of JSON; a line that was cut in the middle of a write is left out."""

    def __init__(self, path: Path, subject: Mapping[str, str]) -> None:
        """`subject` says what was measured: the device's fingerprint, the packages' sha256, the method.

        Raises ConfigError if the file is of something else.
        """
        self._path = path
        self._rounds: dict[tuple[str, str, int], SearchRound] = {}
        lines = _lines(path)
        if lines and lines[0].get("subject") != dict(subject):
            raise ConfigError(
                f"{path} has rounds of another device, other packages or another method",
                hint="give another --journal, or remove the file",
            )
        for line in lines[1:]:
            found = SearchRound(
                times_ns=tuple(line["times-ns"]),
                error=line["error"],
                error_share=line.get("error-share"),
                falls_back=line.get("falls-back", bool(line["error"])),
            )
            self._rounds[line["model"], line["candidate"], line["round"]] = found
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(_text({"schema": SCHEMA, "subject": dict(subject)}), encoding="utf-8", newline="\n")

    def find(self, model: str, candidate: Candidate, number: int) -> SearchRound | None:
        return self._rounds.get((model, candidate.key, number))

    def add(self, model: str, candidate: Candidate, number: int, found: SearchRound) -> None:
        self._rounds[model, candidate.key, number] = found
        line = {
            "model": model,
            "candidate": candidate.key,
            "round": number,
            "times-ns": found.times_ns,
            "error": found.error,
            "error-share": found.error_share,
            "falls-back": found.falls_back,
        }
        with self._path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(_text(line))


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    lines: list[dict[str, Any]] = []
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(keepends=True)):
        try:
            found = parsing.json_of(line)
        except ValueError:
            found = None
        is_known = isinstance(found, dict) and (found.get("schema") == SCHEMA if number == 0 else "times-ns" in found)
        if is_known and line.endswith("\n"):
            lines.append(found)
        elif number == 0:
            raise ConfigError(f"{path} is not a journal of mobpack tune", hint="give another --journal")
    if not text.endswith("\n"):
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write("\n")  # ends what was cut, so that the next line stands alone
    return lines


def _text(line: Mapping[str, object]) -> str:
    return json.dumps(line, sort_keys=True) + "\n"
