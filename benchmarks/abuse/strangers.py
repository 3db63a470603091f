"""Strangers on the ports of a fleet: connections without a certificate, and with one of their own.

`python -m benchmarks.abuse.strangers` prints the ports that let one in, as JSON: `{"tries": number, "open": [words]}`.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.abuse.result import Result
from packager.measuring.fleet.cluster import Cluster, connected, library

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 5


def attack() -> Result:
    """In a process of its own: Dask starts threads, which a fork would lack."""
    command = [sys.executable, "-m", "benchmarks.abuse.strangers"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return Result(attack="strangers on the ports of `fleet`", tries=found["tries"], exceptions=tuple(found["open"]))


def intrusions(cluster: Cluster) -> Iterator[tuple[str, bool]]:
    """Every attempt, in words, and whether the port answered it."""
    strange = library().Security.temporary().get_connection_args("client")
    ports = {"the scheduler": cluster.address}
    ports |= {f"worker {each.name}": each.address for each in cluster.workers((), ())}
    for name, address in ports.items():
        place = address.rpartition("/")[2]
        yield f"{name}, without TLS", asyncio.run(_is_answered(f"tcp://{place}", {}))
        yield f"{name}, with another certificate", asyncio.run(_is_answered(f"tls://{place}", strange))


async def _is_answered(address: str, how: dict[str, Any]) -> bool:
    """Whether a question to `address` gets an answer; every question can be a function to run."""
    try:
        connection = await library().core.connect(address, timeout=TIMEOUT_S, **how)
        await connection.write({"op": "identity", "reply": True})
        await asyncio.wait_for(connection.read(), TIMEOUT_S)
    except (OSError, TimeoutError):
        return False
    return True


def main() -> None:
    with connected(scheduler="", workers=1) as cluster:
        found = list(intrusions(cluster))
    print(json.dumps({"tries": len(found), "open": [name for name, is_answered in found if is_answered]}))


if __name__ == "__main__":
    main()
