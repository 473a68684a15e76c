#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the header through which library.c finds the library that it contains.

usage: library_path.py LIBRARY HEADER
"""
import hashlib
import pathlib
import sys

library = pathlib.Path(sys.argv[1]).resolve()
path = str(library).replace("\\", "\\\\").replace('"', '\\"')
pathlib.Path(sys.argv[2]).write_text(
    f'/* {hashlib.sha256(library.read_bytes()).hexdigest()} */\n#define PROGRAM_LIBRARY_PATH "{path}"\n', "utf-8")
