"""The cluster that runs a fleet: one of this machine, or an existing one of Dask."""

import contextlib
import importlib.util
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from packager.core.errors import ConfigError, ToolError
from packager.measuring.fleet.about import WorkerAbout, about
from packager.measuring.fleet.resources import Worker
from packager.measuring.fleet.security import refuse_missing_certificates, refuse_open_scheduler, refuse_open_workers

INSTALL = "run: pip install 'mobpack[fleet]'"
CONNECT_S = 20
"""Time for a scheduler to answer."""
RETURN_S = 120
"""Time for a scheduler that was lost to come back, with a worker."""
CLOSE_S = 5
ATTEMPTS = 5
"""Attempts to start workers, and to ask them: one may be killed in the middle."""
PRELOADED = ("packager.workflows.fleet.steps", "onnx", "rich.console", "license_expression")
"""Modules that a worker of this machine has when it begins. None of them starts a thread, which a copy would lack."""


@dataclass(kw_only=True)
class Cluster:
    """A connection to workers."""

    client: Any
    """distributed.Client"""
    local: Any = None
    """distributed.LocalCluster; None for a cluster of others"""
    address: str = ""
    count: int = 0
    """number of workers of a local cluster"""
    is_insecure_allowed: bool = False
    """whether workers may listen to other machines without TLS"""

    @property
    def dashboard(self) -> str:
        """Address of Dask's page; empty without one."""
        if self.local is not None and not _has_dashboard():
            return ""
        return str(self.client.dashboard_link or "")

    def workers(self, runners: Sequence[str], files: Sequence[str]) -> tuple[Worker, ...]:
        """The workers that are there now. Raises ToolError for one with another version, or without mobpack."""
        told = self._told(runners, files)
        known = self.client.scheduler_info(n_workers=-1)["workers"]
        found = []
        for address, one in told.items():
            entry = known.get(address)
            if entry is None:
                continue
            found.append(
                Worker(
                    address=address,
                    name=str(entry.get("name", address)),
                    alias=entry.get("name", address),
                    about=one,
                    memory_bytes=float(entry.get("memory_limit") or 0),
                    declared=dict(entry.get("resources") or {}),
                )
            )
        if not self.is_insecure_allowed:
            refuse_open_workers({each.name: each.address for each in found})
        refuse_other(found)
        return tuple(found)

    def _told(self, runners: Sequence[str], files: Sequence[str]) -> dict[str, WorkerAbout]:
        for left in reversed(range(ATTEMPTS)):
            try:
                return dict(self.client.run(about, tuple(runners), tuple(files)))
            except Exception as error:
                if left and isinstance(error, OSError):  # the connection ended: a worker was lost meanwhile
                    time.sleep(1)
                    continue
                raise ToolError(  # whatever a worker raises that cannot load this module
                    f"a worker cannot run mobpack: {type(error).__name__}: {str(error)[:200]}",
                    hint="install the same mobpack, with its fleet extra, where workers run",
                ) from error
        raise AssertionError("the last attempt returns or raises")

    def again(self) -> bool:
        """Connects anew after the scheduler was lost; False if it does not come back in time."""
        with contextlib.suppress(Exception):  # the old connection is of no use in any case
            self.client.close(timeout=CLOSE_S)
        end = time.monotonic() + RETURN_S
        while time.monotonic() < end:
            try:
                self.client = library().Client(self.address, timeout=CLOSE_S, set_as_default=False)
                self.client.wait_for_workers(1, timeout=max(1.0, end - time.monotonic()))
            except (OSError, TimeoutError):
                time.sleep(1)
            else:
                return True
        return False

    def keep(self) -> None:
        """Starts workers of this machine in place of those that are gone: Dask starts a worker again that is killed,
        but not one that is killed while it starts."""
        if self.local is not None:
            self.local.scale(self.count)

    def pids(self) -> tuple[int, ...]:
        """Processes of the workers of a local cluster."""
        nannies = self.local.workers.values() if self.local is not None else ()
        return tuple(pid for each in nannies if (pid := getattr(each, "pid", None)))


@contextlib.contextmanager
def connected(*, scheduler: str, workers: int, is_insecure_allowed: bool = False) -> Iterator[Cluster]:
    """A cluster, until the block ends. Workers of this machine end with it, and the programs that they started.

    Raises ConfigError without Dask, for a wrong address, and for one that lacks TLS unless `is_insecure_allowed`;
    ToolError for a scheduler that does not answer or has no workers.
    """
    if importlib.util.find_spec("distributed") is None:
        raise ConfigError("mobpack fleet needs Dask, which is not installed", hint=INSTALL)
    _quieten()
    with _existing(scheduler, is_insecure_allowed) if scheduler else _of_this_machine(workers) as found:
        yield found


