# SPDX-License-Identifier: MIT
"""Programs find in a lab the device, the calls and the files of an adapter.  The lab tells why it refused a call."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
from xml.etree import ElementTree

from on_hosts import LIBRARY, exec_pair, ports, text_of, wait_until
from program import ROOT

# Pairs of server and client: the same words, and the name of the machine behind those of the client.
PAIRS = [
    "ibv_rc_pingpong -g 0 -n 200 -c", "ibv_rc_pingpong -g 0 -n 200 -e", "ibv_rc_pingpong -g 1 -n 50 -m 4096 -s 65536 -r 50",
    "ibv_rc_pingpong -g 0 -n 100 -t", "ibv_rc_pingpong -g 0 -n 100 -N", "ibv_uc_pingpong -g 0 -n 200",
    "ibv_uc_pingpong -g 0 -n 100 -e", "ibv_ud_pingpong -g 0 -n 200", "ibv_ud_pingpong -g 1 -n 100 -e -s 1024",
    "ibv_srq_pingpong -g 0 -n 100 -q 4", "ibv_srq_pingpong -g 0 -n 100 -e",
    "ib_send_bw -n 100", "ib_send_lat -n 50 -e", "ib_send_bw -n 100 -c UD", "ib_send_bw -n 100 -c UC --use-srq",
    "ib_write_bw -n 100 -q 2 -m 1024", "ib_write_lat -n 50 -I 64", "ib_write_bw -n 100 -c UC", "ib_write_bw -n 50 -b",
    "ib_read_bw -n 50", "ib_read_lat -n 50 -s 4096", "ib_atomic_bw -n 50", "ib_atomic_lat -n 50 -A CMP_AND_SWAP",
]


def check_pairs(rdmalab, tally):
    for pair in PAIRS:
        done = exec_pair(rdmalab, pair)
        tally.expect(done.returncode == 0, pair, text_of(done))


def check_device(rdmalab, tally):
    done = rdmalab.run("exec", "h2", "--", "ibv_devinfo", "-v")
    says = {name: value for name, value in re.findall(r"^\s*([\w ]+\w):\s*(\S.*)$", done.stdout, re.MULTILINE)}
    for name, value in {"hca_id": "rdl0", "state": "PORT_ACTIVE (4)", "max_qp": "1024", "link_layer": "Ethernet",
                        "atomic_cap": "ATOMIC_HCA (1)", "active_mtu": "4096 (5)"}.items():
        tally.expect(says.get(name) == value, f"ibv_devinfo says that {name} is {value}", text_of(done))
    tally.expect("::ffff:10.0.0.2, RoCE v2" in done.stdout, "ibv_devinfo shows the GID of h2", text_of(done))
    alone = subprocess.run(["ibv_devices"], env={**os.environ, "LD_LIBRARY_PATH": str(rdmalab.built(LIBRARY).parent)},
                           capture_output=True, text=True, check=False)
    tally.expect(alone.returncode == 0 and "rdl0" not in alone.stdout, "without a lab there is no device", text_of(alone))


def check_symbols_and_texts(rdmalab, tally):
    for script in ("check_symbols.py", "check_text.py"):
        done = subprocess.run([ROOT / "src/program/ibverbs" / script, rdmalab.built(LIBRARY)], capture_output=True, text=True, check=False)
        counts = re.search(r"(\d+) passed, (\d+) failed", done.stdout)
        tally.expect(done.returncode == 0 and counts and int(counts[1]) > 0 and int(counts[2]) == 0, script, text_of(done))


def check_examples(rdmalab, tally):
    for name in ("rc_message", "one_sided", "datagram", "shared_receives", "events"):
        program, port = str(rdmalab.built(f"examples/{name}")), str(next(ports))
        done = rdmalab.run("exec", "h1", "--", program, "-", port, ":", "h2", "--", program, "localhost", port)
        tally.expect(done.returncode == 0 and done.stdout.count("\n") >= 3, f"examples/{name}.c", text_of(done))


# tests/program waits for the lab thousands of times.  Beside six busy programs on two processors that took 61 s, with 0.5 s
# of CPU time.
OWN_PROGRAM_S = 300


def check_own_program(rdmalab, tally):
    """What no program of Debian's does: errors, refusals, full queues, threads, fork, the end of the lab."""
    program = rdmalab.built("tests/program/verbs_program")
    for how in ([], ["--virtual"]):  # in which a thread that polls must not hold the calls of another one up
        done = rdmalab.run("exec", *how, "h1", "--", str(program), timeout=OWN_PROGRAM_S)
        counts = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
        tally.expect(done.returncode == 0 and counts and int(counts[1]) > 2000 and int(counts[2]) == 0,
                     " ".join(["tests/program", *how]), text_of(done))
    done = rdmalab.run("exec", "h1", "--", "env", "RDMALAB_ARM=unpolled", str(program), "arming")
    tally.expect(done.returncode == 0 and "arming\n" in done.stdout, "RDMALAB_ARM=unpolled", text_of(done))


