#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes a header with the parts of timeline.html as arrays of bytes.

usage: page_parts.py HTML CSS JS... HEADER

In the page, {style} and {script} stand for the other files, and {policy} for the rule that allows no other program,
style or file: the page knows the hashes of its own.  {title} and {data} are where timeline.c fills in what it writes,
so that there are three parts.
"""
import base64
import hashlib
import pathlib
import sys


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


page, style, *scripts = (pathlib.Path(name).read_text("utf-8") for name in sys.argv[1:-1])
script = "".join(scripts)
policy = (f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
          "base-uri 'none'; form-action 'none'")
page = page.replace("{policy}", policy).replace("{style}", style)
head, _, rest = page.partition("{title}")
middle, _, tail = rest.partition("{data}")
assert middle and tail and "</script" not in script and "</style" not in style
tail = tail.replace("{script}", script)

lines = []
for name, text in (("head", head), ("middle", middle), ("tail", tail)):
    body = text.encode()
    lines.append(f"static const unsigned char page_{name}[] = {{")
    lines += ["    " + ", ".join(map(str, body[at:at + 24])) + "," for at in range(0, len(body), 24)]
    lines.append("};")
pathlib.Path(sys.argv[-1]).write_text("\n".join(lines) + "\n", "utf-8")
