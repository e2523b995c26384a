"""Runs the modules of the lab in Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import separable.lab
from tests.export.running import tool

WEB = Path(separable.lab.__file__).parent / "web"
MODULES = (
    "algebra",
    "votes",
    "optimum",
    "kernels",
    "exact",
    "csv",
    "python",
    "lessons",
    "validation",
    "seeded",
)
#: Integers that JSON has no type for are texts.
PRINT = "console.log(JSON.stringify(answer, (_, v) => (typeof v === 'bigint' ? String(v) : v)));"


def in_node(expression, given):
    """Return the value of a JavaScript expression in ``given`` and the modules of the lab."""
    lines = [f'import * as {name} from "{(WEB / name).as_uri()}.mjs";' for name in MODULES]
    lines += ['import fs from "fs";', 'const given = JSON.parse(fs.readFileSync(0, "utf8"));']
    lines += [f"const answer = {expression};", PRINT]
    done = subprocess.run(
        [tool("node"), "--input-type=module", "-e", "\n".join(lines)],
        input=json.dumps(given), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)