# The mistakes that tests/program/mistakes.c can make, and the words of the lab on each.
SAID_OF_MISTAKES = {
    "access": "ibv_reg_mr(): Invalid argument; IBV_ACCESS_REMOTE_WRITE and _ATOMIC need IBV_ACCESS_LOCAL_WRITE",
    "long": "ibv_create_qp(): Invalid argument; max_send_wr is 1000000, and must be at most 4096",
    "srq": "ibv_create_srq(): Invalid argument; max_sge is 1000, and must be at most 32",
    "state": "ibv_modify_qp(): Invalid argument; RESET -> RTS is not possible",
}


def check_refused(rdmalab, tally):
    """A program that fails learns an errno; rdmalab tells why its last call was refused."""
    for mistake, says in SAID_OF_MISTAKES.items():
        done = rdmalab.run("exec", "h1", "--", str(rdmalab.built("tests/program/mistakes")), mistake)
        tally.expect(done.returncode == 3 and done.stderr == f"rdmalab: h1 mistakes ended with status 3\n  the lab had refused {says}\n",
                     f"the mistake {mistake}", text_of(done))
    for options in ([], ["--virtual"]):
        done = rdmalab.run("exec", *options, "--timeout", "2", "h1", "--", str(rdmalab.built("tests/program/mistakes")), "overflow")
        said = "completion queue h1.cq1 of 16 entries has overflowed: it was full when a completion came, so that completions are lost"
        tally.expect(done.returncode == 124 and done.stderr.count(f"h1: the {said} (process ") == 1 and
                     done.stderr.endswith(f"rdmalab: h1 mistakes still ran after the timeout of 2 s\n  its {said}\n"),
                     f"a completion queue that overflowed {options}", text_of(done))
    rdmalab.file("few.lab").write_text("host h1\nhost h2 max_qp_init_rd_atom=4 max_qp=2\nlink h1 h2\n")
    for pair, says in (("ib_read_lat -n 5", "  the lab had refused ibv_modify_qp(): Invalid argument; RTR -> RTS: max_rd_atomic is 16, and must be 0 to 4\n"),
                       ("ib_write_bw -q 2", "  the lab had refused ibv_create_qp(): Cannot allocate memory; the device says QP_LIMIT, expected at most 1 of them, found 2\n")):
        done = exec_pair(rdmalab, pair, None, "--lab", "few.lab")
        tally.expect(done.returncode == 1 and done.stderr.count(says) == 1, f"{pair}: why a call was refused", text_of(done))
    for pair, says in ((("ibv_rc_pingpong", "ibv_rc_pingpong"), "ah_attr needs a GID for RoCE, and is_global is 0; many programs have -g 0 for that\n"),
                       (("ibv_ud_pingpong", "ibv_ud_pingpong"), "ibv_create_ah(): Invalid argument; ah_attr needs a GID for RoCE, and is_global is 0"),
                       (("ibv_rc_pingpong -g 0", "ibv_rc_pingpong -g 1"), "sgid_index 0 is an IPv4 address, and dgid is not")):
        done = exec_pair(rdmalab, *pair)
        tally.expect(done.returncode == 1 and says in done.stderr, f"{pair}: the wrong address vector", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "sh", "-c", "ibv_devinfo >&2; exit 3")
    tally.expect(done.returncode == 3 and "had refused" not in done.stderr, "nothing was refused", text_of(done))


