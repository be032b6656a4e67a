"""A fault of ours is never told as another's mistake: every handler that could do so is listed, with its reason."""

from __future__ import annotations

from collections import Counter

from tests.support.handlers import handlers

ADVICE = "advice beside an answer"
FOREIGN = "code of others, whose errors are of any kind"
FILE = "fields of a file that is not trusted, read one by one"
SYSTEM = "system calls and library calls within, which raise these for values that they do not take"
HAND_OVER = "handed to whoever waits for it, as it is"
COUNTED = "a question of an evaluation: its error is in the record, and the other questions still count"

LISTED = {
    "agent/advice.py:call_with_fallback": "advice beside an answer, whose faults are logged and counted",
    "agent/cli/chat/commands.py:_edit_sql_in_editor": "a person's editor: its command's quotes, its encoding",
    "agent/cli/doctor.py:_check_model": f"a chat model: {FOREIGN}",
    "agent/cli/root.py:RootCommandGroup._add_plugin_commands": f"a plug-in: {FOREIGN}",
    "agent/cli/root.py:RootCommandGroup.invoke": "the outermost place of a command, which tells a fault of ours",
    "agent/effects.py:_run_body": HAND_OVER,
    "agent/effects.py:_EffectRunner._send_request": f"a chat model: {FOREIGN}",
    "agent/effects.py:_ainvoke_model": f"a chat model: {FOREIGN}",
    "agent/model/chat.py:_MaskingTranslator.perform": HAND_OVER,
    "agent/model/choose_model.py:_open_provider": f"a chat model's constructor: {FOREIGN}",
    "agent/effects.py:start_in_thread.run_function": HAND_OVER,
    "tools/database/estimate.py:add_estimated_rows": "a number beyond what SQLite holds",
    "tools/database/dialects.py:parse_tokens": "sqlglot's parser, whose errors on odd texts are of any kind",
    "tools/database/duckdb/files.py:NamedFileSystem._find_path": "a file that is not the database's",
    "tools/database/duckdb/engine.py:estimate": "the engine's plan, of which a part is missing",
    "tools/database/duckdb/worker.py:_serve_file_requests": "handed to the process that asked, which raises it",
    "tools/database/duckdb/opening.py:_read_tables_from_file": "a process that has died, and untrusted bytes",
    "tools/database/duckdb/tables.py:_read_sheet_rows": f"openpyxl on a workbook: {FOREIGN}",
    "tools/database/server/statement_check.py:StatementChecker._generate_sql": f"sqlglot on a model's SQL: {FOREIGN}",
    "tools/database/server/connection.py:Interrupter._try_interrupt": f"a driver: {FOREIGN}",
    "tools/database/sqlite/compile_check.py:find_compile_error": "sqlite3 on texts with NUL or lone surrogates",
    "tools/database/sqlite/location.py:_read_file_header": "a path with NUL",
    "tools/database/wire.py:unpack_table": "bytes of a process that is not trusted",
    "tools/database/workers.py:WorkerPool.execute": "bytes of a process that is not trusted",
    "tools/database/workers.py:WorkerPool.__del__": "descriptors closed as the interpreter ends",
    "tools/database/sqlite/pool.py:run_query": "sqlite3's error for a text with NUL or lone surrogates",
    "tools/examples/embedding.py:Embedding.__call__": f"an embedding: {FOREIGN}",
    "tools/examples/embedding.py:make_embedding": f"an embedding: {FOREIGN}",
    "tools/examples/tables.py:ChromaBackend.call_chroma": f"Chroma: {FOREIGN}",
    "tools/forkserver.py:ForkServer._ensure_server_started": SYSTEM,
    "agent/resources/factory.py:KeyedCache.get": HAND_OVER,
    "tools/record_files.py:read_toml_file": FILE,
    "tools/sandbox/frames.py:_find_string_constants": "Python's parser on code that a model wrote",
    "tools/sandbox/run.py:run_python": "frames that Arrow cannot hold, and bytes of a process that is not trusted",
    "tools/sandbox/static_check.py:find_code_problem": "Python's parser on code that a model wrote",
    "tools/sandbox/wire.py:encode_frame": "frames that Arrow cannot hold",
    "tools/sandbox/worker.py:answer_request": f"a model's code: {FOREIGN}",
    "tools/sandbox/worker.py:_describe_code_error": f"a model's code: {FOREIGN}",
    "tools/sandbox/zygote.py:serve": HAND_OVER,
    "tools/sandbox/zygote.py:_WorkerManager._accept_order": f"an order over a socket, and {SYSTEM}",
    "serve/api/openai_chat.py:_stream_reply": "a stream that has begun: its error is its last event",
    "serve/mcp.py:_StrictMCPServer.get_prompt": "the MCP library's error for a prompt that there is not",
    "serve/running_turns.py:RunningTurns._run_heartbeat": "the heartbeat: logged with its traceback, and tried again",
    "serve/running_turns.py:RunningTurns._run_and_store_turn": "a turn's end: kept as failed, with its traceback",
    "serve/server.py:ServerLifecycle._run_server_until_closed": HAND_OVER,
    "serve/server.py:_delete_expired_periodically": "work in the background: logged, and tried again",
    "evals/adjudication/judging.py:FinishedRun.read": FILE,
    "evals/lab/bench/impact.py:_make_changed_databases": "a choice among places that a schema does not have",
    "evals/lab/bench/stored.py:ReplyFileCache.__init__": FILE,
    "evals/datasets/load.py:DatasetLayout.parse_questions": FILE,
    "evals/metrics/judging.py:BirdJudge.judge": "sqlite3's errors, one of them for a text with NUL",
    "evals/official/exact_match.py:parse": "wherever the official evaluator fails on a text, it counts as unreadable",
    "evals/official/exact_match.py:read_foreign_key_maps": FILE,
    "evals/official/execution.py:execute_and_compare": "sqlite3's errors, one of them for a text with NUL",
    "evals/report/page.py:write_report": FILE,
    "evals/runner/agents.py:watch_turn": COUNTED,
    "evals/lab/suite/build.py:run_query": "sqlite3's errors, one of them for a text with NUL",
    "evals/lab/training/sft.py:_tokenize_chat": f"a model's template: {FOREIGN}",
}


TWICE = {
    "tools/sandbox/run.py:run_python",
    *(
        "tools/sandbox/zygote.py:_WorkerManager._accept_order",
        "serve/running_turns.py:RunningTurns._run_and_store_turn",
    ),
    "evals/report/page.py:write_report",
    "tools/database/duckdb/tables.py:_read_sheet_rows",
}
"""Places with two such handlers."""


def test_every_broad_handler_is_listed_with_its_reason() -> None:
    found = tuple(handlers())
    places: Counter[str] = Counter(handler.place for handler in found)
    unlisted = [f"{each.place} line {each.line}: {each.caught}" for each in found if each.place not in LISTED]
    assert not unlisted, "catch what is expected and nothing else, or list the place with its reason"
    assert set(LISTED) <= set(places), "a place of the list is no more: take it out"
    assert {place: number for place, number in places.items() if number > 1} == dict.fromkeys(TWICE, 2)
