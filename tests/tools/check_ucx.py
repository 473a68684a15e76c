#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""UCX, libfabric and ibv_asyncwatch, unmodified, on hosts of a lab.

usage: check_ucx.py RDMALAB [--all]

The programs are those of Debian's ucx-utils, libfabric-bin and ibverbs-utils.  --all makes the longer runs, too.  Without
the programs, or in a build without the library, prints "skipped: REASON" and exits with 77.  No check depends on how fast
the machine is.
"""
import pathlib
import re
import shutil
import subprocess
import sys

from on_hosts import checks_of, ports, reason_to_skip, run_together, text_of

NEEDED = ("ucx_perftest", "fi_info", "ibv_asyncwatch")

# Transport and test of UCX's lower level, UCT.
UCT = ["rc_verbs -t am_lat", "rc_verbs -t put_bw -D zcopy -s 4096", "rc_verbs -t get -D bcopy -s 1000", "rc_verbs -t fadd",
       "ud_verbs -t am_lat", "ud_verbs -t am_bw -D zcopy -s 2000"]
UCT_ALL = [f"{transport} -t {test} -D {layout} -s {size}" for transport, tests in (
    ("rc_verbs", ("am_lat", "am_bw", "put_lat", "put_bw")), ("ud_verbs", ("am_lat", "am_bw")))
    for test in tests for layout, size in (("short", 8), ("bcopy", 4000), ("zcopy", 4000))] + [
        "rc_verbs -t get -D zcopy -s 65536", "rc_verbs -t add_lat", "rc_verbs -t add_mr", "rc_verbs -t cswap",
        "ud_verbs -t am_bw -A thread_mutex", "ud_verbs -t am_bw -A signal"]

# Transports and test of its upper level, UCP.
UCP = ["rc_v -t tag_lat", "rc_v -t tag_bw -s 1048576 -n 10", "rc_v -t ucp_put_bw", "rc_v -t ucp_get -s 65536 -n 20",
       "rc_v -t tag_lat -T 2 -M multi", "ud_v -t tag_lat", "ud_v -t tag_bw -s 65536 -n 20", "ud_v -t ucp_put_bw"]
UCP_ALL = [f"{transports} -t {test} -s {size} -n 20" for transports in ("rc_v", "ud_v") for test in (
    "tag_lat", "tag_bw", "tag_sync_lat", "ucp_put_lat", "ucp_put_bw", "ucp_get", "stream_bw", "stream_lat", "ucp_am_lat", "ucp_am_bw")
    for size in (8, 8192, 1048576)] + [f"{transports} -t {test}" for transports in ("rc_v", "ud_v") for test in (
        "ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap", "tag_bw -T 4 -M multi", "tag_bw -T 2 -M serialized", "tag_bw -e", "tag_lat -I",
        "tag_bw -s 100000 -n 20 -D iov,iov", "tag_bw -s 65536 -n 20 -z")]


def pair(rdmalab, tally, words, *options, **variables):
    """Runs ucx_perftest on h1 and h2; a later -n of @words counts."""
    common = ["env", *(f"{name}={value}" for name, value in variables.items()), "ucx_perftest", "-p", str(next(ports)),
              "-n", "100", "-w", "10", *words.split()]
    done = rdmalab.run("exec", "--timeout", "50", *options, "h1", "--", *common, ":", "h2", "--", *common, "localhost")
    given = " ".join(f"{name}={value}" for name, value in variables.items())
    tally.expect(done.returncode == 0 and "Final:" in done.stdout and "ERROR" not in done.stdout, f"{given} {words}", text_of(done))
    return done


def uct(rdmalab, tally, row, *options, **variables):
    transport, words = row.split(" ", 1)
    return pair(rdmalab, tally, f"-d rdl0:1 -x {transport} {words}", *options, **variables)


def ucp(rdmalab, tally, row, *options, **variables):
    transports, words = row.split(" ", 1)
    return pair(rdmalab, tally, words, *options, UCX_TLS=transports, UCX_NET_DEVICES="rdl0:1", **variables)


def check_uct(rdmalab, tally, more):
    for row in UCT + (UCT_ALL if more else []):
        uct(rdmalab, tally, row)


def check_ucp(rdmalab, tally, more):
    for row in UCP + (UCP_ALL if more else []):
        ucp(rdmalab, tally, row)


def check_virtual(rdmalab, tally, more):
    """In virtual time: programs that poll TCP in turns."""
    for row in ("rc_v -t tag_lat -n 20",) + (("rc_v -t ucp_put_bw", "ud_v -t tag_bw -s 65536 -n 20") if more else ()):
        ucp(rdmalab, tally, row, "--virtual")


def check_virtual_threads(rdmalab, tally, _more):
    """In virtual time: threads that spin until another one goes on."""
    ucp(rdmalab, tally, "ud_v -t tag_lat -T 2 -M multi -n 20", "--virtual")


def check_gids(rdmalab, tally, more):
    """UCX takes the IPv4 GID, whose version of RoCE it reads in sysfs; and the GID that it is told."""
    for index in ("0", "1") if more else ("1",):
        uct(rdmalab, tally, "ud_verbs -t am_lat", UCX_IB_GID_INDEX=index)
        ucp(rdmalab, tally, "rc_v -t tag_lat", UCX_IB_GID_INDEX=index)
    if more:  # rxe does not say which IP header a datagram has
        rdmalab.file("rxe.lab").write_text("host h1 h2 profile=rxe on_demand ram=256m max_qp=64 max_cq=64\nlink h1 h2\n")
        ucp(rdmalab, tally, "rc_v -t tag_lat", "--lab", "rxe.lab", UCX_IB_GID_INDEX="1")
        ucp(rdmalab, tally, "rc_v -t tag_lat", "--lab", "rxe.lab", UCX_UD_VERBS_ETH_DGID_CHECK="n")
    done = uct(rdmalab, tally, "ud_verbs -t am_lat", UCX_LOG_LEVEL="debug")
    tally.expect(re.search("rdl0:1 using gid_index 0", done.stdout) and "gid_attrs/types" not in done.stdout, "the GID that UCX takes",
                 text_of(done))


def check_sleep(rdmalab, tally, more):
    """UCX arms a queue and sleeps.  It expects an event for completions that were there before."""
    for row in ("rc_v -t tag_lat -E sleep", "ud_v -t tag_lat -E sleep") if more else ("rc_v -t tag_lat -E sleep",):
        ucp(rdmalab, tally, row, RDMALAB_ARM="unpolled")


LOSSES = """host h1 h2 on_demand ram=256m max_qp=64 max_cq=64
link h1 h2
drop next nth=2 count=2 from=h2
"""


def check_losses(rdmalab, tally, _more):
    """Lost packets are sent again: datagrams by UCX, those of a connection by the device."""
    rdmalab.file("losses.lab").write_text(LOSSES)
    for row in ("rc_v -t tag_lat", "ud_v -t tag_lat"):
        ucp(rdmalab, tally, row, "--lab", "losses.lab")


MPI = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, n, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int size = 1; size <= 1 << 18; size *= 8) {
        int *in = malloc(size * sizeof(int)), *out = malloc(size * sizeof(int));
        for (int i = 0; i < size; i++)
            in[i] = i * (rank + 1);
        MPI_Allreduce(in, out, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            wrong += out[i] != i * n * (n + 1) / 2;
        free(in);
        free(out);
    }
    printf("rank %d of %d on %s: %d wrong\n", rank, n, getenv("RDMALAB_HOST"), wrong);
    MPI_Finalize();
    return wrong != 0;
}
"""


