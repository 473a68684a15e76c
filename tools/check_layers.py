#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does every layer include, and link, only what is below it?

usage: check_layers.py [--self-test] [ROOT]

The table MAY_USE is the architecture.  A layer may always use itself and the public headers;
the public headers use nothing but libc and each other.  --self-test plants violations of each
kind in a copy of the tree and proves that they are found.
"""
import pathlib
import re
import shutil
import sys
import tempfile

MAY_USE = {  # layer -> layers it may include; order is bottom to top
    "base":   [],
    "facts":  ["base"],
    "trace":  ["base", "facts"],
    "wire":   ["base", "facts"],
    "mem":    ["base", "facts", "trace"],
    "sim":    ["base", "trace"],
    "net":    ["base", "facts", "trace", "wire", "sim"],
    "virtio": ["base", "facts", "trace", "mem", "sim"],
    "hca":    ["base", "facts", "trace", "mem", "sim"],
    "xport":  ["base", "facts", "trace", "wire", "mem", "sim", "hca"],
    "device": ["base", "facts", "trace", "wire", "mem", "sim", "net", "virtio", "hca", "xport"],
    # a guest sees devices only as registers, memory and interrupts
    "guest":  ["base", "facts", "trace", "wire", "mem", "sim", "virtio"],
    "lab":    ["base", "facts", "trace", "wire", "mem", "sim", "net", "virtio", "hca", "xport",
               "device", "guest"],
    # what happened, from the events of a lab or of a saved trace
    "past":   ["base", "facts", "trace"],
    # pictures are made from traces and inspect trees alone
    "viz":    ["base", "facts", "trace", "wire"],
    # the command line reaches the lab only through include/rdmalab
    "cli":    ["base", "facts", "trace", "wire", "past", "viz"],
}
MAY_LINK = {**MAY_USE, "cli": [*MAY_USE["cli"], "lab"]}

# System headers and Meson dependencies that belong to one layer.
HEADER_ONLY_IN = {"uv.h": "cli", "readline/": "cli", "cjson/": "cli", "isa-l": "wire"}
LIBRARY_ONLY_IN = {"libuv": "cli", "readline": "cli", "cjson": "cli", "isal": "wire"}

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def layer_dir(root, layer):
    return root / "src" / layer if layer in ("viz", "cli") else root / "src" / "emu" / layer


def layer_of(include):
    """The layer that an include path names: "public", None for anything else."""
    first, *rest = include.split("/")
    if first == "rdmalab":
        return "public"
    if first == "emu" and rest and rest[0] in MAY_USE:
        return rest[0]
    return first if first in ("viz", "cli") else None


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1] == '"', match[2]


def check_include(layer, quoted, name):
    """What is wrong with @layer including @name; None if nothing is."""
    if not quoted:
        for header, owner in HEADER_ONLY_IN.items():
            if name.startswith(header) and layer != owner:
                return f"<{name}> belongs to {owner}, not to {layer}"
        return None
    target = layer_of(name)
    if target is None:
        return f'"{name}" does not begin with a layer: write the path from src/ or include/'
    if target not in ("public", layer, *MAY_USE.get(layer, [])):
        return f'{layer} must not include "{name}"'
    return None


def check_sources(root):
    for layer in ("public", *MAY_USE):
        top = root / "include" / "rdmalab" if layer == "public" else layer_dir(root, layer)
        for path in sorted(p for p in top.rglob("*") if p.suffix in (".c", ".h", ".def")):
            for number, quoted, name in includes(path):
                if problem := check_include(layer, quoted, name):
                    yield f"{path.relative_to(root)}:{number}: {problem}"


def check_meson(root):
    for layer in MAY_USE:
        path = layer_dir(root, layer) / "meson.build"
        where = path.relative_to(root)
        sources = sorted(path.parent.glob("*.c"))
        if not path.exists():
            if sources:
                yield f"{where}: missing, but there are sources"
            continue
        text = "\n".join(line.partition("#")[0] for line in path.read_text().splitlines())
        for name in sorted(set(re.findall(r"\b(\w+)_dep\b", text))):
            if name in MAY_USE and name != layer and name not in MAY_LINK[layer]:
                yield f"{where}: {layer} must not link {name}"
        for library, owner in LIBRARY_ONLY_IN.items():
            if re.search(rf"\b{library}\b", text) and layer != owner:
                yield f"{where}: {library} belongs to {owner}, not to {layer}"
        for source in sources:
            if f"'{source.name}'" not in text:
                yield f"{where}: {source.name} is not built"


def check_directories(root):
    for path in sorted((root / "src").rglob("*.[ch]")):
        if layer_of(path.relative_to(root / "src").as_posix()) in (None, "public"):
            yield f"{path.relative_to(root)}: in no layer"


def check(root):
    return [*check_directories(root), *check_sources(root), *check_meson(root)]


PLANTS = {  # what is planted -> file, text
    "an upward include": ("src/emu/base/planted.h", '#include "emu/sim/sim.h"'),
    "a sideways include": ("src/emu/mem/planted.h", '#include "emu/sim/sim.h"'),
    "the inside of the lab in cli": ("src/cli/planted.h", '#include "emu/lab/lab.h"'),
    "cJSON in the simulation": ("src/emu/sim/planted.h", "#include <cjson/cJSON.h>"),
    "readline in the lab": ("src/emu/lab/planted.h", "#include <readline/readline.h>"),
    "libuv in the network": ("src/emu/net/planted.h", "#include <uv.h>"),
    "ISA-L outside wire": ("src/cli/planted.h", "#include <isa-l/crc.h>"),
    "an internal header in a public one": ("include/rdmalab/planted.h",
                                           '#include "emu/base/text.h"'),
    "an include without its layer": ("src/emu/hca/planted.h", '#include "qp.h"'),
    "a source that is not built": ("src/emu/base/planted.c", ""),
    "a file in no layer": ("src/emu/misc/planted.h", ""),
    "an upward link": ("src/emu/base/meson.build", "x = [lab_dep]"),
    "a foreign library": ("src/emu/base/meson.build", "x = [cjson]"),
}


def self_test(root):
    failed = 0
    for what, (name, text) in PLANTS.items():
        with tempfile.TemporaryDirectory() as tmp:
            copy = pathlib.Path(tmp)
            for part in ("include", "src"):
                shutil.copytree(root / part, copy / part)
            before = set(check(copy))
            path = copy / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(f"\n{text}\n")
            found = [line for line in check(copy) if line not in before]
        failed += not found
        print(f"{'found' if found else 'MISSED'}: {what}{': ' + found[0] if found else ''}")
    return len(PLANTS) - failed, failed


def main():
    args = [a for a in sys.argv[1:] if a != "--self-test"]
    root = pathlib.Path(args[0] if args else pathlib.Path(__file__).parent.parent)
    if "--self-test" in sys.argv:
        passed, failed = self_test(root)
    else:
        problems = check(root)
        print(*problems, sep="\n", end="\n" if problems else "")
        passed, failed = int(not problems), len(problems)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
