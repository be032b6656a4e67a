"""DuckDB in workers limited by the kernel, which run queries or find tables of files."""

from __future__ import annotations

import gc
import math
import os
import resource
import socket
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import ormsgpack

from ...errors import TableturnError
from ...nursery import run_fork_server
from ...sandbox.boundary import confine_reader_process, drop_unneeded_capabilities, measure_address_space
from ..wire import (
    ERROR_BYTES,
    FAILURE,
    MESSAGE_BYTES,
    PART,
    RESULT,
    pack_error,
    receive,
    send,
    set_limit,
    unpack_open_request,
)
from ..worker import serve_database
from .entries import pack_entry, unpack_entry
from .files import DISK_BYTES, MEMORY_BYTES, THREADS, FileReader
from .instance import DuckDBInstance
from .opening import FILES, READING_BYTES
from .sources import FileKind, TableFile


def serve(descriptor: int) -> None:
    """Fork a worker process for every connection until the control socket closes; never return."""
    # DuckDB asks for it where times have a zone.
    with suppress(ImportError):
        import_module("pytz")
    run_fork_server(descriptor, work)


def work(sock: socket.socket) -> None:
    """Serve a database, or read files, until the connection closes; never return."""
    if message := receive(sock, MESSAGE_BYTES):
        task, *arguments = ormsgpack.unpackb(message[1])
        if task == FILES:
            _serve_file_requests(sock, *arguments)
        serve_database(sock, lambda: _open_duckdb_instance(*arguments), threads=THREADS, engine_bytes=MEMORY_BYTES)


def _open_duckdb_instance(opening: bytes) -> DuckDBInstance:
    path, permissions, folder, packed_entries = unpack_open_request(opening)
    entries = list(map(unpack_entry, packed_entries))
    drop_unneeded_capabilities(*([path] if path else [str(entry.path) for entry in entries]))
    return DuckDBInstance(
        Path(path) if path else None, entries, permissions, Path(os.fsdecode(folder)) / str(os.getpid())
    )


def _serve_file_requests(
    sock: socket.socket, folder: bytes, thorough: bool, reversals: list[str], kinds: list[FileKind]
) -> None:
    """Read the files requested over a socket until it closes; never return."""
    gc.enable()
    # Inside the limits, no library is loaded any more.
    with suppress(ImportError):
        for name in ("pandas", "openpyxl") if "workbook" in kinds else ():
            import_module(name)
    if "text" in kinds:
        import chardet

        # This has all encodings loaded.
        chardet.detect_all("имя;\n".encode("cp1251"))
    reader = FileReader(Path(os.fsdecode(folder)), thorough=thorough, reversals=frozenset(reversals))
    set_limit(resource.RLIMIT_AS, measure_address_space() + READING_BYTES)
    set_limit(resource.RLIMIT_FSIZE, DISK_BYTES)
    set_limit(resource.RLIMIT_CORE, 0)
    # DuckDB's threads run by now, and no more are needed.
    confine_reader_process()
    send(sock, RESULT, b"")
    while message := receive(sock, MESSAGE_BYTES):
        path, kind, table, seconds = ormsgpack.unpackb(message[1])
        set_limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds))
        try:
            entries = reader.entries(TableFile(Path(os.fsdecode(path)), kind, table))
            send(sock, RESULT, ormsgpack.packb(list(map(pack_entry, entries))))
        except TableturnError as error:
            send(sock, FAILURE, pack_error(error))
        except Exception:  # noqa: BLE001 - a fault of ours is raised where the file was asked for
            send(sock, PART, traceback.format_exc()[-ERROR_BYTES // 4 :].encode())
    os._exit(0)
