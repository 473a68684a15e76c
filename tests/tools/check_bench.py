#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`rdmalab bench`: every figure is there.

usage: check_bench.py RDMALAB

Functions as in check_program.py.
"""
import json
import sys

import program as whole
from program import TIMEOUT_S, ensure


def check_bench(program):
    """bench --format json has its figures, none of them 0, for two hosts, for as many as a lab can have, and for 10,000 queue pairs."""
    figures = json.loads(program.run("bench", "--format", "json", timeout=5 * TIMEOUT_S).stdout)
    scale = figures.pop("scale")
    ensure(len(figures) == 15 and all(v > 0 for v in figures.values()), f"figures: {figures}")
    ensure({2, 4096} <= {row["hosts"] for row in scale} and all(v > 0 for row in scale for v in row.values()),
           f"scale: {scale}")
    ensure({10000} == {row["qps_per_host"] for row in scale if row["qps_per_host"] > 1024}, f"scale: {scale}")
    ensure(all(row["bytes_per_host"] <= 256 << 10 for row in scale if row["qps_per_host"] == 1), f"a host takes more: {scale}")


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, {}, [], globals()))
