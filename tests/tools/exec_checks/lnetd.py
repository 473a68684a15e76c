# SPDX-License-Identifier: MIT
"""lnetd, a node of LNet, on hosts of a lab."""
import re

from on_hosts import text_of

SIZES = "0,1,3976,3977,4096,64k,1m"
ONLY_LONG = "3977,64k,1m"

# What the server and the client have, and sizes.  Each pair reads and writes.
PAIRS = [
    ("", "", SIZES),
    ("--version 0x11", "--version 0x11", SIZES),
    ("--rules-2007", "", SIZES),
    ("--cksum", "--cksum --big-endian", SIZES),
    ("--kernel --peer-credits 4", "", SIZES),
    ("", "--kernel --map demand --peer-credits 32", ONLY_LONG),
    ("--kernel --offset 512", "--frag 5000 --gap 100 --offset 7", "3977,64k"),
]

FIVE_HOSTS = """switch s
host h1 h2 h3 h4 h5 on_demand ram=256m max_qp=64 max_cq=64
""" + "".join(f"link h{i} s\n" for i in range(1, 6))


def node(rdmalab, number, words):
    return [str(rdmalab.built("src/lnetd/lnetd")), "--nid", f"10.0.0.{number}@o2ib", *words.split()]


def in_a_row(*commands):
    """A program that runs @commands one after the other."""
    return ["sh", "-c", " && ".join(" ".join(command) for command in commands)]


def good_lines(done):
    return len(re.findall(r"^10\.0\.0\.1@o2ib (?:read|write): (\d+) of \1 RPCs of ", done.stdout, re.MULTILINE))


def check_lnetd_bulk(rdmalab, tally):
    for server, client, sizes in PAIRS:
        both = [node(rdmalab, 2, f"{client} {op} 10.0.0.1@o2ib --size {sizes} --count 16 --concurrency 8") for op in ("write", "read")]
        done = rdmalab.run("exec", "h1", "--", *node(rdmalab, 1, f"{server} serve --connections 2"), ":", "h2", "--", *in_a_row(*both))
        n = 2 * len(sizes.split(","))
        served = re.search(r"^served (\d+) RPCs with \d+ bytes, (\d+) failed", done.stdout, re.MULTILINE)
        tally.expect(done.returncode == 0 and not done.stderr and good_lines(done) == n and served and
                     (int(served[1]), int(served[2])) == (16 * n, 0), f"lnetd {server}, {client}: {sizes}", text_of(done))


def check_lnetd_counts(rdmalab, tally):
    """One of a thing has no plural."""
    done = rdmalab.run("exec", "h1", "--", *node(rdmalab, 1, "serve --connections 1"), ":", "h2", "--",
                       *node(rdmalab, 2, "write 10.0.0.1@o2ib --size 1"))
    tally.expect(done.returncode == 0 and "served 1 RPC with 1 byte, 0 failed; 1 connection\n" in done.stdout, "lnetd with one of each",
                 text_of(done))


def check_lnetd_many_clients(rdmalab, tally):
    """Four clients at the same time."""
    rdmalab.file("five.lab").write_text(FIVE_HOSTS)
    words = ["exec", "--lab", "five.lab", "h1", "--", *node(rdmalab, 1, "serve --connections 4")]
    for i in range(2, 6):
        words += [":", f"h{i}", "--", *node(rdmalab, i, "write 10.0.0.1@o2ib --size 64k --count 50 --concurrency 8")]
    done = rdmalab.run(*words)
    tally.expect(done.returncode == 0 and good_lines(done) == 4 and "served 200 RPCs with 13107200 bytes, 0 failed; 4 connections" in
                 done.stdout, "lnetd with four clients", text_of(done))


def check_lnetd_batch(rdmalab, tally):
    """Tests that run together, with each of two servers; sizes and concurrency are those of the options if a test has none."""
    rdmalab.file("five.lab").write_text(FIVE_HOSTS)
    words = ["exec", "--lab", "five.lab"]
    for i in (1, 3):
        words += [f"h{i}", "--", *node(rdmalab, i, "serve --connections 1"), ":"]
    done = rdmalab.run(*words, "h2", "--", *node(rdmalab, 2, "--size 5000 batch read:64k:8 write ping read:1m 10.0.0.1@o2ib 10.0.0.3@o2ib --count 20"))
    lines = re.findall(r"^(10\.0\.0\.[13])@o2ib (read|write|ping): 20 of 20 RPCs of (\d+) bytes", done.stdout, re.MULTILINE)
    wanted = [(f"10.0.0.{i}", *test) for test in (("read", "65536"), ("write", "5000"), ("ping", "0"), ("read", "1048576")) for i in (1, 3)]
    tally.expect(done.returncode == 0 and not done.stderr and lines == wanted and
                 done.stdout.count("served 80 RPCs with 22382240 bytes, 0 failed; 1 connection") == 2, "lnetd with a batch", text_of(done))