def check_mpi(rdmalab, tally, more):
    """Open MPI adds numbers on two hosts, with UCX."""
    if not more or not shutil.which("mpicc"):
        return
    rdmalab.file("mpi.c").write_text(MPI)
    subprocess.run(["mpicc", "mpi.c", "-o", "mpi"], cwd=rdmalab.directory, check=True)
    for transports in ("rc_v", "ud_v"):
        words = f"mpirun --allow-run-as-root --oversubscribe --mca pml ucx -x UCX_TLS={transports},self -x UCX_NET_DEVICES=rdl0:1"
        done = rdmalab.run("exec", "--timeout", "50", "--events", "mpi.ndjson", "h1", "--", "sh", "-c",
                           f"{words} -n 2 ./mpi : -n 2 env RDMALAB_HOST=h2 ./mpi")
        said = sorted(re.findall(r"^rank (\d) of 4 on (h[12]): 0 wrong$", done.stdout, re.MULTILINE))
        sent = rdmalab.run("show", "mpi.ndjson", "events", "kinds=tx").stdout.count(" tx ")
        tally.expect(done.returncode == 0 and said == [("0", "h1"), ("1", "h1"), ("2", "h2"), ("3", "h2")] and sent > 500,
                     f"MPI over {transports}, {sent} packets", text_of(done))


