"""The network code of Android and iOS, for programs that have none: requests and answers are files."""

import http.client
import json
import ssl
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PIECE_BYTES = 1 << 16
SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Network:
    """Answers requests: NUMBER.head has status, headers and the last address, NUMBER.body what has come, and NUMBER.end
    what went wrong."""

    folder: Path
    trusted: Path | None
    """PEM of a certificate, beside the system's"""
    aborted: set[int] = field(default_factory=set)

    def begin(self, request: dict[str, Any]) -> None:
        threading.Thread(target=self._answer, args=(request,), daemon=True).start()

    def _answer(self, request: dict[str, Any]) -> None:
        number, error = int(request["number"]), ""
        try:
            self._exchange(number, request)
        except (OSError, http.client.HTTPException) as failure:
            error = str(failure) or type(failure).__name__
        if self.folder.is_dir():  # else the program has ended, and its device is gone
            self.write(f"{number}.end", error)

    def _exchange(self, number: int, request: dict[str, Any]) -> None:
        context = ssl.create_default_context(cafile=self.trusted)
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
        wanted = urllib.request.Request(request["url"], headers=request["headers"])
        try:
            answer = opener.open(wanted, timeout=SECONDS)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer, (self.folder / f"{number}.body").open("wb") as body:
            about = {"status": answer.status, "headers": dict(answer.headers.items()), "url": answer.url}
            self.write(f"{number}.head", json.dumps(about))
            while piece := answer.read1(PIECE_BYTES):
                body.write(piece)
                body.flush()
                if number in self.aborted:
                    return
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)

    def write(self, name: str, text: str) -> None:
        """Writes a file that is there whole or not at all."""
        (self.folder / f"{name}.new").write_text(text, encoding="utf-8", newline="\n")
        (self.folder / f"{name}.new").replace(self.folder / name)