def check_lnetd_commands(rdmalab, tally):
    commands = [node(rdmalab, 2, words) for words in
                ("ping 10.0.0.1@o2ib --count 3", "get 10.0.0.1@o2ib --size 1m", "get 10.0.0.1@o2ib --size 100",
                 "put 10.0.0.1@o2ib --size 64k --seed 7", "get 10.0.0.1@o2ib --size 64k --seed 7", "put 10.0.0.1@o2ib --size 10 --seed 8")]
    wrong = node(rdmalab, 2, "get 10.0.0.1@o2ib --size 64k --seed 7")
    done = rdmalab.run("exec", "h1", "--", *node(rdmalab, 1, "serve --connections 7"), ":", "h2", "--", *in_a_row(*commands, ["!", *wrong]))
    tally.expect(done.returncode == 0 and not done.stderr and done.stdout.count("10.0.0.1@o2ib: 0@lo 10.0.0.1@o2ib, pid 12345,") == 3 and
                 done.stdout.count("10.0.0.1@o2ib: got 65536 bytes") == 2 and done.stdout.count("are not those of seed 7, the first one at") == 1,
                 "lnetd ping, put and get", text_of(done))


def check_lnetd_waits_for_the_reply(rdmalab, tally):
    """The longest GET that is answered by a REPLY: in virtual time that comes after the GET was sent."""
    done = rdmalab.run("exec", "--virtual", "h1", "--", *node(rdmalab, 1, "serve --connections 1"), ":",
                       "h2", "--", *node(rdmalab, 2, "get 10.0.0.1@o2ib --size 3976"))
    tally.expect(done.returncode == 0 and "10.0.0.1@o2ib: got 3976 bytes" in done.stdout, "lnetd waits for a REPLY", text_of(done))


def check_lnetd_ends(rdmalab, tally):
    """A server that is killed, and one that stops, while a client has RPCs under way."""
    client = in_a_row(node(rdmalab, 2, "--rpc-timeout 1 write 10.0.0.1@o2ib --size 64k --for 60 --concurrency 8"))
    for end in ("timeout -s KILL 0.5", "timeout 0.5"):
        server = ["sh", "-c", " ".join([end, *node(rdmalab, 1, "serve"), "; true"])]
        done = rdmalab.run("exec", "h1", "--", *server, ":", "h2", "--", *client)
        tally.expect(done.returncode == 1 and re.search(r" write: [1-9]\d* of [1-9]\d* RPCs of 65536 ", done.stdout) and
                     "lnetd: 10.0.0.1@o2ib: " in done.stderr and "are left" not in done.stderr,
                     f"lnetd, whose server ends by {end}", text_of(done))


def check_lnetd_mistakes(rdmalab, tally):
    for words, status, says in (
            ("", 2, "no command: serve, ping"),
            ("batch 10.0.0.1@o2ib", 2, "a batch needs a test such as read:64k:8"),
            ("batch read:64k", 2, "the NID of the peer is missing"),
            ("batch read:64k put 10.0.0.1@o2ib", 2, "no test such as read:64k:8: put"),
            ("batch read:2m 10.0.0.1@o2ib", 2, "no test such as read:64k:8: read:2m"),
            ("batch read:: 10.0.0.1@o2ib", 2, "no test such as read:64k:8: read::"),
            ("batch write:1:0 10.0.0.1@o2ib", 2, "no test such as read:64k:8: write:1:0"),
            ("batch write:1:129 10.0.0.1@o2ib 10.0.0.3@o2ib", 2, "too many RPCs at a time: at most 256 of a test"),
            ("batch" + 9 * " ping" + " 10.0.0.1@o2ib", 2, "a batch has at most 8 tests: ping"),
            ("--peer-credits 1 serve", 2, "--peer-credits cannot be 1"),
            ("--rules-2007 --version 0x12 serve", 2, "in 2007 there was only version 0x11"),
            ("read 10.0.0.1@o2ib --size 2m", 2, "--size cannot be 2m"),
            ("ping 10.0.0.1@o2ib", 1, "no listener at port 987: does `lnetd serve` run there?"),
            ("--verbose ping 10.0.0.1@o2ib", 1, "lnetd: request of this node was rejected: INVALID_SRV_ID"),
            ("read 10.0.0.1@o2ib 10.0.0.9@o2ib", 1, "lnetd: 10.0.0.9@o2ib: no answer from this address"),
            ("ping 10.0.0.9@o2ib", 1, "no answer from this address"),
            ("--nid 10.0.0.7@o2ib serve", 1, "no interface has the address of --nid")):
        done = rdmalab.run("exec", "h2", "--", *node(rdmalab, 2, words))
        tally.expect(done.returncode == status and says in done.stderr, f"lnetd {words}: {says}", text_of(done))