# The answer about tests/program/mistakes.c that has forgotten qp_access_flags; group: the event.
REFUSED_WRITE = (r"  h1\.qp3 went to ERR in (#\d+\.\d+): it refused h1\.qp2's RDMA_WRITE_WITH_IMM wr_id=77: its qp_access_flags\n"
                 r"  allow the peer nothing, and the request needs rw; ibv_modify_qp sets them(?:;\s+h1\.qp3 was made\s+by\s+ibv_create_qp.*)?\n  why \1:\n"
                 r"(?:    .*\n)+")
FAILED_WRITE = r"  h1\.qp2's RDMA_WRITE_WITH_IMM wr_id=77 failed in #\d+\.\d+ with REM_INV_REQ_ERR, by the same refusal,\s+in #"


REGION = ("IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE", "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE")


def check_region_flags(rdmalab, tally):
    """A READ of a region without IBV_ACCESS_REMOTE_READ: the report names the line that registered the region, and tells the refusal once."""
    source = (ROOT / "examples/one_sided.c").read_text()
    tally.expect(REGION[0] in source, "examples/one_sided.c has the flags", source)
    rdmalab.file("flags.c").write_text(source.replace(*REGION))
    subprocess.run(["gcc", "-g", "-o", rdmalab.file("flags"), rdmalab.file("flags.c"), "-libverbs"], check=True)
    port = str(next(ports))
    done = rdmalab.run("exec", "--virtual", "h1", "--", "./flags", "-", port, ":", "h2", "--", "./flags", "localhost", port)
    said = " ".join(done.stderr.split())
    line = source.count("\n", 0, source.index("ibv_reg_mr(")) + 1
    place = rf"flags\.c:({line - 1}|{line}|{line + 1})" if shutil.which("addr2line") else r"flags"
    tally.expect(done.returncode == 1 and re.search(rf"expected key access rr, found key access lw,rw; the region was made by ibv_reg_mr, {place}", said),
                 "the region has its line", text_of(done))
    tally.expect(said.count("went to ERR in") == 1 and said.count("refused: NAK remote access") == 1 and "by the same refusal, in #" in said,
                 "the refusal is told once", text_of(done))


def check_failed_in_the_lab(rdmalab, tally):
    """A program that fails is explained by its queue pairs, also after it has destroyed them."""
    program = str(rdmalab.built("tests/program/mistakes"))
    done = rdmalab.run("exec", "--events", "e.ndjson", "h1", "--", program, "forget")
    said = re.match(r"rdmalab: h1 mistakes ended with status 3\n" + REFUSED_WRITE + FAILED_WRITE, done.stderr)
    tally.expect(done.returncode == 3 and said, "a refused write", text_of(done))
    tally.expect(said and f"  more:  rdmalab show e.ndjson why '{said[1]}'\n" in done.stderr, "its events", text_of(done))
    shown = rdmalab.run("show", "e.ndjson", "why", said[1] if said else "")
    tally.expect(shown.returncode == 0 and "h1.qp3 RTS -> ERR" in shown.stdout, "`why` of its events", text_of(shown))
    done = rdmalab.run("exec", "--timeout", "2", "h1", "--", program, "wait")
    tally.expect(done.returncode == 124 and re.search(r"after the timeout of 2 s\n" + REFUSED_WRITE + FAILED_WRITE, done.stderr),
                 "a refused write, and a timeout", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "false")
    tally.expect(done.stderr == "rdmalab: h1 false ended with status 1\n  in the lab nothing went wrong for h1 false: it has made no queue pair\n",
                 "a program without a queue pair", text_of(done))


