#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: c_structs.py RDMALAB

Checks that `explain` knows each structure of libibverbs and librdmacm with all its fields.  The headers
<infiniband/verbs.h> and <rdma/rdma_cma.h> are read after the preprocessor.  Each structure ibv_... and rdma_... of
them must be explained with the fields of the header, in their order, and with a text.  c_structs.def must have no
others.

The last line is "N passed, N failed".
"""
import os
import re
import subprocess
import sys

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/cli/explain/c_structs.def")
HEADERS = ["infiniband/verbs.h", "rdma/rdma_cma.h"]
STRUCT = re.compile(r"^(?:struct|union) ((?:_?ibv|rdma)_\w+) \{", re.MULTILINE)
# A line of `explain` about a field.
FIELD = re.compile(r"^  ([a-z_]\w*(?:\.\w+)*) {2,}\S", re.MULTILINE)


def closing(text, at):
    """The index behind the brace that closes the one before @at."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def declarations(body):
    """Splits the body of a structure at the semicolons outside of braces."""
    at = start = 0
    while at < len(body):
        if body[at] == "{":
            at = closing(body, at + 1)
        elif body[at] == ";":
            yield body[start:at].strip()
            at += 1
            start = at
        else:
            at += 1


def names(declaration):
    """The names of the fields that a declaration makes.  Those of a named group are GROUP.NAME."""
    declaration = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", declaration)
    group = re.match(r"(?:struct|union)\s*\w*\s*\{", declaration)
    if group:
        end = closing(declaration, group.end())
        name = declaration[end:].strip()
        for inner in declarations(declaration[group.end():end - 1]):
            yield from (f"{name}.{field}" if name else field for field in names(inner))
        return
    function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declaration)
    if function:
        yield function.group(1)
        return
    for part in declaration.split(","):
        match = re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*(?::\s*\d+)?$", part.strip())
        if match:
            yield match.group(1)


def of_headers():
    """{name: [field]} of each structure in the headers."""
    text = "".join(f"#include <{h}>\n" for h in HEADERS)
    source = subprocess.run(["gcc", "-E", "-P", "-x", "c", "-"], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for match in STRUCT.finditer(source):
        body = source[match.end():closing(source, match.end()) - 1]
        found[match.group(1)] = [name for d in declarations(body) for name in names(d)]
    return found


def explained(rdmalab, name):
    """(the text of a structure, its fields), as `explain` tells them."""
    out = subprocess.run([rdmalab, "explain", name, "more"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         check=False).stdout
    own = out.partition(f"{name}   structure of ")[2].partition("\n  see it: ")[0]
    fields = FIELD.findall(own)
    text = own.partition("\n")[2].partition("\n")[0].strip()
    return text, fields


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    passed, wrong = 0, []
    structures = of_headers()
    if len(structures) < 100:
        wrong.append(f"the headers have only {len(structures)} structures")
    with open(ROWS, encoding="utf-8") as rows:
        others = set(re.findall(r"^STRUCTURE\((\w+),", rows.read(), re.MULTILINE)) - set(structures)
    wrong.extend(f"no header has {name}" for name in sorted(others))
    for name, fields in structures.items():
        text, told = explained(sys.argv[1], name)
        missing = [f for f in fields if f not in told]
        if not text:
            wrong.append(f"explain does not know {name}")
        elif told != fields:
            wrong.append(f"{name}: not {' '.join(fields)} but {' '.join(told)}; missing: {' '.join(missing)}")
        else:
            passed += 1
    print(*wrong, f"{passed} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
