"""Fine-tuning as in Track-SQL: data export (B.4) and LoRA (3.1), under `evals.lab sft`.

Data is one JSON object a turn: the question sequence, the schema that the linker kept, the base SQL chosen from gold
history and the regularised gold SQL, each of its own and together as a chat, which is what fine-tuning libraries read.
The chat is the very prompt of the `track` preset, so that a model fine-tuned on it is asked at work what it was taught.

The paper's rank 32, alpha 64, dropout 0.1 and batches of 6 are the defaults; learning rate and epochs, which it leaves
open, are usual ones. What is learned is the reply alone: the prompt's tokens don't count for the loss. torch,
transformers and peft are an extra (`tableturn[sft]`) and are loaded when `train` runs, not before.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from ....agent.context.task_inputs import make_generate_task
from ....agent.effects import Body, BudgetTracker, run
from ....agent.model.turn_budget import compute_node_budget
from ....agent.nodes.link import link
from ....agent.records import Turn
from ....agent.resources import Resources, Run
from ....agent.settings import make_settings
from ....agent.sqlagent import SQLAgent
from ....agent.state import dump, dump_all, load_turn, make_new_turn_update
from ....prompts.reply_types import Rephrasing
from ....tools.database import Schema
from ....tools.errors import DatabaseUnavailable, SettingsError, SQLParseError
from ....tools.linking import PastTurn
from ....tools.sql import regularize
from ...datasets.load import Dataset, GoldTurn

if TYPE_CHECKING:
    from ..commands import LoraOptions

PARTS: Mapping[str, Mapping[str, bool]] = {
    "sese": {"link_schema": False},
    "acid": {"all_columns": False},
    "sace": {"base_sql": False},
}
"""The parts that Track-SQL's ablations leave out (tables 2 and 3), with the settings that do so."""

PERTURBED = 0.15
"""The share of records whose schema is shuffled and padded (Track-SQL 3.1)."""

T = TypeVar("T")


def export_chats(
    dataset: Dataset,
    out: Path,
    perturbed: float = PERTURBED,
    without: Collection[str] = (),
    annotator: str | None = None,
) -> int:
    """Write a dataset's turns as JSONL for fine-tuning; the same data gives the same file.

    Args:
        dataset: Interactions with gold SQL. Those whose database is missing are left out, as are turns whose gold SQL
            cannot be parsed.
        out: The file; it appears when it is whole.
        perturbed: The share of records whose schema is shuffled and gets an item that does not belong.
        without: Parts left out, of `PARTS`, so that each row of an ablation has a model of its own; without the schema
            extractor and the context extractor it is the paper's plain fine-tuning.
        annotator: The model whose descriptions of schemas are shown, as far as there are any; it is not asked.

    Returns:
        How many turns were written.

    Raises:
        SettingsError: The file cannot be written, there is no turn, or no such part.
    """
    if unknown := [name for name in without if name not in PARTS]:
        raise SettingsError(f"unknown part {unknown[0]!r} of Track-SQL; known: {', '.join(PARTS)}")
    settings = make_settings({field: value for name in without for field, value in PARTS[name].items()}, preset="track")
    unfinished = out.with_name(out.name + ".part")
    count = 0
    with ExitStack() as opened:

        @cache
        def open_database_resources(path: Path) -> Resources | None:
            try:
                agent = SQLAgent(path, model="offline", settings=settings, annotator=annotator)
                return opened.enter_context(agent).resources
            except DatabaseUnavailable:
                return None

        try:
            with unfinished.open("w", encoding="utf-8") as file:
                for number, turns in enumerate(dataset.interactions):
                    resources = open_database_resources(dataset.find_file(turns[0].database))
                    for record in _make_training_records(turns, resources, number, perturbed) if resources else ():
                        file.write(json.dumps(record, ensure_ascii=False) + "\n")
                        count += 1
            if not count:
                raise SettingsError(f"{dataset.name} {dataset.split} has no turn with an existing database")
            os.replace(unfinished, out)
        except OSError as error:
            raise SettingsError(f"cannot write {out}: {error.strerror}") from None
        finally:
            unfinished.unlink(missing_ok=True)
    return count


