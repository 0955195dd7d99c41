"""An encrypted SQLite file: SQLCipher behind the same interface, its key, and a plain file made into one."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from hindsight_memory.errors import InvalidInput, Unavailable
from hindsight_memory.settings import StoreSettings

PAGE: Final = 8_192
_COMMAND_S: Final = 60.0
_PACKAGE: Final = "sqlcipher3"
_INSTALL: Final = "Install it: pip install 'hindsight-memory[encryption]'"
_OTHER_KEY: Final = "Check HINDSIGHT_MEMORY_DATABASE_KEY; without its key nobody can read it."
_PLAIN: Final = "Encrypt it first, when nobody uses it: hindsight-memory encrypt --database FILE; or take the key away."


def secret_of(settings: StoreSettings) -> str:
    """The key of the database, as it is or as the command prints it; empty where the file is plain.

    Raises ``InvalidInput`` for a command that fails.
    """
    if settings.key or not settings.key_command:
        return settings.key
    hint = "Run it by hand; it must print the key, and nothing else."
    try:
        done = subprocess.run(  # noqa: S603  # who sets the environment of this program may also run programs
            shlex.split(settings.key_command), capture_output=True, text=True, timeout=_COMMAND_S, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InvalidInput("The command for the database's key failed.", hint=hint, field="DATABASE_KEY") from error
    if not done.stdout.strip():
        raise InvalidInput("The command for the database's key printed none.", hint=hint, field="DATABASE_KEY")
    return done.stdout.strip()


def failures() -> tuple[type[Exception], ...]:
    """What a connection raises, of either kind."""
    loaded: Any = sys.modules.get(f"{_PACKAGE}.dbapi2")
    return (sqlite3.Error,) if loaded is None else (sqlite3.Error, loaded.Error)


def connected(path: Path, secret: str, busy_timeout_ms: int) -> sqlite3.Connection:
    """A connection to a file that is encrypted with this key, made when it does not exist.

    Raises ``Unavailable`` when it is not, or when what encrypts is not installed.
    """
    driver = _driver()
    connection = _opened(driver, path, busy_timeout_ms)
    try:
        _unlock(connection, secret)
    except driver.DatabaseError as error:
        connection.close()
        if "not a database" not in str(error):
            raise
        if _is_plain(driver, path):
            raise Unavailable(f"The memory file {path} is not encrypted, and a key was given.", hint=_PLAIN) from error
        raise Unavailable(f"The key does not open the memory file {path}.", hint=_OTHER_KEY) from error
    except BaseException:
        connection.close()
        raise
    return connection


def encrypt(path: Path, secret: str) -> None:
    """Make a plain file an encrypted one, in its place.

    Raises ``Unavailable`` where it is none, or others have it open; it is left as it was.
    """
    driver = _driver()
    made = path.with_name(f"{path.name}.encrypting")
    if not path.is_file() or not _is_plain(driver, path):
        raise Unavailable(f"{path} is no plain memory file.", hint="Name another file with --database.")
    made.unlink(missing_ok=True)
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    plain = _opened(driver, path, 1_000)
    try:
        _take(driver, plain, path)
        copy(plain, made, secret)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
    finally:
        plain.close()
    connected(made, secret, 1_000).close()  # it opens, before it takes the other's place
    made.replace(path)


def _take(driver: Any, plain: sqlite3.Connection, path: Path) -> None:
    """Have a file for oneself. Raises ``Unavailable`` where another process has it open."""
    try:
        mode = plain.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except driver.OperationalError:
        mode = ""
    if mode != "delete":
        raise Unavailable(f"The memory file {path} is in use.", hint="End the processes that have it open.")


def copy(connection: sqlite3.Connection, made: Path, secret: str) -> None:
    """Copy a database, encrypted or not, as it is at one moment, into an empty file that is encrypted with this key."""
    connection.execute("ATTACH DATABASE ? AS made KEY ?", (str(made), _key(secret)))
    connection.execute(f"PRAGMA made.cipher_page_size = {PAGE}")
    connection.execute("BEGIN")
    connection.execute("SELECT sqlcipher_export('made')")
    for name in ("user_version", "application_id"):
        number = connection.execute(f"PRAGMA main.{name}").fetchone()[0]
        connection.execute(f"PRAGMA made.{name} = {int(number)}")
    connection.execute("COMMIT")
    connection.execute("DETACH DATABASE made")


def installed() -> None:
    """Raise ``Unavailable`` where what encrypts is not installed."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise Unavailable("An encrypted database needs sqlcipher3, which is not installed.", hint=_INSTALL)


def _driver() -> Any:
    installed()
    from sqlcipher3 import dbapi2  # noqa: PLC0415  # an extra: a plain file does not need it

    return dbapi2


def _opened(driver: Any, path: Path, busy_timeout_ms: int) -> sqlite3.Connection:
    connection: sqlite3.Connection = driver.connect(
        str(path), timeout=busy_timeout_ms / 1_000, isolation_level=None, check_same_thread=False
    )
    return connection


def _unlock(connection: sqlite3.Connection, secret: str) -> None:
    connection.execute("PRAGMA cipher_log_level = NONE")  # it would tell of a wrong key on standard error
    quoted = _key(secret).replace("'", "''")
    connection.execute(f"PRAGMA key = '{quoted}'")  # a pragma takes no parameter
    connection.execute(f"PRAGMA cipher_page_size = {PAGE}")
    connection.execute("PRAGMA cipher_memory_security = OFF")  # wiping each page in memory costs half the speed
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _key(secret: str) -> str:
    """The secret as SQLCipher reads it: 64 hexadecimal digits are the key itself, all else is stretched into one."""
    plain = secret.strip()
    raw = len(plain) == 64 and all(digit in "0123456789abcdefABCDEF" for digit in plain)
    return f"x'{plain}'" if raw else plain


def _is_plain(driver: Any, path: Path) -> bool:
    # With the same library, and not by opening the file: who closes a file lets go of the locks of its whole process.
    connection = _opened(driver, path, 1_000)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except driver.DatabaseError:
        return False
    finally:
        connection.close()
    return True