def _refuse_address(address: str) -> None:
    """Raises ConfigError for what Dask does not take: its client would wait, and end with a traceback."""
    from distributed.comm.addressing import get_address_host_port

    try:
        get_address_host_port(address)
    except ValueError as error:
        raise ConfigError(f"--scheduler: {error}", hint="give it as Dask prints it: tls://HOST:8786") from error


@contextlib.contextmanager
def _existing(address: str, is_insecure_allowed: bool) -> Iterator[Cluster]:
    _refuse_address(address)
    if not is_insecure_allowed:
        refuse_open_scheduler(address)
    refuse_missing_certificates(address)
    try:
        client = library().Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ToolError(
            f"no scheduler answers at {address}", hint="start one with: dask scheduler; --workers N needs none"
        ) from error
    cluster = Cluster(client=client, address=address, is_insecure_allowed=is_insecure_allowed)
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError as error:
            raise ToolError(
                f"the scheduler at {address} has no workers", hint=f"start one with: dask worker {address}"
            ) from error
        yield cluster
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be gone by now
            cluster.client.close(timeout=CLOSE_S)


@contextlib.contextmanager
def _of_this_machine(count: int) -> Iterator[Cluster]:
    _prepare_fork_server()
    with tempfile.TemporaryDirectory(prefix="mobpack-fleet-", ignore_cleanup_errors=True) as folder:
        local = _started(count, folder)
        client = library().Client(local, set_as_default=False)
        cluster = Cluster(client=client, local=local, address=local.scheduler_address, count=count)
        try:
            yield cluster
        except BaseException:
            _kill(cluster.pids())  # steps that run end now, and with them their programs
            raise
        finally:
            with contextlib.suppress(Exception):  # some of it has ended already
                cluster.client.close(timeout=CLOSE_S)
            with contextlib.suppress(Exception):
                local.close(timeout=CLOSE_S)


def _started(count: int, folder: str) -> Any:
    """A distributed.LocalCluster with `count` workers, which keep their files in `folder`.

    Every user of this machine reaches its ports: they answer only who has its certificate, which is in memory alone.
    """
    security = library().Security.temporary()
    for left in reversed(range(ATTEMPTS)):
        try:
            return library().LocalCluster(
                n_workers=count,
                env=dict(os.environ),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                security=security,
                dashboard_address="127.0.0.1:0",  # without bokeh, Dask serves numbers alone there
                local_directory=folder,
                memory_limit=0,  # tasks watch their programs, too, which Dask does not see
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:  # a worker was killed before it had begun
            if not left:
                raise ToolError(
                    f"workers of this machine do not start: {error.__cause__ or error}",
                    hint="see whether memory is left; --workers N takes fewer",
                ) from error
    raise AssertionError("the last attempt returns or raises")


def _prepare_fork_server() -> None:
    """Lets workers begin as copies of one process that has imported all that tasks need, where the system can do that
    safely: each would import it anew otherwise, which takes longer than most tasks."""
    if sys.platform != "linux":
        return
    import dask

    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    library().utils.get_mp_context().set_forkserver_preload(["distributed.nanny", *PRELOADED])


def _kill(pids: Sequence[int]) -> None:
    import psutil

    for pid in pids:
        with contextlib.suppress(psutil.Error):
            psutil.Process(pid).kill()


def refuse_other(workers: Sequence[Worker]) -> None:
    """Raises ToolError for a worker with another mobpack or Python: its results would be others."""
    own = about()
    for each in workers:
        theirs = each.about
        for what, here, there in (
            ("Python", own.python, theirs.python),
            ("mobpack", own.mobpack, theirs.mobpack),
            ("code of mobpack", own.code[:12], theirs.code[:12]),
        ):
            if here != there:
                raise ToolError(
                    f"worker {each.name} runs {what} {there}, and this is {what} {here}",
                    hint="install the same version everywhere: other code makes other bytes",
                )


def annotated(**annotations: Any) -> contextlib.AbstractContextManager[None]:
    """A block in which graphs are submitted with annotations: values, or functions of a task's key."""
    import dask

    found: contextlib.AbstractContextManager[None] = dask.annotate(**annotations)  # type: ignore[attr-defined]
    return found


def library() -> Any:
    """The package distributed, whose constructors have no types."""
    import distributed

    return distributed


def _quieten() -> None:
    """Lets Dask log nothing: messages about lost workers are those of the run."""
    library()  # it sets levels of its own when it is imported
    import dask

    dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"})
    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _has_dashboard() -> bool:
    return importlib.util.find_spec("bokeh") is not None
