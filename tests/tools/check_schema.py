#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the printed JSON Schema and the program agree on what a scenario is?

usage: check_schema.py RDMALAB

Every scenarios/*.json must satisfy `rdmalab schema scenario`; every tests/bad/*.json must be refused
by the schema, and by `rdmalab run` with exit status 2 and a message that names the file.
"""
import json
import pathlib
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXIT_USAGE = 2
TIMEOUT_S = 20


def rdmalab(*args):
    return subprocess.run([sys.argv[1], *args], capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False)


def schema_error(validator, path):
    """What the schema says against the file at @path; None if nothing."""
    try:
        value = json.loads(path.read_text())
    except ValueError as error:
        return f"not JSON: {error}"
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    return error and f"{error.json_path}: {error.message}"


def check_good(validator, path):
    error = schema_error(validator, path)
    return error and f"{path}: the schema refuses it: {error}"


def check_bad(validator, path):
    if not schema_error(validator, path):
        return f"{path}: the schema accepts it"
    result = rdmalab("run", str(path))
    if result.returncode != EXIT_USAGE:
        return f"{path}: rdmalab run exits with {result.returncode}, not {EXIT_USAGE}"
    if path.name not in result.stderr:
        return f"{path}: the message does not name the file: {result.stderr!r}"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    schema = json.loads(rdmalab("schema", "scenario").stdout)
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    validator = validator_class(schema)

    good = sorted((ROOT / "scenarios").glob("*.json"))
    bad = sorted((ROOT / "tests" / "bad").glob("*.json"))
    problems = [check_good(validator, path) for path in good]
    problems += [check_bad(validator, path) for path in bad]
    if not good or not bad:
        problems.append("no scenarios, or no bad samples: nothing was compared")
    failed = sum(problem is not None for problem in problems)
    print(*(p for p in problems if p), sep="\n")
    print(f"{len(problems) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
