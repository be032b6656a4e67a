"""The choice of a chat model, from arguments and the environment.

langchain-openai is imported only when needed: it takes longer to load than all of tableturn.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...tools.errors import ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class ModelProvider(NamedTuple):
    """A model provider for which tableturn has an optional extra."""

    langchain_name: str  # LangChain's name for it
    keys: tuple[str, ...] = ()  # environment variables of which one holds its key; none where it wants no key


PROVIDERS: Final = {
    "anthropic": ModelProvider("anthropic", ("ANTHROPIC_API_KEY",)),
    "google": ModelProvider("google_genai", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "mistral": ModelProvider("mistralai", ("MISTRAL_API_KEY",)),
    "ollama": ModelProvider("ollama"),
}
"""By the names of their extras; any other that LangChain knows works once its package is installed."""

_PACKAGE: Final = re.compile(r"langchain-[a-z0-9-]+")

OFFLINE: Final = "offline"
DEFAULT_MODEL: Final = "gpt-5-mini"  # what an OpenAI key alone selects

KNOWN_FORMS: Final = "openai:NAME, azure:DEPLOYMENT, offline, " + ", ".join(f"{name}:NAME" for name in PROVIDERS)

_NO_KEY: Final = "none"
"""The key for compatible servers: most need none, but the client library requires one."""


def resolve_model(
    spec: str | BaseChatModel | None = None,
    *,
    base_url: str | None = None,
    timeout: float = 60.0,  # seconds that one request may stay silent
    max_retries: int = 2,  # of one request after 408, 409, 429 (as Retry-After says), 5xx and lost connections
) -> BaseChatModel | None:
    """Return the chat model to use, or None for the offline translator.

    A model that is not named is the one of `choose_model_name`.

    Raises:
        ModelError: For a name of no known form, or where a key, an endpoint or a model's name is missing.
    """
    if spec is not None and not isinstance(spec, str):
        from langchain_core.language_models import BaseChatModel

        if isinstance(spec, BaseChatModel):  # pyright: ignore[reportUnnecessaryIsInstance] - whatever a caller gave
            return spec
        raise ModelError(f"a model must be a LangChain chat model or a name ({KNOWN_FORMS}), not {type(spec).__name__}")
    options: dict[str, Any] = {"timeout": timeout, "max_retries": max_retries}
    url = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or None
    if url and spec != OFFLINE and not re.match("https?://[^/]", url):
        raise ModelError(f"the base URL {url!r} is not valid: write it as in http://localhost:8000/v1")
    name = choose_model_name(spec, base_url)
    provider, _, model_name = name.partition(":")
    if provider == OFFLINE and not model_name:
        return None
    if provider in ("openai", "azure") and model_name:
        return _open_openai_model(provider, model_name, url, options)
    is_other = provider not in ("", OFFLINE)
    if model_name and is_other and (model := _open_provider(provider, model_name, base_url, options)):
        return model
    if not model_name and provider in ("openai", "azure", *PROVIDERS):
        raise ModelError(f"{name!r} names no model: write its name after the colon, as in {provider}:NAME")
    raise ModelError(f"unknown model {name!r}: known forms are {KNOWN_FORMS}")


def choose_model_name(name: str | None = None, base_url: str | None = None) -> str:
    """Return a model's full name, such as `openai:gpt-5-mini` or `offline`.

    In order: `name`; the environment's TABLETURN_MODEL; an OpenAI key or base URL, or an Azure endpoint and
    deployment, in the environment; else offline.
    """
    url = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or None
    return (name or os.environ.get("TABLETURN_MODEL") or _choose_model_from_environment(url)).strip()


def get_model_label(model: BaseChatModel | None) -> str:
    """Return a chat model's name for answers and error messages."""
    if model is None:
        return OFFLINE
    for field in ("model_name", "model", "deployment_name", "model_id"):
        value = getattr(model, field, None)
        if isinstance(value, str) and value:
            return value
    return type(model).__name__


def get_model_address(model: BaseChatModel) -> str:
    """Return the class of a model's client, and the server address if it is set."""
    fields = (
        "openai_api_base",
        "azure_endpoint",
        "base_url",
        "endpoint_url",
        "endpoint",
        "api_base",
        "anthropic_api_url",
    )
    addresses = (str(value) for field in fields if isinstance(value := getattr(model, field, None), str) and value)
    return f"{type(model).__name__} {next(addresses, '').rstrip('/')}"


