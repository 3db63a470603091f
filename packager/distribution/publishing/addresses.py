"""Checks addresses of registries: encrypted, and without credentials in them."""

import ipaddress
from urllib.parse import urlsplit

from packager.core.errors import ConfigError


def checked(address: str, where: str) -> str:
    """The address without a slash at its end. Raises ConfigError if credentials are in it, or everybody on the way
    could read them; `where` names the option."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{where}: not an address ({error})", hint="write it as https://HOST/PATH") from error
    if parts.username or parts.password or "@" in parts.netloc:
        raise ConfigError(
            f"{where}: the address contains a user name or a password, which logs and process lists would show",
            hint="remove it; credentials come from environment variables, see docs/publish.md",
        )
    if not host or parts.scheme not in ("https", "http") or parts.query or parts.fragment:
        raise ConfigError(f"{where}: not an address of a registry", hint="write it as https://HOST/PATH")
    if not address.isascii() or not address.isprintable() or " " in address:
        raise ConfigError(
            f"{where}: the address contains spaces or characters beyond ASCII",
            hint="write them as %XX (UTF-8), and names of hosts as xn--...",
        )
    if not is_safe(address):
        raise ConfigError(
            f"{where}: http:// sends credentials and packages unencrypted",
            hint="use https://; http:// is for servers on this machine alone (localhost)",
        )
    return address.rstrip("/")


def is_safe(address: str) -> bool:
    """Whether an address is encrypted, or of this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and _is_this_machine(parts.hostname or ""))


def host_of(address: str) -> str:
    """`registry.example:8443`"""
    return urlsplit(address).netloc


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