WRITES = """host h1 h2 on_demand ram=256m max_qp=64 max_cq=64
link h1 h2
exec h1 {command} &
exec h2 {command} localhost
run
expect count(tx, host==h2, opcode==RC_RDMA_WRITE_ONLY) >= 100
expect count(cqe, status!=SUCCESS) == 0
"""


def check_packets(rdmalab, tally, _more):
    """The link has carried the bytes that UCX reports."""
    command = f"ucx_perftest -d rdl0:1 -x rc_verbs -t put_bw -D zcopy -s 4096 -n 100 -w 0 -p {next(ports)}"
    rdmalab.file("writes.lab").write_text(WRITES.format(command=command))
    done = rdmalab.run("run", "writes.lab", "--allow", "programs", "--quiet")
    tally.expect(done.returncode == 0, "the WRITEs of UCX are packets", text_of(done))


WATCHED = """host h1 h2
link h1 h2
exec h1 sh -c "exec ibv_asyncwatch >said" &
exec h1 sh -c "until grep -q FD said; do sleep 0.01; done"
set link h1-h2 down
run for=1ms
set link h1-h2 up
exec h1 sh -c "until grep -q PORT_ERR said && tail -n 1 said | grep -q PORT_ACTIVE; do sleep 0.01; done"
kill 1
refused says="signal 15" { run }
"""


def check_asyncwatch(rdmalab, tally, _more):
    rdmalab.file("watched.lab").write_text(WATCHED)
    done = rdmalab.run("run", "watched.lab", "--allow", "programs")
    said = re.findall(r"^  event_type (\w+)", rdmalab.file("said").read_text(), re.MULTILINE)
    tally.expect(done.returncode == 0 and said[-2:] == ["IBV_EVENT_PORT_ERR", "IBV_EVENT_PORT_ACTIVE"], "ibv_asyncwatch", f"{said}\n{text_of(done)}")


def check_libfabric(rdmalab, tally, _more):
    """The provider verbs lists the device.  Its endpoints need rdma_cm."""
    done = rdmalab.run("exec", "h1", "--", "fi_info", "-p", "verbs")
    for domain, kind in (("rdl0", "FI_EP_MSG"), ("rdl0-dgram", "FI_EP_DGRAM")):
        tally.expect(done.returncode == 0 and re.search(f"domain: {domain}\n.*\n +type: {kind}$", done.stdout, re.MULTILINE),
                     f"fi_info lists {domain}", text_of(done))


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--all"]):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1]).resolve()
    reason = reason_to_skip(path, NEEDED)
    if reason:
        print(f"skipped: {reason}")
        return 77
    return run_together(path, checks_of(sys.modules[__name__]).values(), len(sys.argv) > 2)


if __name__ == "__main__":
    sys.exit(main())
