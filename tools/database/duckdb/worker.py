"""The process that reads files: it finds their tables within limits that the kernel keeps."""

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
from typing import Any

import chardet
import ormsgpack

from ...errors import TableturnError
from ...nursery import serve_workers
from ...sandbox.boundary import confine_reader
from ...sandbox.bounds import memory_held
from ..wire import ERROR_BYTES, FAILURE, PART, RESULT, pack_error, receive, send, soft_limit
from .entries import Entry
from .files import DISK_BYTES, MESSAGE_BYTES, READING_BYTES, FileReader
from .sources import File


def serve(descriptor: int) -> None:
    """Fork a reader for every line that comes, until the control socket ends. Never returns."""
    # Inside the limits, no library is loaded any more: this has all encodings loaded.
    chardet.detect_all("имя;\n".encode("cp1251"))
    serve_workers(descriptor, work)


def work(line: socket.socket) -> None:
    """Read files until the line ends. Never returns."""
    gc.enable()
    message = receive(line, MESSAGE_BYTES)
    if message is None:
        os._exit(0)
    folder, thorough, workbooks = ormsgpack.unpackb(message[1])
    with suppress(ImportError):
        for name in ("pandas", "openpyxl") if workbooks else ():
            import_module(name)
    reader = FileReader(Path(os.fsdecode(folder)), thorough=thorough)
    _limit()
    send(line, RESULT, b"")
    while message := receive(line, MESSAGE_BYTES):
        path, kind, table, seconds = ormsgpack.unpackb(message[1])
        soft_limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds))
        try:
            entries = reader.entries(File(Path(os.fsdecode(path)), kind, table))
            send(line, RESULT, ormsgpack.packb([_packed(entry) for entry in entries]))
        except TableturnError as error:
            send(line, FAILURE, pack_error(error))
        except Exception:  # noqa: BLE001 - a fault of ours is raised where the file was asked for
            send(line, PART, traceback.format_exc()[-ERROR_BYTES // 4 :].encode())
    os._exit(0)


def _limit() -> None:
    soft_limit(resource.RLIMIT_AS, memory_held() + READING_BYTES)
    soft_limit(resource.RLIMIT_FSIZE, DISK_BYTES)
    soft_limit(resource.RLIMIT_CORE, 0)
    # DuckDB's threads run by now, and no more are needed.
    confine_reader()


def _packed(entry: Entry) -> tuple[Any, ...]:
    columns = [(own, held.name, held.type, held.comment) for own, held in entry.columns]
    path = os.fsencode(entry.path or "")
    return entry.name, columns, entry.scan, entry.comment, entry.estimate, entry.slow, path, entry.remarks
