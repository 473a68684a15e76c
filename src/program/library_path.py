#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the header through which library.c finds the libraries that it contains.

usage: library_path.py IBVERBS FILES HEADER
"""
import hashlib
import pathlib
import sys

lines = []
for name, argument in zip(("IBVERBS", "FILES"), sys.argv[1:3]):
    library = pathlib.Path(argument).resolve()
    path = str(library).replace("\\", "\\\\").replace('"', '\\"')
    lines.append(f'/* {hashlib.sha256(library.read_bytes()).hexdigest()} */\n#define PROGRAM_{name}_PATH "{path}"\n')
pathlib.Path(sys.argv[3]).write_text("".join(lines), "utf-8")
