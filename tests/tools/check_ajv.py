#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A second validator, ajv of npm, which editors and build tools use, judges scenarios by our schema.

usage: check_ajv.py RDMALAB

Every scenarios/*.json must satisfy `rdmalab schema scenario`, and every tests/bad/*.json must not.  The package is fetched
into a directory of its own, and not installed.  Where it cannot be had, prints "skipped: REASON" and exits with 77.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "ajv@8"
JUDGE = """
const fs = require("fs"), Ajv = require("ajv/dist/2020");
const validate = new Ajv({strictSchema: true, strictTypes: false}).compile(JSON.parse(fs.readFileSync("schema.json")));
const errors = {};
for (const file of process.argv.slice(2)) {
    try {
        errors[file] = validate(JSON.parse(fs.readFileSync(file))) ? "" : JSON.stringify(validate.errors[0]);
    } catch (error) {
        errors[file] = "not JSON: " + error.message;
    }
}
console.log(JSON.stringify(errors));
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def judge(directory, schema, files):
    """Returns the complaint of ajv about each of the files; "" if it has none."""
    (directory / "schema.json").write_text(schema)
    (directory / "judge.js").write_text(JUDGE)
    fetched = subprocess.run(["npm", "install", "--no-audit", "--no-fund", PACKAGE], cwd=directory, capture_output=True,
                             text=True, timeout=120, check=False)
    if fetched.returncode:
        skip(f"{PACKAGE} cannot be fetched")
    done = subprocess.run(["node", "judge.js", *map(str, files)], cwd=directory, capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode:
        sys.exit(f"the schema cannot be loaded: {done.stderr[:1000]}")
    return json.loads(done.stdout)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("npm") or not shutil.which("node"):
        skip("there is no npm")
    schema = subprocess.run([sys.argv[1], "schema", "scenario"], capture_output=True, text=True, timeout=20, check=True).stdout
    good = sorted((ROOT / "scenarios").glob("*.json"))
    bad = sorted((ROOT / "tests" / "bad").glob("*.json"))
    with tempfile.TemporaryDirectory() as directory:
        said = judge(pathlib.Path(directory), schema, good + bad)
    problems = [f"{f}: refused: {said[str(f)]}" for f in good if said[str(f)]]
    problems += [f"{f}: accepted" for f in bad if not said[str(f)]]
    print(*problems, sep="\n")
    print(f"{len(good) + len(bad) - len(problems)} passed, {len(problems)} failed")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
