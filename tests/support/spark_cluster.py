"""A private Spark cluster on this machine: a driver that speaks Spark Connect, and two workers, each its own process.

Java's side comes with pyspark; what it writes stays in one folder, and all of it ends with `stop`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tableturn.tools.database.spark.engine import PysparkDriver
from tableturn.tools.errors import DatabaseUnavailable

WORKERS = 2
_WORKER_MEGABYTES = 512
_DRIVER_MEGABYTES = 640
_START_SECONDS = 180.0
_STOP_SECONDS = 20.0
_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectServer"
_GUARD = """
exec 3<&0
"$@" 3<&- </dev/null &
spark=$!
(read -r _ <&3; kill $spark; sleep 10; kill -KILL 0) 2>/dev/null &
wait $spark
kill -KILL 0
"""
# Small heaps that are collected by one thread: three processes share the machine with whatever else runs there.
_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss2m"


def missing() -> str:
    """What has to be installed before a cluster can start; empty where nothing has."""
    wanted: list[str] = []
    if _home() is None:
        wanted.append("pyspark (pip install 'tableturn[spark-local]', about 500 MB)")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        wanted.append("Java 17 or newer (Debian's package openjdk-17-jre-headless)")
    return " and ".join(wanted)


class SparkCluster:
    """A cluster that starts when it is made.

    Attributes:
        url: Where it is reached, with a token that only this process knows.
        folder: Where it keeps its tables and logs.
    """

    def __init__(self, folder: Path) -> None:
        """Starts it.

        Raises:
            DatabaseUnavailable: It does not start; the message has the end of its log.
        """
        home = _home()
        assert home is not None
        self.folder = folder
        port, token = _free_port(), secrets.token_hex(16)
        self.url = f"sc://localhost:{port}/;token={token}"
        self._log = folder / "spark.log"
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": port,
            "spark.driver.extraJavaOptions": f"{_JAVA} -Djava.io.tmpdir={folder}",
            "spark.executor.extraJavaOptions": _JAVA,
            "spark.executor.memory": f"{_WORKER_MEGABYTES}m",
            "spark.local.dir": folder / "scratch",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.shuffle.partitions": WORKERS,
            "spark.sql.warehouse.dir": folder / "tables",
            # A task that does not hear that it was cancelled ends with its worker, which then starts anew.
            "spark.task.reaper.enabled": "true",
            "spark.task.reaper.killTimeout": "5s",
            "spark.ui.enabled": "false",
        }
        arguments = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": token,
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                guarded(
                    str(home / "bin" / "spark-submit"),
                    *("--class", _SERVICE, "--driver-memory", f"{_DRIVER_MEGABYTES}m"),
                    *("--master", f"local-cluster[{WORKERS},1,{_WORKER_MEGABYTES}]", *arguments, "spark-internal"),
                ),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.PIPE,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        try:
            self._await(port)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> SparkCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Runs statements one after the other in a session of their own, writing ones too; the last one's rows."""
        driver = PysparkDriver()
        client = driver.connect(self.url)
        try:
            rows = [list(driver.rows(client, each)) for each in statements]
            client.release_session()
        finally:
            client.close()
        return rows[-1] if rows else []

    def stop(self) -> None:
        """Ends every process of it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _await(self, port: int) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.2)
        told = " ".join(self._log.read_text(encoding="utf-8", errors="replace").split())[-500:]
        raise DatabaseUnavailable(f"Spark did not start here: {told}")


def guarded(*command: str) -> list[str]:
    """A command that ends, with all that it started, once its standard input is closed.

    Started in a session of its own and with a pipe as its input, it ends with the process that holds the pipe, whatever
    ends that one: a signal that cannot be handled, too.
    """
    return ["/bin/sh", "-c", _GUARD, "sh", *command]


def _home() -> Path | None:
    """Pyspark's folder, where it has Java's side, which the thin client of the same name lacks."""
    found = find_spec("pyspark")
    folder = Path(found.origin).parent if found is not None and found.origin else None
    return folder if folder is not None and (folder / "jars").is_dir() else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