def check_failed_tests(rdmalab, tally):
    """The same in each format of `test`, from a JSON scenario."""
    program = str(rdmalab.built("tests/program/mistakes"))
    steps = [{"do": "host", "names": ["h1", "h2"]}, {"do": "link", "a": "h1", "b": "h2"},
             {"do": "exec", "host": "h1", "command": [program, "forget"]}]
    rdmalab.file("forget.json").write_text(json.dumps({"steps": steps}))
    for options, read in (([], lambda done: done.stdout), (["--format", "json"], lambda done: json.loads(done.stdout)["cases"][0]["message"]),
                          (["--junit", "junit.xml"], lambda done: ElementTree.parse(rdmalab.file("junit.xml")).find(".//failure").text),
                          (["--artifacts", "left"], lambda done: rdmalab.file("left/forget.json/failed.txt").read_text())):
        done = rdmalab.run("test", "forget.json", "--allow", "programs", *options)
        text = read(done)
        tally.expect(done.returncode == 1 and re.search(REFUSED_WRITE + FAILED_WRITE, text), f"a refused write in {options}", text_of(done))
        tally.expect("--artifacts" in options or "  open:  rdmalab open forget.json --seed 1 --virtual --allow programs\n" in text,
                     f"`open:` in {options}", text_of(done))


def check_expected_status(rdmalab, tally):
    """An expectation about the status of a program that may fail is explained by its queue pairs, too."""
    for asked in ("program1.status == 0", "h1.program.status == 0"):
        rdmalab.file("asked.lab").write_text(f"host h1 h2\nlink h1 h2\nexec h1 status=0,3 {rdmalab.built('tests/program/mistakes')} forget\nexpect {asked}\n")
        done = rdmalab.run("test", "asked.lab", "--allow", "programs")
        tally.expect(done.returncode == 1 and re.search(rf"FAIL expect {asked}: it is 3\n" + REFUSED_WRITE + FAILED_WRITE, done.stdout), asked, text_of(done))


def check_whole_lines(rdmalab, tally):
    """Programs and the lab share the standard error, so the lab writes a line at once.  A packet of the socket is one write."""
    reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with reader, writer:
        process = rdmalab.start("exec", "h1", "--", str(rdmalab.built("tests/program/mistakes")), "long", stderr=writer)
        writer.close()
        packets = list(iter(lambda: reader.recv(65536).decode(), ""))
        process.wait()
    tally.expect(len(packets) >= 2 and all(packet.endswith("\n") for packet in packets), "each write ends a line", str(packets))
    tally.expect(SAID_OF_MISTAKES["long"] in "".join(packets), "the reason is among them", str(packets))


def state_of(pid):
    """The letter of a process's state, as ps prints it; "" if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def check_refused_together(rdmalab, tally):
    """All programs that have failed when the lab looks are reported, with their reasons: rdmalab is stopped meanwhile."""
    rdmalab.file("few.lab").write_text("host h1\nhost h2 max_qp=2\nlink h1 h2\n")
    process = rdmalab.start("exec", "--lab", "few.lab", "h1", "--", "sh", "-c", "echo $$ >one; while ! test -e gone; do sleep 0.01; done; exit 3",
                            ":", "h2", "--", "sh", "-c", "ibv_srq_pingpong -q 8; echo $$ >two; kill -STOP $PPID; touch gone; exit 4")
    for name in ("one", "two"):
        wait_until(lambda name=name: rdmalab.file(name).exists() and state_of(rdmalab.file(name).read_text().strip()) == "Z")
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=30)
    tally.expect(process.returncode == 3 and re.search(
        r"rdmalab: h1 sh ended with status 3\n  h2 sh ended with status 4\n    the lab had refused ibv_create_qp\(\): Cannot allocate memory; "
        r"the device says QP_LIMIT", errors), "both failures, with the reason of the second one", f"{process.returncode}\n{errors}")


FILES = """
import os, stat
device, sysfs = "/dev/infiniband/uverbs0", "/sys/class/infiniband/rdl0/"
print("device", stat.S_ISCHR(os.stat(device).st_mode), os.access(device, os.R_OK | os.W_OK), open(device).read() == "")
for name in "ports/1/gid_attrs/types/0", "ports/1/gid_attrs/types/15", "ports/1/link_layer", "node_type":
    print(name, open(sysfs + name).read().strip(), os.stat(sysfs + name).st_size, os.access(sysfs + name, os.R_OK))
