"""The example in the README runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_python_example_runs(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(README), "exec"), {"__name__": "readme"})
    printed = capsys.readouterr().out
    assert printed.startswith("['Adelie' 'Adelie' 'Adelie']\ntowards Adelie\n")
    assert "LogisticRegressionCV predicts Adelie: score +" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["penguins.safetensors"]
