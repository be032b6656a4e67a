"""Fine-tuning by LoRA, on a tiny random model made here; what needs the extra `sft` is marked so."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tableturn.evals.lab.commands import LoraOptions
from tableturn.evals.lab.training.sft import read_chats
from tableturn.tools.errors import SettingsError

from tests.support.command_line import laboratory

SYSTEM, ASKED, SQL = "You turn questions into SQL .", "How many singers ?", "SELECT count(*) FROM singer"
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TEMPLATE


def records(path: Path, *sql: str) -> Path:
    said = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
    lines = [json.dumps({"messages": [*said, {"role": "assistant", "content": reply}]}) for reply in sql]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*args: object) -> CompletedProcess[str]:
    return laboratory("sft", "lora", *map(str, args))


def test_the_papers_hyper_parameters_are_the_defaults() -> None:
    options = LoraOptions()
    assert (options.rank, options.alpha, options.dropout, options.batch) == (32, 64, 0.1, 6)


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"messages": []}', '{"messages": [{"role": "user", "content": "a"}, 1]}',
             '{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}']
)  # fmt: skip
def test_bad_records_are_told_with_their_line(tmp_path: Path, line: str) -> None:
    path = records(tmp_path / "x.jsonl", SQL)
    path.write_text(path.read_text() + line)
    with pytest.raises(SettingsError, match="line 2: expected messages"):
        read_chats(path)


def test_no_records(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(SettingsError, match="has no records"):
        read_chats(tmp_path / "empty")
    assert "cannot read" in run("--records", tmp_path / "none", "--model", "m", "--out", tmp_path / "out").stderr


def test_a_missing_extra_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    done = run("--records", records(tmp_path / "x.jsonl", SQL), "--model", "m", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "pip install 'tableturn[sft]'" in done.stderr
    assert done.stderr.strip().count("\n") == 0


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    done = run("--records", tmp_path / "x", "--model", "m", "--out", tmp_path)
    assert done.returncode == 2
    assert "already exists" in done.stderr


extra = [pytest.mark.extra, pytest.mark.filterwarnings("ignore")]


class TestTraining:
    """With torch, transformers and peft."""

    pytestmark = extra

    @pytest.fixture(autouse=True, scope="class")
    def installed(self) -> None:
        for name in ("torch", "transformers", "peft"):
            pytest.importorskip(name, reason=f"{name} is not installed: make test-extras")

    @pytest.fixture
    def tiny(self, tmp_path: Path) -> Path:
        return self.make(tmp_path / "tiny", TEMPLATE)

    def make(self, folder: Path, template: str | None) -> Path:
        """A random Llama of two layers, and a tokenizer of words."""
        tokenizers: Any = import_module("tokenizers")
        transformers: Any = import_module("transformers")
        words = f"{SYSTEM} {ASKED} {SQL} AVG MAX".split()
        marks = ["<pad>", "<unk>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
        vocabulary = {word: number for number, word in enumerate(dict.fromkeys([*marks, *words]))}
        words_only = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
        words_only.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=words_only, pad_token="<pad>", unk_token="<unk>", eos_token="<|end|>",
            additional_special_tokens=marks[2:5],
        )  # fmt: skip
        tokenizer.chat_template = template
        config = transformers.LlamaConfig(
            vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=128, pad_token_id=0, eos_token_id=5,
        )  # fmt: skip
        transformers.set_seed(1)
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    def test_adapters_are_learned_and_can_be_loaded(self, tiny: Path, tmp_path: Path) -> None:
        data = records(tmp_path / "x.jsonl", *[SQL] * 12, " ".join([SQL] * 40))
        out = tmp_path / "adapters"
        given = ["--records", data, "--model", tiny, "--out", out, "--max-tokens", 100, "--json"]
        done = run(*given, "--epochs", 30, "--learning-rate", 0.01)
        assert done.returncode == 0, done.stdout
        trained = json.loads(done.stdout.splitlines()[-1])
        assert (trained["records"], trained["too_long"], trained["steps"]) == (12, 1, 60)
        assert trained["trained"] < trained["parameters"]
        config = json.loads((out / "adapter_config.json").read_text())
        assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (32, 64, 0.1)
        assert not list(tmp_path.glob("*.part"))
        assert self.replies(tiny, None) != SQL
        assert self.replies(tiny, out) == SQL, "it learned the reply"

    def replies(self, tiny: Path, adapters: Path | None) -> str:
        transformers: Any = import_module("transformers")
        model = transformers.AutoModelForCausalLM.from_pretrained(tiny)
        if adapters is not None:
            model = import_module("peft").PeftModel.from_pretrained(model, adapters)
        tokenizer = transformers.AutoTokenizer.from_pretrained(adapters or tiny)
        said = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}]
        text = tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        asked = tokenizer(text, add_special_tokens=False, return_tensors="pt")
        found = model.eval().generate(**asked, max_new_tokens=8, do_sample=False)
        return tokenizer.decode(found[0][asked["input_ids"].shape[1] :], skip_special_tokens=True).strip()

    def test_a_template_without_system_messages(self, tmp_path: Path) -> None:
        model = self.make(tmp_path / "strict", NO_SYSTEM)
        data = records(tmp_path / "x.jsonl", SQL)
        done = run("--records", data, "--model", model, "--out", tmp_path / "out", "--epochs", 1)
        assert done.returncode == 0, done.stdout

    @pytest.mark.parametrize("case", ["template", "model", "long"])
    def test_what_cannot_be_trained_is_one_line(self, tmp_path: Path, case: str) -> None:
        model = (
            tmp_path / "nowhere" if case == "model" else self.make(tmp_path / "m", TEMPLATE if case == "long" else None)
        )
        data = records(tmp_path / "x.jsonl", SQL)
        done = run("--records", data, "--model", model, "--out", tmp_path / "out", "--max-tokens", 16)
        assert done.returncode == 2
        assert {"template": "no chat template", "model": "cannot load", "long": "longer than 16"}[case] in done.stderr
        assert not (tmp_path / "out").exists()
