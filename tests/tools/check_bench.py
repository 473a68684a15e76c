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


def check_connect(program):
    """bench connect --format json has its figures, none of them 0, for 1 to 10,000 connections, recorded and not."""
    rows = json.loads(program.run("bench", "connect", "--format", "json", timeout=5 * TIMEOUT_S).stdout)
    ensure({1, 1000, 10000} <= {row["connections"] for row in rows if not row["recorded"]}, f"rows: {rows}")
    ensure({1, 1000} == {row["connections"] for row in rows if row["recorded"]}, f"rows: {rows}")
    ensure(all(v > 0 for row in rows for k, v in row.items() if k != "recorded"), f"rows: {rows}")
    ensure(all(row["bytes_per_connection"] <= 64 << 10 for row in rows if row["connections"] > 1 and not row["recorded"]),
           f"a connection takes more: {rows}")


def check_lnet(program):
    """bench lnet --format json has its figures, none of them 0; a growing region is registered once, and a region for each message twice."""
    figures = json.loads(program.run("bench", "lnet", "--format", "json", timeout=5 * TIMEOUT_S).stdout)
    ensure(set(figures) == {"4k", "1m"}, f"figures: {figures}")
    for rows in figures.values():
        ensure(set(rows) == {"write", "put_growing", "put_demand", "put_kernel"}, f"rows: {rows}")
        ensure(all(row["cpu_ns"] > 0 and row["lab_ns"] > 0 for row in rows.values()), f"rows: {rows}")
        ensure([rows[w]["regions"] for w in ("put_growing", "put_demand", "put_kernel")] == [0, 2, 0], f"rows: {rows}")


def check_programs(program):
    """bench programs --format json has its figures: those of the lab, and those of TCP."""
    figures = json.loads(program.run("bench", "programs", "--format", "json", timeout=10 * TIMEOUT_S).stdout)
    ensure(set(figures) == {"write_64_us", "send_64_k_per_s", "write_64k_mb_per_s"}, f"figures: {figures}")
    ensure(all(row[way] and row[way] > 0 for row in figures.values() for way in ("lab", "tcp_loopback")), f"figures: {figures}")


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, {}, [], globals()))
