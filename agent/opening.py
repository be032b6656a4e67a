"""Opens what an agent needs: the database and its value index, the example store, and the translator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..tools.database import Database
from ..tools.toolset import Toolset
from ..tools.values import ValueIndex
from .example_stores import AgentExamples
from .models import resolve_model
from .prompted import PromptedTranslator, TranslatorOptions
from .resources import Resources
from .schemas import Schemas
from .settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ..tools.examples import ExampleStore
    from ..tools.sandbox import SandboxLimits
    from .translator import Translator


@dataclass(frozen=True)
class Opened:
    """Resources, and how to close those that were opened here."""

    resources: Resources
    close: Callable[[], None]


def open_resources(
    database: str | Path | Database,
    *,
    model: str | BaseChatModel | None,
    settings: Settings,
    examples: ExampleStore | str | Path | None,
    embedding: str = "hashed",
    base_url: str | None,
    sandbox: SandboxLimits | None = None,
) -> Opened:
    """Opens everything; what fails closes what was opened before it."""
    stack = ExitStack()
    try:
        if not isinstance(database, Database):
            database = stack.enter_context(Database.open(database))
        values = ValueIndex.open(database)
        translator = _translators(database, values, model, base_url)
        translator(settings)
        found = AgentExamples(examples, embedding, stack)
        tools = Toolset(database, values, found.store, sandbox)
    except BaseException:
        stack.close()
        raise
    schemas = Schemas(database, values)
    return Opened(Resources(database, values, tools, translator, settings, schemas, found), stack.close)


def _translators(
    database: Database, values: ValueIndex, model: str | BaseChatModel | None, base_url: str | None
) -> Callable[[Settings], Translator]:
    """The translator for a run's settings, made once for each."""

    @lru_cache(maxsize=32)
    def made(options: TranslatorOptions, seconds: float, retries: int) -> Translator:
        chat_model = resolve_model(model, base_url=base_url, timeout=seconds, max_retries=retries)
        if chat_model is None:
            from .offline import OfflineTranslator

            return OfflineTranslator(database, values)
        return PromptedTranslator(chat_model, options)

    def translator(settings: Settings) -> Translator:
        options = TranslatorOptions(
            prompt_tokens=settings.prompt_tokens,
            max_output_tokens=settings.max_output_tokens,
            temperature=settings.temperature,
            simplify_temperature=settings.simplify_temperature,
        )
        return made(options, settings.request_seconds, settings.request_retries)

    return translator
