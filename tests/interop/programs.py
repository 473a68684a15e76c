# SPDX-License-Identifier: MIT
"""Compiles the C programs that run in the virtual machine."""
import os
import pathlib
import shlex
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
SRC = TOP / "src"


def compiled(program, *options):
    """Compiles @program with the compiler of the environment variable CC; returns @program."""
    cc = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, *options], check=True)
    return program


def verbs_peer(program, *options):
    """Compiles verbs_peer, with the parser of its lines, which rdmalab has, too."""
    return compiled(program, *options, "-D_GNU_SOURCE", "-I", SRC, *sorted((HERE / "verbs_peer").glob("*.c")),
                    SRC / "cli/programs/peer_line.c", "-libverbs")


def shim(library):
    """Compiles shim.c, which LD_PRELOAD puts between the pingpongs and libibverbs."""
    return compiled(library, "-shared", "-fPIC", HERE / "shim.c")


def connect_many(program):
    """Compiles connect_many.c."""
    return compiled(program, "-D_GNU_SOURCE", HERE / "connect_many.c", "-lrdmacm", "-libverbs")


def rds(program):
    """Compiles driver_rds.c."""
    return compiled(program, "-D_GNU_SOURCE", HERE / "driver_rds.c")


def example(program):
    """Compiles the file of examples that has the name of @program, as examples/README.md says."""
    return compiled(program, "-D_DEFAULT_SOURCE", TOP / f"examples/{program.name}.c", "-lrdmacm", "-libverbs")
