"""Fine-tuning data: a chat a turn, in the `track` preset's form."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tableturn.evals import export_sft


@pytest.mark.data
def test_writes_a_chat_for_each_turn(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "cosql.jsonl"
    monkeypatch.setattr(sys, "argv", ["export_sft", str(out), "--data", str(data_dir), "--limit", "3"])
    export_sft.main()
    chats = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(chats) > 3
    assert [path.name for path in tmp_path.iterdir()] == ["cosql.jsonl"]
    for chat in chats:
        assert [message["role"] for message in chat["messages"]] == ["system", "user", "assistant"]
        assert chat["messages"][-1]["content"].startswith("```sql\nSELECT")
    first, second = (chat["messages"][1]["content"] for chat in chats[:2])
    assert "<base-sql>\n\n</base-sql>" in first
    assert " & " in second
    assert chats[0]["messages"][-1]["content"].removeprefix("```sql\n").removesuffix("\n```") in second


def test_says_what_data_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["export_sft", str(tmp_path / "x"), "--data", str(tmp_path), "--dataset", "cosql"])
    with pytest.raises(SystemExit, match="2"):
        export_sft.main()
    assert "cosql" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
