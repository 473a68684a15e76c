#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the printed JSON Schema and the program agree on what a scenario is?

usage: check_schema.py [--every N] RDMALAB

Every scenarios/*.json, or each Nth, must satisfy `rdmalab schema scenario`; every tests/bad/*.json must be refused
by the schema, and by `rdmalab run` with exit status 2 and a message that names the file.  What
`show SUBJECT json` prints must satisfy the definition of SUBJECT in `rdmalab schema show`.  Editors find the schema by
the "$schema" of a scenario, which `convert` keeps, and know it by its "$id".
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXIT_USAGE = 2
TIMEOUT_S = 20
ID = "https://rdmalab.invalid/schema/scenario-1.json"  # what others may refer to: it stays


def rdmalab(*args):
    return subprocess.run([sys.argv[-1], *args], capture_output=True, text=True, timeout=TIMEOUT_S,
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


def check_found(schema, path):
    """Does the "$schema" of the file lead an editor to our schema?"""
    where = json.loads(path.read_text()).get("$schema")
    found = where and (path.parent / where)
    if not found or not found.exists():
        return f"{path}: its $schema, {where}, leads nowhere"
    return None if json.loads(found.read_text()) == schema else f"{path}: its $schema, {where}, is another one"


def check_kept(where, exists=True):
    """Does `convert` keep the "$schema" @where, through a script and back?  The default stays only where it @exists."""
    with tempfile.TemporaryDirectory() as directory:
        first, script, second = (f"{directory}/labs/{name}" for name in ("a.json", "b.lab", "c.json"))
        pathlib.Path(directory, "labs").mkdir()
        if exists:
            pathlib.Path(directory, "schema").mkdir()
            pathlib.Path(directory, "schema/scenario-1.json").write_text("{}")
        pathlib.Path(first).write_text(json.dumps({"$schema": where, "steps": [{"do": "host", "names": ["h1"]}]}))
        for a, b in ((first, script), (script, second)):
            result = rdmalab("convert", a, b)
            if result.returncode:
                return f"convert {a} {b}: {result.stderr}"
        kept = json.loads(pathlib.Path(second).read_text()).get("$schema")
    if not exists:
        return kept and f"convert writes the $schema {kept}, which leads nowhere"
    return None if kept == where else f"convert makes {kept} of the $schema {where}"


def check_bad(validator, path):
    if not schema_error(validator, path):
        return f"{path}: the schema accepts it"
    result = rdmalab("run", str(path))
    if result.returncode != EXIT_USAGE:
        return f"{path}: rdmalab run exits with {result.returncode}, not {EXIT_USAGE}"
    if path.name not in result.stderr:
        return f"{path}: the message does not name the file: {result.stderr!r}"
    return None


LAB = """host h1 h2; switch s1; link h1 s1; link h2 s1
on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw as mr; create_cq as cq; alloc_mw pd as mw
  create_srq pd as srq; create_ah pd dgid=h2 as ah; create_qp pd send_cq=cq recv_cq=cq as qp }
connect h1.qp h2.qp; post_recv h2.qp sge=mr[0:64]; drop next from=h1 as f1
host p1 device=pvrdma; on p1 { alloc_pd as pd; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }
modify_qp p1.qp state=INIT pkey_index=0 port=1 access=rw; post_recv p1.qp
machine m1 vfs=2; guest g1 on m1 vrnic; guest g2 on m1 vrnic group=2; alloc_pd g1 as pd
post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[4090] signaled; step packet
"""
NEEDS = {"vq": "h1.qp.sq", "life": "h1.qp", "dump": "h1.qp.sq.desc[0]",
         "wqe": "h1.qp.sq.desc[0] layout=both", "states": "h1.qp", "ring": "p1.qp.rq", "uar": "p1", "dsr": "p1"}  # what must follow a subject


def check_shown(schema, subject, later):
    """Rows of @subject, of a lab in which something is under way, or was refused."""
    question = f"show vq h1.qp.sq; show {subject} {NEEDS.get(subject, '')} json"
    result = rdmalab("-c", LAB + later + 'note "here"; ' + question)
    try:
        rows = json.loads("[" + result.stdout.rsplit("\n[", 1)[1])
    except (IndexError, ValueError) as error:
        return f"{question}: {error}: {result.stdout[-300:]}{result.stderr}"
    if not rows and subject != "due":
        return f"{question}: no rows, so that nothing was compared"
    validator = jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{subject}"})
    error = jsonschema.exceptions.best_match(validator.iter_errors(rows))
    return error and f"{question}: {error.json_path}: {error.message}"


def main():
    every = int(sys.argv[2]) if len(sys.argv) == 4 and sys.argv[1] == "--every" and sys.argv[2].isdecimal() else 1
    if len(sys.argv) not in (2, 4) or every < 1:
        sys.exit(__doc__)
    schema = json.loads(rdmalab("schema", "scenario").stdout)
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    validator = validator_class(schema)

    good = sorted((ROOT / "scenarios").glob("*.json"))[::every]
    bad = sorted((ROOT / "tests" / "bad").glob("*.json"))
    problems = [check_good(validator, path) for path in good]
    problems += [check_bad(validator, path) for path in bad]
    problems += [check_found(schema, path) for path in good]
    problems.append(check_kept("../schema/scenario-1.json", exists=False))
    problems += [check_kept(where) for where in ("../schema/scenario-1.json", "scenario-1.json", "https://a.example/b c.json")]
    problems.append(None if schema.get("$id") == ID else f"the $id of the schema is {schema.get('$id')}")
    shown = json.loads(rdmalab("schema", "show").stdout)
    jsonschema.Draft202012Validator.check_schema(shown)
    problems += [check_shown(shown, subject, later)
                 for subject in shown["$defs"] for later in ("", "run\n")]
    if not good or not bad:
        problems.append("no scenarios, or no bad samples: nothing was compared")
    failed = sum(problem is not None for problem in problems)
    print(*(p for p in problems if p), sep="\n")
    print(f"{len(problems) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