for name in "ports/1/gid_attrs/types/", "ports/1/gid_attrs/types/0x", "ports/2/link_layer", "node_typ", "node_types":
    print(name, os.path.exists(sysfs + name))
try:
    open(sysfs + "node_type", "w")
except OSError as error:
    print(error.strerror)
print(sorted(os.listdir("/proc/self/fd")))
"""
FILES_SAID = """device True True True
ports/1/gid_attrs/types/0 RoCE v2 8 True
ports/1/gid_attrs/types/15 RoCE v2 8 True
ports/1/link_layer Ethernet 9 True
node_type 1: CA 6 True
ports/1/gid_attrs/types/ False
ports/1/gid_attrs/types/0x False
ports/2/link_layer False
node_typ False
node_types False
Permission denied
['0', '1', '2', '3']
"""


def check_files(rdmalab, tally):
    """Files of an adapter that programs look at themselves: the machine has none."""
    done = rdmalab.run("exec", "h1", "--", sys.executable, "-c", FILES)
    tally.expect(done.returncode == 0 and done.stdout == FILES_SAID, "files of the device", text_of(done))
    done = rdmalab.run("exec", "h1", "--", "env", "-u", "RDMALAB_SOCKET", "ls", "/sys/class/infiniband/rdl0/node_type")
    tally.expect(done.returncode == 2, "files of the device without a lab", text_of(done))
    for variable, ours in (("LD_PRELOAD", "librdmalab-files.so"), ("LD_LIBRARY_PATH", "rdmalab-exec-"), ("ASAN_OPTIONS", "link_order=0")):
        done = rdmalab.run("exec", "h1", "--", "printenv", variable, env={**os.environ, variable: "verbosity=0"})
        first, colon, last = done.stdout.strip().rpartition(":")
        tally.expect(ours in first and colon and last == "verbosity=0", f"{variable} of the user stands behind ours", text_of(done))
    spaces = rdmalab.file("a b")
    spaces.mkdir()
    done = rdmalab.run("exec", "h1", "--", "test", "-c", "/dev/infiniband/uverbs0", env={**os.environ, "TMPDIR": str(spaces)})
    tally.expect(done.returncode == 0 and not done.stderr and not list(spaces.iterdir()), "a directory with a space", text_of(done))


SANITIZED = """
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    FILE *file = fopen("/sys/class/infiniband/rdl0/node_type", "r");
    printf("%d %d\\n", n, file ? fgetc(file) : 0);
    if (file)
        fclose(file);
    ibv_free_device_list(list);
    return 0;
}
"""


def check_sanitizers(rdmalab, tally):
    """Programs with sanitizers run: that for addresses wants to be the first library."""
    rdmalab.file("sanitized.c").write_text(SANITIZED)
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for sanitizer in ("address", "thread"):
            made = subprocess.run([compiler, f"-fsanitize={sanitizer}", "sanitized.c", "-o", "sanitized", "-libverbs"],
                                  cwd=rdmalab.directory, capture_output=True, text=True, check=False)
            if made.returncode:
                continue  # this compiler has no such sanitizer
            done = rdmalab.run("exec", "h1", "--", "./sanitized")
            tally.expect(done.returncode == 0 and done.stdout == "1 49\n" and not done.stderr, f"{compiler} -fsanitize={sanitizer}",
                         text_of(done))
