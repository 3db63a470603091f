"""Who can run code on the workers of a fleet. Dask runs whatever its connections carry: schedulers and workers must
know who is at the other end."""

import hashlib
import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError, ToolError

SECURED = ("tls", "wss", "inproc")
"""Schemes of addresses whose connections prove who they are, or stay in a process."""
ANYBODY = "whoever reaches its port"
OPTION = "--insecure-scheduler"
HOW_TO = "use TLS (docs/fleet.md, section Security)"


def refuse_open_scheduler(address: str) -> None:
    """Raises ConfigError for a scheduler beyond this machine's own network interface without TLS."""
    if is_open(address):
        raise ConfigError(
            f"--scheduler {address}: without TLS, anyone who reaches it can run code on the workers and here",
            hint=f"{HOW_TO}: --scheduler tls://HOST:8786, or give {OPTION} in a network that nobody else can reach",
        )


def refuse_missing_certificates(address: str) -> None:
    """Raises ConfigError if Dask's configuration lacks the certificates for a scheduler with TLS."""
    import distributed
    from distributed.comm.addressing import parse_address

    if parse_address(address)[0] != "tls":
        return
    reason = "Dask's configuration names none"
    security: Any = distributed.Security  # it has no types
    try:
        if security().get_connection_args("client")["ssl_context"]:
            return
    except OSError as error:
        reason = error.strerror or str(error)
    raise ConfigError(
        f"--scheduler {address} needs certificates: {reason}",
        hint="set distributed.comm.tls.ca-file, .client.cert and .client.key (docs/fleet.md, section Security)",
    )


def refuse_open_workers(addresses: Mapping[str, str]) -> None:
    """Raises ToolError for a worker, by its name, that listens beyond its own machine without TLS."""
    for name, address in addresses.items():
        if is_open(address):
            raise ToolError(
                f"worker {name} listens at {address} without TLS: anyone who reaches it can run code there",
                hint=f"{HOW_TO}, or give {OPTION} in a network that nobody else can reach",
            )


def is_open(address: str) -> bool:
    """Whether connections to `address` come from other machines, and prove nothing."""
    from distributed.comm.addressing import get_address_host, parse_address

    scheme, _ = parse_address(address)
    return scheme not in SECURED and not _is_loopback(get_address_host(address))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trusted_by(server: Any) -> str:
    """From whom a worker of Dask (distributed.Worker) takes code, in words."""
    if not str(server.address).startswith("tls:") or not server.security.tls_ca_file:
        return ANYBODY
    return f"whoever has a certificate of the authority {_authority(server.security.tls_ca_file)}"


def _authority(named: str) -> str:
    """A certificate authority that Dask has as text, or as the path of a file."""
    is_text = "\n" in named
    content = named.encode() if is_text else Path(named).read_bytes()
    name = "of this run" if is_text else Path(named).name
    return f"{name} (sha256 {hashlib.sha256(content).hexdigest()[:12]})"
