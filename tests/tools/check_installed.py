#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does an installed rdmalab find what was installed with it?

usage: check_installed.py BUILD_DIR

Installs what was built below a directory of its own, and asks the program there for its scenarios, from another
directory.  One scenario of the installed collection has another title, so that none but that one can answer.  If
libibverbs.so.1 was built, a program on a host of a lab loads the installed file by LD_LIBRARY_PATH.  Each library that an
installed program needs has its package in tools/build_packages, which users install to build the programs.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "tools/build_packages"
TITLE = "The one that was installed"

# Prints the name of the first device, and the file of the library.
DEVICE = """import ctypes
library = ctypes.CDLL("libibverbs.so.1")
library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
library.ibv_get_device_name.restype = ctypes.c_char_p
library.ibv_get_device_name.argtypes = [ctypes.c_void_p]
print(library.ibv_get_device_name(library.ibv_get_device_list(None)[0]).decode())
print({line.split()[-1] for line in open("/proc/self/maps") if "libibverbs" in line})
"""


def missing_packages(program):
    """The packages that linking @program needs and that tools/build_packages does not name."""
    dynamic = subprocess.run(["readelf", "--dynamic", "--wide", program], capture_output=True, text=True, check=True).stdout
    names = [name.split(".so")[0] + ".so" for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not name.startswith(("libc.", "ld-"))]
    owners = [subprocess.run(["dpkg-query", "--search", f"*/{name}"], capture_output=True, text=True, check=False).stdout for name in names]
    return [name for name, owner in zip(names, owners) if not {line.split(":")[0] for line in owner.splitlines()} & set(PACKAGES.read_text().split())]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        root, elsewhere = pathlib.Path(directory, "root"), pathlib.Path(directory, "elsewhere")
        elsewhere.mkdir()
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root], check=True)
        [program] = root.rglob("bin/rdmalab")
        programs = sorted(program.parent.iterdir())
        for each in programs:
            wrong += [f"tools/build_packages has no package for {name} of {each.name}" for name in missing_packages(each)]
        [first] = root.rglob("share/rdmalab/scenarios/01-first-send.json")
        scenario = json.loads(first.read_text())
        scenario["title"] = TITLE
        first.write_text(json.dumps(scenario))
        environment = {name: value for name, value in os.environ.items() if name != "RDMALAB_SCENARIOS"}
        cases = [(["scenarios"], TITLE), (["scenarios", "run", "first-send"], TITLE), (["apropos", TITLE], "01-first-send"),
                 (["--version"], "rdmalab ")]
        if (build / "src/program/ibverbs/libibverbs.so.1").exists():
            [library] = root.rglob("rdmalab/libibverbs.so*")
            cases.append((["exec", "h1", "--", "env", f"LD_LIBRARY_PATH={library.parent}", sys.executable, "-c", DEVICE],
                          f"rdl0\n{{'{library.parent}/libibverbs.so.1'}}"))
        for arguments, says in cases:
            done = subprocess.run([program, *arguments], cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
            if done.returncode or says not in done.stdout:
                wrong.append(f"{' '.join(arguments)}: {done.returncode}, {done.stdout[-300:]}{done.stderr}")
    print(*wrong, f"{len(cases) + len(programs) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
