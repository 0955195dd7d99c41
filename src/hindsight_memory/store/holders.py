"""Who holds a claim or a lead: the names of processes, and whether those they name still run."""

from __future__ import annotations

import os
import secrets
import socket


def holder() -> str:
    """What this process is called in its claims."""
    return f"{socket.gethostname()}:{os.getpid()}"


def leader() -> str:
    """A name for a service that leads, among all that share its store, those of this process among them."""
    return f"{secrets.token_hex(4)}@{holder()}"


def gone(holder: str) -> bool:
    """Whether the process that a claim names ran here and has ended, or had this one's number before it."""
    host, _, number = holder.rpartition(":")
    if host != socket.gethostname() or not number.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return int(number) == os.getpid()


def left(leader: str) -> bool:
    """Whether the process that leads has ended. One with this process's number may be another service in it."""
    name = leader.partition("@")[2]
    return name != holder() and gone(name)
