"""Fine-tunes a causal language model on exported turns by LoRA (Track-SQL 3.1): `evals.lab sft lora`.

The paper's rank 32, alpha 64, dropout 0.1 and batches of 6 are the defaults; learning rate and epochs, which it leaves
open, are usual ones. What is learned is the reply alone: the prompt's tokens don't count for the loss. torch,
transformers and peft are an extra (`tableturn[sft]`) and are loaded when `train` runs, not before.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ....tools.errors import SettingsError


@dataclass(frozen=True)
class LoraOptions:
    """How to train; `sft lora --help` says what each is.

    Rank, alpha, dropout and batch are those of Track-SQL 3.1. The learning rate falls as a cosine.
    """

    rank: int = 32
    alpha: int = 64
    dropout: float = 0.1
    batch: int = 6
    accumulate: int = 1
    epochs: float = 3.0
    learning_rate: float = 1e-4
    max_tokens: int = 4_096
    seed: int = 0


@dataclass(frozen=True)
class Trained:
    """What came of it.

    Attributes:
        records: Learned from.
        too_long: Left out for their length.
        steps: Updates made.
        loss: Mean over the run.
        trained: Parameters of the adapters.
        parameters: Of the whole model.
    """

    records: int
    too_long: int
    steps: int
    loss: float
    trained: int
    parameters: int


def train(data: Path, model: str, out: Path, options: LoraOptions | None = None) -> Trained:
    """Trains adapters and writes them to a new folder, with the tokenizer; serve them over the same base model.

    Args:
        data: JSONL with `messages`, as `sft export` writes it.
        model: A folder or a name that transformers knows: a causal language model with a chat template.
        out: The folder; it appears when training is done.
        options: The paper's where none are given.

    Raises:
        SettingsError: The libraries, the data or the model cannot be used, or the folder is there.
    """
    options = options or LoraOptions()
    if out.exists():
        raise SettingsError(f"{out} is there already: name a new folder")
    chats = read_chats(data)
    torch, transformers, peft = _libraries()
    tokenizer, base = _model(transformers, model)
    transformers.set_seed(options.seed)
    tokenized = _examples(tokenizer, chats, model)
    examples = [example for example in tokenized if len(example["input_ids"]) <= options.max_tokens]
    if not examples:
        raise SettingsError(f"every record of {data} is longer than {options.max_tokens} tokens")
    lora = peft.LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    adapted = peft.get_peft_model(base, lora)
    unfinished = out.with_name(out.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        trainer = transformers.Trainer(
            model=adapted,
            args=_arguments(torch, transformers, unfinished, options),
            train_dataset=examples,
            data_collator=transformers.DataCollatorForSeq2Seq(tokenizer, padding=True),
        )
        done = trainer.train()
        adapted.save_pretrained(str(unfinished))
        tokenizer.save_pretrained(str(unfinished))
        os.replace(unfinished, out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    trained, parameters = adapted.get_nb_trainable_parameters()
    return Trained(
        len(examples), len(chats) - len(examples), done.global_step, round(done.training_loss, 4), trained, parameters
    )


class _Message(BaseModel):
    role: str
    content: str


class _Record(BaseModel):
    messages: list[_Message]


def read_chats(path: Path) -> list[list[dict[str, str]]]:
    """Return the chats of a JSONL file.

    Raises:
        SettingsError: It cannot be read, or a line is not an object with `messages` that end with the assistant's.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}") from None
    chats: list[list[dict[str, str]]] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            messages = _Record.model_validate_json(text).messages
        except ValidationError:
            messages = []
        if len(messages) < 2 or messages[-1].role != "assistant":
            raise SettingsError(f"{path}, line {number}: expected messages that end with the assistant's")
        chats.append([message.model_dump() for message in messages])
    if not chats:
        raise SettingsError(f"{path} holds no record")
    return chats


def _libraries() -> tuple[Any, Any, Any]:
    try:
        return import_module("torch"), import_module("transformers"), import_module("peft")
    except ImportError as error:
        raise SettingsError(f"fine-tuning needs {error.name}: pip install 'tableturn[sft]'") from error


def _model(transformers: Any, name: str) -> tuple[Any, Any]:
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        base = transformers.AutoModelForCausalLM.from_pretrained(name, dtype="auto")
    except (OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise SettingsError(f"cannot load the model {name}: {first}") from error
    if not tokenizer.chat_template:
        raise SettingsError(f"the model {name} has no chat template: take one that was tuned to follow instructions")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer, base


def _examples(tokenizer: Any, chats: Sequence[list[dict[str, str]]], model: str) -> Iterator[dict[str, list[int]]]:
    """Each chat's tokens; labels of -100 for all that is not the reply."""
    for chat in chats:
        asked, whole = (_tokens(tokenizer, messages) for messages in (chat[:-1], chat))
        if whole[: len(asked)] != asked:
            raise SettingsError(f"the chat template of {model} does not begin a reply as it asks for one")
        yield {
            "input_ids": whole,
            "attention_mask": [1] * len(whole),
            "labels": [-100] * len(asked) + whole[len(asked) :],
        }


def _tokens(tokenizer: Any, messages: Sequence[dict[str, str]]) -> list[int]:
    asks = messages[-1]["role"] != "assistant"
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    except Exception:  # noqa: BLE001 - some templates refuse a system message, each with an error of its own
        first, second, *others = messages
        merged = [{"role": second["role"], "content": f"{first['content']}\n\n{second['content']}"}, *others]
        text = tokenizer.apply_chat_template(merged, tokenize=False, add_generation_prompt=asks)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _arguments(torch: Any, transformers: Any, folder: Path, options: LoraOptions) -> Any:
    return transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=options.batch,
        gradient_accumulation_steps=options.accumulate,
        num_train_epochs=options.epochs,
        learning_rate=options.learning_rate,
        lr_scheduler_type="cosine",
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        logging_steps=10,
        save_strategy="no",
        report_to="none",
        seed=options.seed,
        disable_tqdm=None,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
