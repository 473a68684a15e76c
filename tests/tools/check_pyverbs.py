#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The tests of rdma-core's pyverbs, unmodified, on a host of a lab.

usage: check_pyverbs.py RDMALAB

They come with Debian's package python3-pyverbs, which is fetched and unpacked beside RDMALAB, not installed.  Both ends of
each test are queue pairs of one process.  Each test passes, or is in one of the tables below with the reason why it does
not; a test in FAILS that passes is a failure, too.  Where the package cannot be had, or in a build without the library,
prints "skipped: REASON" and exits with 77.
"""
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from on_hosts import reason_to_skip
from program import Program, Tally

PACKAGE = "python3-pyverbs"
PYTHON = "/usr/bin/python3"  # pyverbs is made for Debian's
PASSED_MIN = 95
MACHINE = pathlib.Path(__file__).resolve().parent / "pyverbs_machine"

# Tests of which we know that they fail.
FAILS = {
    "test_mr_rereg_access": "ibv_rereg_mr() may change the keys, and changes them here; the test uses the old rkey",
    "test_mr_rereg_addr": "RESET leaves completions in the CQ, as with rxe; the test expects that the CQ is empty then",
    "test_mr_rereg_pd": "RESET leaves completions in the CQ, as with rxe; the test expects that the CQ is empty then",
}

# Tests that pass or fail by chance.
RACES = {"test_resize_cq": "it expects that its sends have completed right after it has posted them"}

# What tests that are skipped say, and why that is right here.
SKIPS = [
    (r"MLX5|EFA device|PCI device must be passed", "verbs of one vendor's adapters"),
    (r"cuda|dmabuf|Device memory", "memory of other devices"),
    (r"ODP", "on-demand paging"),
    (r"huge pages", "pages of the machine"),
    (r"Create QP type 8|XRCD", "XRC"),
    (r"Parent Domain|Importing a device", "objects that contexts share"),
    (r"[Rr]aw [Pp]acket", "raw packets"),
    (r"Query device real time|Converting timestamp", "time stamps of adapters"),
    (r"Create Extended CQ", "the test asks for time stamps of adapters"),
    (r"Extended CQ is not supported", "the test asks for tag matching"),
    (r"Extended QP is not supported", "the test asks for atomic writes"),
    (r"All gid indices populated", "no index of the table is free"),
]

RESULT = re.compile(r"^(test\w+) \((tests\.\w+)\.\w+\.\w+\)(.*?) \.\.\. (ok|FAIL|ERROR|skipped (?:'.*?'|\".*?\"))$",
                    re.MULTILINE | re.DOTALL)


def unpack(directory):
    """Fetches the package once; the directory that has it, or why there is none."""
    root = directory / PACKAGE
    if not (root / "tests/run_tests.py").exists():
        with tempfile.TemporaryDirectory() as fetched:
            got = subprocess.run(["apt-get", "download", PACKAGE], cwd=fetched, capture_output=True, text=True, check=False)
            packages = list(pathlib.Path(fetched).glob("*.deb"))
            if not packages:
                return None, f"{PACKAGE} cannot be fetched: {got.stderr.strip()[-200:]}"
            shutil.rmtree(root, ignore_errors=True)
            subprocess.run(["dpkg-deb", "-x", packages[0], root], check=True)
        shutil.move(root / "usr/share/doc/rdma-core/tests", root / "tests")
        for path in (root / "tests").glob("*.gz"):
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
    return root, ""


def judge(tally, text):
    results = {f"{where}.{name}": how for name, where, _, how in RESULT.findall(text)}
    said = re.search(r"^Ran (\d+) tests", text, re.MULTILINE)
    tally.expect(said and int(said[1]) == len(results), "each test has a result", f"{len(results)} results\n{text[-2000:]}")
    passed = [name for name, how in results.items() if how == "ok"]
    tally.expect(len(passed) >= PASSED_MIN, f"at least {PASSED_MIN} tests pass", f"{len(passed)} do")
    unknown = {*FAILS, *RACES} - {name.rsplit(".", 1)[-1] for name in results}
    tally.expect(not unknown, "each test in FAILS and RACES exists", str(unknown))
    for name, how in sorted(results.items()):
        known = name.rsplit(".", 1)[-1] in FAILS
        if name.rsplit(".", 1)[-1] in RACES and how in ("ok", "FAIL"):
            continue
        if how.startswith("skipped"):
            tally.expect(any(re.search(pattern, how) for pattern, _ in SKIPS) and not known, name, how)
        else:
            tally.expect((how == "ok") != known, name, "it passes now" if known else
                         "\n".join(re.findall(rf"^(?:ERROR|FAIL): {name.rsplit('.', 1)[-1]} .*?(?=^=====|\Z)", text,
                                              re.MULTILINE | re.DOTALL)))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rdmalab = pathlib.Path(sys.argv[1]).resolve()
    reason = reason_to_skip(rdmalab, ())
    if reason:
        print(f"skipped: {reason}")
        return 77
    root, why_not = unpack(rdmalab.parent)
    if not root:
        print(f"skipped: {why_not}")
        return 77
    tally = Tally()
    done = Program(rdmalab, root).run("exec", "h1", "--", "env", f"PYTHONPATH={MACHINE}:{root}/usr/lib/python3/dist-packages:{root}",
                                      "PYTHONDONTWRITEBYTECODE=1", PYTHON, "tests/run_tests.py", "--dev", "rdl0", "-v",
                                      timeout=300)
    judge(tally, done.stdout + done.stderr)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