def _make_training_records(
    turns: Sequence[GoldTurn], resources: Resources, number: int, perturbed: float
) -> Iterator[dict[str, Any]]:
    """Yield the turns of an interaction as chats, as an agent would send them to a model.

    Gold SQL, regularised, stands for what the model said in earlier turns; `number` is the interaction's place in the
    dataset, for the records' ids.
    """
    schema, settings = resources.database.schema(), resources.settings
    node = Run(resources, settings, lambda _: None)

    def run_node_body(body: Body[T]) -> T:
        """Run a node's body, which must not ask a model, and return the result."""
        return run(body, resources.translator(settings), BudgetTracker(compute_node_budget(settings, {})))

    history: list[PastTurn] = []
    for turn, asked in enumerate(turns):
        rephrasing = Rephrasing(asked.text, asked.text, self_contained=not history)
        state: Any = make_new_turn_update(asked.text) | {
            "turn": dump(Turn(asked.text, rephrasing=rephrasing)),
            "turns": dump_all(history),
        }
        state |= run_node_body(link(state, node))
        try:
            target = regularize(asked.golds[0], schema)
        except SQLParseError:
            target = ""
        history.append(PastTurn(asked.text, asked.text, target or asked.golds[0], items=load_turn(state).items))
        if not target:
            continue
        task = run_node_body(make_generate_task(state, node))
        key = f"{schema.name}/{number}/{turn}"
        chance = random.Random(key)  # noqa: S311 - noise, not a secret
        if chance.random() < perturbed:
            shown = perturb_schema(task.schema, schema, chance)
            shown = shown if settings.tell_unshown else shown.as_complete_schema()
            unshown = tuple(name for name in task.unshown if shown.table(name) is None)
            task = replace(task, schema=shown, unshown=unshown)
        said = task.render(settings.prompt_tokens).messages
        yield {
            "id": key,
            "database": schema.name,
            "questions": [*(earlier.question for earlier in task.history), asked.text],
            "schema": task.schema_text(task.parts()),
            "base_sql": task.base.sql if task.base else "",
            "sql": target,
            "messages": [
                *({"role": message.role, "content": message.content} for message in said),
                {"role": "assistant", "content": f"```sql\n{target}\n```"},
            ],
        }


def perturb_schema(part: Schema, schema: Schema, chance: random.Random) -> Schema:
    """Shuffle part of a schema, and add one unrelated column and one unrelated table."""
    columns = {table.name: [column.name for column in table.columns] for table in part.tables}
    others = [table for table in schema.tables if table.name not in columns and table.columns]
    spare = [
        (table.name, column.name)
        for table in schema.tables
        if table.name in columns
        for column in table.columns
        if column.name not in columns[table.name]
    ]
    if spare:
        table, column = chance.choice(spare)
        columns[table].append(column)
    if others:
        table = chance.choice(others)
        columns[table.name] = [column.name for column in table.columns[:3]]
    shuffled = list(columns.items())
    chance.shuffle(shuffled)
    for _, names in shuffled:
        chance.shuffle(names)
    return schema.part(shuffled)


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training run.

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


def train_lora_adapters(data: Path, model: str, out: Path, options: LoraOptions) -> TrainingResult:
    """Train LoRA adapters, and write the adapters and the tokenizer to a new folder.

    Args:
        data: JSONL with `messages`, as `sft export` writes it.
        model: A folder or a name that transformers knows: a causal language model with a chat template.
        out: The folder; it appears when training is done.
        options: Hyper-parameters.

    Raises:
        SettingsError: The libraries, the data or the model cannot be used, or the folder is there.
    """
    if out.exists():
        raise SettingsError(f"{out} already exists: name a new folder")
    chats = read_chats(data)
    try:
        torch, transformers, peft = map(import_module, ("torch", "transformers", "peft"))
    except ImportError as error:
        raise SettingsError(f"fine-tuning needs {error.name}: pip install 'tableturn[sft]'") from error
    tokenizer, base = _load_tokenizer_and_model(transformers, model)
    transformers.set_seed(options.seed)
    examples: list[dict[str, list[int]]] = []
    for chat in chats:
        asked, whole = (_tokenize_chat(tokenizer, messages) for messages in (chat[:-1], chat))
        if whole[: len(asked)] != asked:
            raise SettingsError(f"the chat template of {model} renders replies unlike its prompt: use another model")
        if len(whole) <= options.max_tokens:
            # -100 labels all that is not the reply.
            labels = [-100] * len(asked) + whole[len(asked) :]
            examples.append({"input_ids": whole, "attention_mask": [1] * len(whole), "labels": labels})
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
    arguments = transformers.TrainingArguments(
        output_dir=str(unfinished),
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
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        trainer = transformers.Trainer(
            model=adapted,
            args=arguments,
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
    return TrainingResult(
        len(examples), len(chats) - len(examples), done.global_step, round(done.training_loss, 4), trained, parameters
    )


class _ChatMessage(BaseModel):
    role: str
    content: str


class _ChatRecord(BaseModel):
    messages: list[_ChatMessage]


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
            messages = _ChatRecord.model_validate_json(text).messages
        except ValidationError:
            messages = []
        if len(messages) < 2 or messages[-1].role != "assistant":
            raise SettingsError(f"{path}, line {number}: expected messages that end with the assistant's")
        chats.append([message.model_dump() for message in messages])
    if not chats:
        raise SettingsError(f"{path} has no records")
    return chats


def _load_tokenizer_and_model(transformers: Any, name: str) -> tuple[Any, Any]:
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        base = transformers.AutoModelForCausalLM.from_pretrained(name, dtype="auto")
    except (OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise SettingsError(f"cannot load the model {name}: {first}") from error
    if not tokenizer.chat_template:
        raise SettingsError(f"the model {name} has no chat template: use an instruction-tuned model")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer, base


def _tokenize_chat(tokenizer: Any, messages: Sequence[dict[str, str]]) -> list[int]:
    asks = messages[-1]["role"] != "assistant"
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    except Exception:  # noqa: BLE001 - some templates refuse a system message, each with an error of its own
        first, second, *others = messages
        merged = [{"role": second["role"], "content": f"{first['content']}\n\n{second['content']}"}, *others]
        text = tokenizer.apply_chat_template(merged, tokenize=False, add_generation_prompt=asks)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