def _choose_model_from_environment(base_url: str | None) -> str:
    if base_url:
        return f"openai:{_find_served_model(base_url)}"
    if os.environ.get("OPENAI_API_KEY"):
        return f"openai:{DEFAULT_MODEL}"
    deployment = os.environ.get("AZURE_OPENAI_DEPLOYMENT")
    if deployment and os.environ.get("AZURE_OPENAI_ENDPOINT"):
        return f"azure:{deployment}"
    return OFFLINE


def _find_served_model(base_url: str) -> str:
    """Return the first model that the server at a base URL lists."""
    import openai

    if "api.openai.com" in base_url:
        return DEFAULT_MODEL
    key = os.environ.get("OPENAI_API_KEY") or _NO_KEY
    try:
        with openai.OpenAI(base_url=base_url, api_key=key, timeout=5.0, max_retries=0) as client:
            model = next((model.id for model in client.models.list()), "")
    except openai.APIConnectionError as error:
        raise ModelError(f"no server answers at {base_url}: check the address and that the server runs") from error
    except openai.OpenAIError as error:
        raise ModelError(
            f"the server at {base_url} does not list its models ({_shorten_error(error)}): name a model, as openai:NAME"
        ) from error
    if not model:
        raise ModelError(f"the server at {base_url} has no model loaded: load a model, or name one as openai:NAME")
    return model


def _open_provider(provider: str, name: str, base_url: str | None, options: dict[str, Any]) -> BaseChatModel | None:
    """Return a provider's model through LangChain; None if LangChain has no such provider."""
    langchain_name, keys = PROVIDERS.get(provider, ModelProvider(provider))
    client_options: dict[str, Any] = {} if base_url is None else {"base_url": base_url}
    if langchain_name == "ollama":
        del options["max_retries"]
        client_options["client_kwargs"] = {"timeout": options.pop("timeout")}
    try:
        from langchain.chat_models import init_chat_model

        if provider in PROVIDERS:
            import_module(f"langchain_{langchain_name}")  # itself: for Ollama's, LangChain takes another in its place
        if keys and base_url is None and not any(map(os.environ.get, keys)):
            raise ModelError(f"{provider}:{name} needs {' or '.join(keys)}")
        return init_chat_model(name, model_provider=langchain_name, **options, **client_options)
    except ImportError as error:
        package = f"'tableturn[{provider}]'" if provider in PROVIDERS else _PACKAGE.search(str(error))
        if package is None:
            return None
        pip_name = package if isinstance(package, str) else package[0]
        raise ModelError(f"{provider}:{name} needs a package that is not installed: pip install {pip_name}") from None
    except ModelError:
        raise
    except Exception as error:
        if "Unsupported provider" in str(error):
            return None
        raise ModelError(f"{provider}:{name} cannot be used: {_shorten_error(error)}") from error


def _open_openai_model(provider: str, name: str, base_url: str | None, options: dict[str, Any]) -> BaseChatModel:
    """Return a model that uses OpenAI's client, for OpenAI, Azure or a compatible server."""
    key = os.environ.get("OPENAI_API_KEY") or (_NO_KEY if base_url else "")
    if provider == "azure" and not os.environ.get("AZURE_OPENAI_ENDPOINT"):
        raise ModelError(f"azure:{name} needs AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and OPENAI_API_VERSION")
    if provider == "openai" and not key:
        raise ModelError(f"openai:{name} needs OPENAI_API_KEY, or the base URL of a server of your own")
    from langchain_openai import AzureChatOpenAI, ChatOpenAI
    from openai import OpenAIError
    from pydantic import SecretStr

    from .http import make_bounded_http_clients

    options["http_client"], options["http_async_client"] = make_bounded_http_clients(options["timeout"])
    try:
        if provider == "azure":
            return AzureChatOpenAI(azure_deployment=name, **options)
        return ChatOpenAI(model=name, base_url=base_url, api_key=SecretStr(key), stream_usage=True, **options)
    except (ValueError, OpenAIError) as error:
        raise ModelError(f"{provider}:{name} cannot be used: {_shorten_error(error)}") from error


def _shorten_error(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
