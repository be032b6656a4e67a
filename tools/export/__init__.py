"""Writing rows to files and streams: CSV, JSON, JSON lines, Markdown, Excel and Parquet."""

from .export import Exported, Target, check_target, export_query, export_rows, write_file
from .forms import BINARY, FORMATS, MEDIA_TYPES, Format, check_installed, format_of

__all__ = [
    "BINARY",
    "FORMATS",
    "MEDIA_TYPES",
    "Exported",
    "Format",
    "Target",
    "check_installed",
    "check_target",
    "export_query",
    "export_rows",
    "format_of",
    "write_file",
]
