"""Which model is used, by what was passed and what the environment says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from tableturn.agent.model.choose_model import DEFAULT_MODEL, get_model_label, resolve_model
from tableturn.tools.errors import ModelError

from ...support.openai_server import OpenAIServer, says

VARIABLES = (
    "TABLETURN_MODEL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "OPENAI_API_VERSION",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_DEPLOYMENT",
    "AZURE_OPENAI_API_KEY",
)
URL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_nothing_said_is_offline() -> None:
    assert resolve_model() is None
    assert get_model_label(None) == "offline"


def test_offline_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert resolve_model("offline") is None


def test_what_is_passed_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_MODEL", "offline")
    passed = FakeListChatModel(responses=["x"])
    assert resolve_model(passed) is passed
    assert get_model_label(resolve_model("openai:some", base_url=URL)) == "some"


def test_the_variable_beats_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("TABLETURN_MODEL", "openai:mine")
    assert get_model_label(resolve_model()) == "mine"


def test_a_key_alone_selects_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert get_model_label(resolve_model()) == DEFAULT_MODEL


def test_a_base_url_that_is_none_is_named_at_once() -> None:
    for url in ("nonsense", "localhost:8000/v1", "http://", "https:///v1"):
        with pytest.raises(ModelError, match=f"the base URL '{url}' is not valid: write it as in http://"):
            resolve_model("openai:some", base_url=url)


def test_a_model_without_a_name_or_provider_is_named_at_once() -> None:
    for provider in ("openai", "azure", "anthropic", "ollama"):
        said = f"'{provider}:' names no model: write its name after the colon, as in {provider}:NAME"
        with pytest.raises(ModelError, match=said):
            resolve_model(f"{provider}:", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ModelError, match="unknown model ':some': known forms are"):
        resolve_model(":some")


def test_a_base_url_alone_selects_what_the_server_has(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer([says("x")], models=("llama3:8b", "other")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = resolve_model()
    assert isinstance(model, ChatOpenAI)
    assert model.model_name == "llama3:8b"


def test_a_server_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer([says("x")], models=()) as server, pytest.raises(ModelError, match="openai:NAME"):
        resolve_model(base_url=server.base_url)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ModelError, match=f"no server answers at {URL}: check the address"):
        resolve_model(base_url=URL)


def test_names_may_hold_colons_and_options_are_set() -> None:
    model = resolve_model("openai:llama3:8b", base_url=URL, timeout=7, max_retries=4)
    assert isinstance(model, ChatOpenAI)
    assert model.model_name == "llama3:8b"
    assert (model.request_timeout, model.max_retries) == (7, 4)
    assert model.openai_api_base == URL


def test_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://example.invalid")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert isinstance(resolve_model("azure:mine"), AzureChatOpenAI)
    assert resolve_model() is None, "an endpoint without a deployment names no model"
    monkeypatch.setenv("AZURE_OPENAI_DEPLOYMENT", "mine")
    assert get_model_label(resolve_model()) == "mine"


@pytest.mark.parametrize("name", ["gpt-5-mini", "claude:opus", "offline:x"])
def test_unknown_forms_are_one_line_with_the_known_ones(name: str) -> None:
    with pytest.raises(ModelError, match="openai:NAME, azure:DEPLOYMENT, offline") as caught:
        resolve_model(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["openai:some", "azure:some"])
def test_missing_credentials_are_one_line(name: str) -> None:
    with pytest.raises(ModelError, match="needs") as caught:
        resolve_model(name)
    assert "\n" not in str(caught.value)


def test_azure_without_a_version_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://example.invalid")
    with pytest.raises(ModelError, match="azure:mine cannot be used") as caught:
        resolve_model("azure:mine")
    assert "\n" not in str(caught.value)


def test_offline_imports_nothing_heavy() -> None:
    code = (
        "import sys; from tableturn.agent.model.choose_model import resolve_model; resolve_model('offline');"
        "sys.exit(any(name in sys.modules for name in ('openai', 'langchain_openai', 'langchain_core')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_turns_with_a_model_load_nothing_of_the_offline_translator(shop: Path) -> None:
    code = """
import sys
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from tableturn import SQLAgent

wrong, right = (f"```sql\\nSELECT {name} FROM customers\\n```" for name in ("nothing", "name"))
with SQLAgent(sys.argv[1], model=FakeListChatModel(responses=[wrong, right])) as agent:
    chat = agent.conversation()
    assert all(chat.ask(question).row_count == 3 for question in ("Who is there?", "And sorted?"))
print([name for name in sys.modules if name.startswith("tableturn.agent.offline")])
"""
    done = subprocess.run([sys.executable, "-c", code, str(shop)], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
