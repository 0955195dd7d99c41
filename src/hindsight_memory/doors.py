"""The numbers of the doors: where the server listens, how many serve, and how much they take at once."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens and how much it takes at once."""

    host: str = "127.0.0.1"
    port: int = 8765
    api_key: str = field(default="", repr=False)
    workers: int = 1
    """Processes that serve."""
    body_bytes: int = 8_000_000
    """The longest request."""
    body_s: float = 60.0
    """How long it may take to arrive."""
    held_bytes: int = 64_000_000
    """Requests that one process holds at a time, all together; what they become takes several times as much."""
    at_once: int = 256
    """Requests that one process answers at a time; more are told to come back."""
    heartbeat_s: float = 15.0
    requests_per_minute: int = 6_000
    """What one key may ask for, all of it at once too; 0 for no limit."""
    bytes_per_minute: int = 200_000_000
    """What one key may send; 0 for no limit."""
    failures_per_minute: int = 60
    """Attempts without a key that works, from one address; 0 for no limit."""
    tls_cert: str = ""
    """File of the certificate, with its chain; with one the server speaks TLS and nothing else."""
    tls_key: str = ""
    """File of its private key, where the certificate's does not hold it."""
