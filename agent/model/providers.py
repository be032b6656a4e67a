"""Chat models of other providers by name, through LangChain's `init_chat_model`: each needs an extra."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...tools.errors import ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class Provider(NamedTuple):
    """A provider with an extra of its own.

    Attributes:
        known: LangChain's name for it.
        keys: Environment variables of which one holds its key; none where it wants no key.
    """

    known: str
    keys: tuple[str, ...] = ()


PROVIDERS: Final = {
    "anthropic": Provider("anthropic", ("ANTHROPIC_API_KEY",)),
    "google": Provider("google_genai", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "mistral": Provider("mistralai", ("MISTRAL_API_KEY",)),
    "ollama": Provider("ollama"),
}
"""By the names of their extras; any other that LangChain knows works once its package is installed."""

_PACKAGE: Final = re.compile(r"langchain-[a-z0-9-]+")


def provided_model(provider: str, name: str, base_url: str | None, options: dict[str, Any]) -> BaseChatModel | None:
    """A model of a provider.

    Args:
        provider: One of `PROVIDERS`, or LangChain's own name for another.
        name: The model's.
        base_url: Where its server is; None for the provider's own.
        options: `timeout` in seconds and `max_retries`; `temperature` and `max_tokens` where they are set.

    Returns:
        The model; None where there is no such provider.

    Raises:
        ModelError: The extra is not installed, or the model cannot be set up.
    """
    known, keys = PROVIDERS.get(provider, Provider(provider))
    try:
        from langchain.chat_models import init_chat_model

        if provider in PROVIDERS:
            import_module(f"langchain_{known}")  # itself: for Ollama's, LangChain takes another in its place
        if keys and base_url is None and not any(map(os.environ.get, keys)):
            raise ModelError(f"{provider}:{name} needs {' or '.join(keys)}")
        return init_chat_model(name, model_provider=known, **_understood(known, base_url, options))
    except ImportError as error:
        package = f"'tableturn[{provider}]'" if provider in PROVIDERS else _PACKAGE.search(str(error))
        if package is None:
            return None
        wanted = package if isinstance(package, str) else package[0]
        raise ModelError(f"{provider}:{name} needs a package that is not installed: pip install {wanted}") from None
    except ModelError:
        raise
    except Exception as error:
        if "Unsupported provider" in str(error):
            return None
        raise ModelError(f"{provider}:{name} cannot be used: {' '.join(str(error).split())[:200]}") from error


def _understood(known: str, base_url: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """The options by the names that the provider's model has for them."""
    own: dict[str, Any] = {} if base_url is None else {"base_url": base_url}
    if known == "ollama":
        taken = dict(options)
        own["client_kwargs"] = {"timeout": taken.pop("timeout", None)}
        taken.pop("max_retries", None)
        if "max_tokens" in taken:
            own["num_predict"] = taken.pop("max_tokens")
        return taken | own
    return options | own
