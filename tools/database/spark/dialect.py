"""How Spark reads texts from 4.0 on; sqlglot's dialect is that of Spark 3."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark


class Spark4(Spark):
    """Where a quote that is written twice stands for itself, as in standard SQL."""

    class Tokenizer(Spark.Tokenizer):
        """Also by a backslash, as ever."""

        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 - as sqlglot declares it
