"""Loading all that a model's code may use: a worker can open no file, so nothing can be imported later."""

from __future__ import annotations

import contextlib
import io
import pkgutil
import warnings
import zoneinfo
from datetime import tzinfo
from importlib import import_module

import pandas as pd
import pyarrow

from .static_check import ALLOWED_MODULES

# Parts of pandas and numpy that load others only when used.
_PACKAGES = ("pandas.core", "pandas.tseries", "pandas.io.formats", "pandas.compat")
_MODULES = (
    "_strptime",
    "dateutil.parser",
    "dateutil.tz",
    "linecache",
    "numpy.fft",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "numpy.rec",
    "pandas.io.json",
    "pandas.io.parsers",
    "pyarrow.compute",
    *(f"encodings.{name}" for name in ("ascii", "cp1252", "hex_codec", "idna", "latin_1", "utf_16", "utf_8_sig")),
)

_TIME_ZONES: list[tuple[tzinfo, tzinfo]] = []


def load_all() -> None:
    """Import it all, without threads, and rehearse."""
    warnings.simplefilter("ignore")
    for name in (*ALLOWED_MODULES, *_MODULES):
        import_module(name)
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, package + "."):
            # Some need optional libraries, and are of no use without them.
            with contextlib.suppress(ImportError):
                import_module(module.name)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    pd.set_option("compute.use_numexpr", False)
    _keep_time_zones()
    _rehearse()


def _keep_time_zones() -> None:
    """Read every time zone's file, and hold on to what was read, or it would be forgotten.

    Pandas asks not for the zones of the standard library's C code, but for their twins in Python.
    """
    twin = import_module("zoneinfo._zoneinfo").ZoneInfo
    for key in zoneinfo.available_timezones():
        with contextlib.suppress(zoneinfo.ZoneInfoNotFoundError, ValueError):
            _TIME_ZONES.append((zoneinfo.ZoneInfo(key), twin(key)))


def _rehearse() -> None:
    """Use the common operations once, which fills caches."""
    days = pd.Series(["2020-01-31", None, "2021-02-01"])
    left = pd.DataFrame({"key": ["a", "b", "a"], "day": pd.to_datetime(days)})
    right = pd.DataFrame({"key": ["a", "b"], "number": pd.array([1, None], dtype="Int64")})
    both = left.merge(right, on="key", how="left")
    grouped = both.groupby("key").agg(total=("number", "sum"), first=("day", "min")).reset_index()
    grouped.sort_values(["total", "key"], ascending=[False, True]).head(1).to_string()
    both.pivot_table(index="key", columns=both["day"].dt.year, values="number", aggfunc="sum")
    both["key"].str.upper().str.contains("A", regex=True).value_counts().describe()
    both.query("number > 0").drop_duplicates().nlargest(1, "number")
    both["day"].dt.strftime("%Y-%m").rank()
    both["number"].rolling(2).mean()
    pd.read_csv(io.StringIO(both.to_csv(index=False)))
