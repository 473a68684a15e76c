#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`rdmalab test`: every file has its verdict, in every form of report, whatever happens to the rest.

usage: check_verdicts.py RDMALAB

Rows and functions as in check_program.py.
"""
import html
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import program as whole
from program import FOREVER, PAIR, TIMEOUT_S, ensure

ONE_SEND = PAIR + "post_recv h2.qp wr_id=7 sge=mr[0:1k]\npost_send h1.qp wr_id=1 sge=mr[0:64] signaled\nrun\n"
BOTH_WAYS = PAIR + ("post_recv h1.qp wr_id=6 sge=mr[1k:2k]\npost_recv h2.qp wr_id=7 sge=mr[1k:2k]\n"
                    "post_send h1.qp wr_id=1 sge=mr[0:64] signaled\nrun 5us\npost_send h2.qp wr_id=2 sge=mr[0:64] signaled\nrun\n")
SET_UP = "setup quiet\n"  # regions allow the peer all


def read_into(before, remote):
    """Returns a script in which h1 READs from h2's memory @remote, after the lines @before."""
    return SET_UP + (f"{before}\npost_send h1.qp op=rdma_read wr_id=2 sge=mr[1k:1040] remote=h2.{remote} signaled\nrun\n"
                   'expect h1.mr[1k:1028] == "late"\n')


FILES = {
    "reliable.lab": ONE_SEND,
    "counts.lab": ONE_SEND + "expect count(tx) == 2\n",
    "stops.lab": ONE_SEND + "expect count(tx) == 2\nif count(tx) > 2 { destroy_qp h1.nothing }\n",
    "to.json": '{"title": "x", "steps": [{"do": "setup"}, {"do": "write", "to": "h1.mr[0]", "text": "x"}]}',
    "order.lab": BOTH_WAYS,
    "by-order.lab": BOTH_WAYS + "expect h1.cq.wc[0].opcode == SEND\n",
    "unreliable.lab": ONE_SEND.replace("type=rc", "type=uc"),
    "good.lab": "scenario title=good tags=quick\nhost h1\nexpect h1.irqs == 0\n",
    "fails.lab": "scenario title=fails\nhost h1\nexpect h1.irqs == 1\n",
    "wrong.lab": "scenario title=wrong\nhost h1\nbogus\n",
    "broken.json": '{"title": "broken", "steps": [',
    "nothing.lab": "# a note\nscenario title=nothing tags=quick\n",
    "skipped.lab": "scenario title=skipped skip=\"no tap here\"\nhost h1\n",
    "later.lab": "scenario title=later skip=\"not written yet\"\n",
    "forever.lab": "scenario title=forever ticks=1000000000000\n" + FOREVER,
    "forever2.lab": "scenario title=forever ticks=1000000000000\n" + FOREVER,
    "good2.lab": "host h1\n",
    "no-region.lab": read_into("on h2 { reg_mr pd len=4k access=local_write as nr }", "nr[0]"),
    "early-read.lab": read_into("", "mr[2k]").replace("expect", 'write h2.mr[2k] "late"\nexpect'),
    "empty-write.lab": SET_UP + ('write h1.mr[0:2k] fill=7\npost_recv h2.qp wr_id=7 sge=mr[0:2k]\n'
                               'post_send h1.qp wr_id=1 sge=mr[64:1264],mr[2k:2080] signaled\nrun\n'
                               'post_send h2.qp wr_id=3 op=rdma_write sge=mr[1k:1280] remote=h1.mr[3k] signaled\nrun\n'
                               'expect h1.mr[3272:3276] == "xyz"\n'),
    "resent-read.lab": SET_UP + ('write h1.mr[0:3k] fill=7\ndrop next from=h1 class=read_response as f1\n'
                               'post_send h2.qp wr_id=1 op=rdma_read sge=mr[0:100],mr[1k:3k] remote=h1.mr[8] signaled\nrun\n'
                               'expect h2.mr[2100:2104] == "xyz"\n'),
    "one-fails.lab": read_into("on h2 { reg_mr pd len=4k access=local_write as nr }\npost_recv h2.qp sge=mr[0:1k]\n"
                                      "post_send h1.qp wr_id=1 sge=mr[0:64] signaled", "nr[0]").split("expect")[0]
                     + "expect count(cqe, host==h1, status==SUCCESS) == 2\n",
    "long-names.lab": ONE_SEND.replace("h1", "client-number-one").replace("h2", "the-server"),
    "unmet.lab": PAIR + "drop next from=h1 as f1\nexpect tick > 0\n",
    "cleared.lab": PAIR + "stall h1.qp.sq as f1\nclear all\nexpect tick > 0\n",
    "optional.lab": PAIR + "drop next from=h1 optional as f1\nexpect tick > 0\n",
    "own-limit.lab": PAIR + "refused reason=err_timeout ticks=5 { post_send h1.qp sge=mr[0:64]; run }\n",
    "its-limit.lab": "scenario ticks=60\n" + PAIR + "refused says=limit { post_send h1.qp sge=mr[0:64]; run }\n",
    "its-time.lab": "scenario time=60us\n" + PAIR + "refused says=limit ticks=5000 { post_send h1.qp sge=mr[0:64]; run }\n",
    "outer.lab": PAIR + "refused reason=err_timeout ticks=5 { refused says=limit { post_send h1.qp sge=mr[0:64]; run } }\n",
    "kind.lab": PAIR + "refused reason=err_inval { post_send h1.cq }\n",
    "bare.lab": PAIR + "refused { post_send h1.cq }\n",
    "other.lab": "host h1\nrefused reason=err_busy { host h1 }\n",
    "empty/readme.txt": "no scenario\n",
}
ODD = "odd/a\"b'<c>&#\t\x01\udcff\u00e9.lab"  # what each form must escape, and a byte that is no UTF-8

CASES = [  # arguments, standard input, exit status, what the output must match
    (["test", "long-names.lab", "--fault-matrix"], "", 0, r"\d+ +client-number-one\.qp RC_SEND_ONLY \.\.\. -> the-server\.qp "),
    # the source of wrong bytes, and the error behind a failure
    (["test", "no-region.lab"], "", 1, r"why h1\.mr\[1k:1028\]:\n +h1\.mr\[1k:1028\]: nobody wrote there\.\n"
                                       r"  why #\S+:\n +#\S+ +cqe +h1\.cq wr_id=2 REM_ACCESS_ERR RDMA_READ(.|\n)*refused by MR_KEY"),
    (["test", "one-fails.lab"], "", 1, r"== 2: it is 1\n(.|\n)*  why #\S+:\n +#\S+ +cqe +h1\.cq wr_id=2 REM_ACCESS_ERR RDMA_READ"),
    (["test", "early-read.lab"], "", 1, r"written last in #\S+, by h1\.qp's RDMA_READ wr_id=2 \(early-read\.lab:\d+\)\.\n"
                                        r" +The bytes came from h2\.mr\[2k:2052\], which were read in #\S+: nobody wrote there\. h2\.mr\[2k:2052\]\s+"
                                        r"was written later, in #\S+, by a command \(early-read\.lab:\d+\)"),
    (["test", "empty-write.lab"], "", 1, r"by h2\.qp's RDMA_WRITE wr_id=3 (.|\n)*came from h2\.mr\[1224:1228\], .* had been written in #\S+, by\s+"
                                         r"h1\.qp's SEND wr_id=1 (.|\n)*Those came from h1\.mr\[2072:2076\], which were read in #\S+: nobody wrote there"),
    (["test", "resent-read.lab"], "", 1, r"came from h1\.mr\[1184:1188\], which were read in #\S+ and had been written in #\S+, by a\s+command"),
    (["-c", "setup quiet", "-c", "why h1.mr[5k]"], "", 1, r"h1\.mr\[5k\] ends behind its region, which has \d+ bytes"),
    (["-c", "setup quiet", "-c", "why h1.mr[5:5]"], "", 0, r"^nothing: h1\.mr\[5:5\] is 0 bytes long$"),
    (["-c", "setup quiet", "-c", "why h1.mr[5:3]"], "", 1, r'"h1\.mr\[5:3\]": the end is before the beginning\n'),
    (["-c", "setup quiet", "-c", "write h1.mr[0:4k] fill=1; post_recv h2.qp sge=mr[0:4k]; post_send h1.qp sge=mr[0:4k] signaled; run",
      "-c", "why h2.mr[0:4k]"], "", 0, r"^ +The bytes of h2\.mr\[3k:4k\] came from h1\.mr\[3k:4k\], which"),
    (["-c", "setup quiet", "-c", "why h1.mr[0:8]"], "", 0, r"^h1\.mr\[0:8\]: nobody wrote there\.$"),
    (["-c", "setup quiet", "-c", "post_send h1.qp op=rdma_write wr_id=1 sge=mr[0:8] remote=h2.mr[0] rkey=7 signaled", "-c", "run",
      "-c", "why not cqe(host==h1, status==SUCCESS)"], "", 0, r"try: why h1\.cq\.wc\[0\]"),
    # judged, and not run
    (["test", "--dry", "good.lab", "fails.lab"], "", 0, r"\Aok    good\.lab\nok    fails\.lab\n2 passed, 0 failed"),
    (["test", "--dry", "good.lab", "wrong.lab"], "", 2, r"FAIL  wrong\.lab\nwrong\.lab:3:1: error: (.|\n)*\n1 passed, 1 failed"),
    (["test", "--dry", "-"], "host h1\nexpect h2.irqs == 1\n", 2, r'^standard input:2:8: error: no command makes "h2"$'),
    (["test", "--dry", "-", "--format", "tap"], "setup quiet\nexpect h1.qp.state == RST\n", 2, r'^not ok 1 - (.|\n)*did you mean "RTS"'),
    (["test", "--dry", "-"], "setup quiet\nexpect h1.qp.state == RTS\n", 0, r"1 passed"),
    (["test", "--dry", "-"], "setup quiet\npost_recv h3.qp\ndrop next from=h4\nexpect h1.qp.state == RST\n", 2,
     r'^standard input:2:11: error: no command makes "h3"$(.|\n)*:3:16: error: no command makes "h4"$(.|\n)*:4:23: error: state is never'),
    (["test", "--dry", "-"], "setup quiet\non h1 {\npost_recv qq sge=mr[0:8]\nfoo\n}\nrun 10xx\n", 2,
     r'^standard input:3:11: error: no command makes "qq"$(.|\n)*:4:1: error: unknown command "foo"$(.|\n)*:6:5: error: .*not a time'),
    # each wrong word of a line, and each wrong name of an expression
    (["test", "--dry", "-"], "setup quiet\nmodify_qp h1.qp state=RTZ bogus=3 mtu=77\nexpect h1.qq.state == RTS and h1.mrr.bytes == 1\n", 2,
     r'^standard input:2:23: error: (.|\n)*^  did you mean "rtr" or "rts"\?$(.|\n)*:2:27: error: (.|\n)*:2:39: error: (.|\n)*:3:11: error: (.|\n)*:3:34: error: '),
    (["test", "--dry", "-"], "setup quiet\npost_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr2[0] rkey=h2.mr\nexpect count(cqe) == \"two\"\n", 2,
     r'^standard input:2:53: error: no command makes "mr2"$(.|\n)*:3:22: error: count is a number, and never "two"$'),
    (["test", "--dry", "skipped.lab"], "", 77, r"skipped\.lab  no tap here"),
    (["test", "--dry", "--list", "good.lab"], "", 2, r"give one of them"),
    (["test", "--dry", "--twice", "good.lab"], "", 2, r"--dry and --twice: give one of them"),
    (["test"], "", 2, r"usage"),
    (["test", "good.lab"], "", 0, r"^1 passed, 0 failed, 0 skipped$"),
    (["test", "good.lab", "fails.lab"], "", 1, r"^1 passed, 1 failed, 0 skipped$"),
    (["test", "good.lab", "skipped.lab"], "", 0, r"^1 passed, 0 failed, 1 skipped$"),
    (["test", "skipped.lab"], "", 77, r"^0 passed, 0 failed, 1 skipped$"),
    (["test", "later.lab"], "", 77, r"^skip  later\.lab  not written yet$"),
    (["test", "-"], "host h1\n", 0, r"^1 passed, 0 failed, 0 skipped$"),
    # a file that cannot be run is a failure among the others
    (["test", "wrong.lab", "good.lab"], "", 2,
     r'^FAIL  wrong\.lab\nwrong\.lab:3:1: error: unknown command "bogus"(.|\n)*^ok    good\.lab(.|\n)*'
     r"^1 passed, 1 failed, 0 skipped$"),
    (["test", "good.lab", "broken.json"], "", 2, r"^1 passed, 1 failed, 0 skipped$"),
    (["test", "none.json", "good.lab"], "", 2, r"none\.json: No such file(.|\n)*^1 passed, 1 failed, 0 skipped$"),
    (["test", "nothing.lab", "good.lab"], "", 2, r"there is nothing to run(.|\n)*^1 passed, 1 failed, 0 skipped$"),
    (["test", "wrong.lab", "skipped.lab"], "", 2, r"^0 passed, 1 failed, 1 skipped$"),
    (["test", "wrong.lab", "good.lab", "--seeds", "1..3"], "", 2, r"^3 passed, 1 failed, 0 skipped$"),
    (["test", "good.lab", "wrong.lab", "--tag", "quick"], "", 2, r"^1 passed, 1 failed, 0 skipped$"),
    # nothing to run
    (["test", "empty"], "", 2, r"no scenario found(.|\n)*0 passed, 0 failed, 0 skipped$"),
    (["test", "good.lab", "--tag", "slow"], "", 2, r"no scenario found with the tag slow; a scenario says tags=slow"),
    (["test", "good.lab", "fails.lab", "--tag", "quick"], "", 0, r"^1 passed, 0 failed"),
    (["test", "good.lab", "fails.lab", "--tag", "slow,quick"], "", 0, r"^1 passed, 0 failed"),
    (["test", "good.lab", "--tag", "slow,quic"], "", 2, r"no scenario found with the tag slow,quic"),
    # each file once
    (["test", "good.lab", "./good.lab", "good.lab", "none.lab", "none.lab"], "", 2, r"^1 passed, 1 failed, 0 skipped$"),
    # values of options
    (["test", "good.lab", "-j", "0"], "", 2, r"-j 0: it must be from 1 to 64"),
    (["test", "good.lab", "-j", "65"], "", 2, r"-j 65: it must be from 1 to 64"),
    (["test", "good.lab", "-j", "64"], "", 0, r"^1 passed"),
    (["test", "good.lab", "-j=3"], "", 0, r"^1 passed"),
    (["test", "good.lab", "-j0"], "", 2, r"-j 0: it must be from 1 to 64"),
    (["test", "good.lab", "--timeout", "86401"], "", 2, r"--timeout 86401: it must be from 0 to 86400"),
    (["test", "good.lab", "--timeout", "0"], "", 0, r"^1 passed"),
    (["test", "--help"], "", 0, r"0 to 86400, 0 is none"),
    (["test", "good.lab", "--format", "xml"], "", 2, r"--format xml: there are text, tap, json, github"),
    (["test", "good.lab", "--seeds", "3"], "", 2, r"it is written 1\.\.100"),
    (["test", "good.lab", "--seeds", "3..1"], "", 2, r"from the smaller to the larger, at most 1000000"),
    (["test", "good.lab", "--seed", "3", "--seeds", "1..2"], "", 2, r"give one of them"),
    (["test", "good.lab", "--seeds", "1..900000"], "", 2, r"too many cases: fewer seeds"),
    (["test", "scenarios/26-unreliable-link.json", "--seeds", "1..4", "--twice"], "", 0,
     r"^4 passed, 0 failed, 0 skipped$"),
    (["test", "fails.lab", "--twice"], "", 1, r"\AFAIL  fails\.lab\nfails\.lab:3:1: FAIL .*\n  again: .*\n  open: .*\n0 passed, 1 failed"),
    # what cannot be written is an error before anything runs
    (["test", "fails.lab", "--junit", "no/where.xml"], "", 2, r"\Ardmalab: --junit no/where\.xml: No such file.*\n\Z"),
    (["test", "good.lab", "fails.lab", "--junit", "./fails.lab"], "", 2,
     r"\Ardmalab: --junit \./fails\.lab: this is a scenario\n\Z"),
    (["test", "fails.lab", "--artifacts", "no/where"], "", 2, r"\Ardmalab: --artifacts no/where: No such file.*\n\Z"),
    (["test", "fails.lab", "--artifacts", "good.lab"], "", 2,
     r"\Ardmalab: --artifacts good\.lab: this is no directory\n\Z"),
    # forms
    (["test", "good.lab", "fails.lab", "--format", "tap"], "", 1,
     r"^TAP version 13\n1\.\.2\nok 1 - good\.lab\nnot ok 2 - fails\.lab"),
    (["test", "wrong.lab", "--format", "tap"], "", 2, r'^1\.\.1\nnot ok 1 - wrong\.lab\n(.|\n)*at: "wrong\.lab:3:1"$'),
    (["test", "fails.lab", "--format", "github"], "", 1, r"^::error file=fails\.lab,line=3,"),
    (["test", "wrong.lab", "--format", "github"], "", 2, r"^::error file=wrong\.lab,line=3,col=1,"),
    (["test", "none.lab", "--format", "github"], "", 2, r"^::error file=none\.lab,title=none\.lab::"),
    # what was exercised
    (["test", "good.lab", "--coverage"], "", 0,
     r"^coverage, of 1 runs\n(.|\n)*^  RESP_PSN +a request must carry(.|\n)*^everything: \d+ of \d+, \d %\n1 passed"),
    (["test", "good.lab", "fails.lab", "skipped.lab", "--coverage"], "", 1,
     r"^coverage, of 2 runs, of which 1 failed and may have ended early; 1 did not run, or left no result$"),
    (["test", "good.lab", "--coverage", "--format", "tap"], "", 0, r"^# everything: "),
    (["test", "good.lab", "--coverage-least", "0"], "", 0, r"^everything: "),
    (["test", "good.lab", "--coverage-least", "100"], "", 1, r"^rdmalab: --coverage-least 100: it is \d %, \d+ of \d+$"),
    (["test", "good.lab", "--coverage-least", "101"], "", 2, r"--coverage-least 101: it must be from 0 to 100"),
    # what nobody would notice
    (["test", "good2.lab"], "", 0, r"^ok .*hash [0-9a-f]+  nothing was expected$"),
    (["test", "good2.lab", "good.lab", "--strict"], "", 1, r"good2\.lab: nothing was expected\n(.|\n)*^1 passed, 1 failed"),
    (["test", "unmet.lab"], "", 1, r"unmet\.lab:5:1: FAIL the fault f1 has met nothing$"),
    (["run", "cleared.lab"], "", 1, r"cleared\.lab:5:1: FAIL the fault f1 has met nothing$"),
    (["test", "optional.lab", "own-limit.lab", "outer.lab"], "", 0, r"^3 passed"),
    (["test", "its-limit.lab"], "", 1, r"the limit of 60 ticks was reached$"),
    (["test", "its-time.lab"], "", 1, r"the limit of 60us of simulated time was reached$"),
    (["test", "kind.lab"], "", 1, r"h1\.cq is a completion queue, not a queue pair$"),
    (["test", "bare.lab"], "", 2, r"refused needs says= or reason=$"),
    (["test", "other.lab"], "", 1, r"refused, but for another reason: h1: the name is already in use\n  it is reason=err_exists$"),
    # mistakes of people who know another notation
    (["test", "-"], "setup quiet\nlose packet 2\n", 2, r"^  lose is about a virtqueue; of packets: drop the 2nd packet$"),
    (["test", "-"], "setup quiet\ndrop data from=h1\n", 2, r"^  drop is about packets; of a virtqueue: lose the 2nd kick of "),
    (["test", "to.json"], "", 2, r'^  write takes "at", "text", "hex", "fill", "pattern"$'),
    (["test", "-"], "setup quiet\nexpect h1.cq.wc[0].immediate == 1\n", 2, r"^  did you mean imm\? a wc has: wr_id, status, "),
    (["test", "-"], "setup quiet\nexpect h1.cq.wc[0].bytes == 1\n", 2, r"^  did you mean byte_len\? "),
    (["test", "-"], "setup quiet\nexpect h1.cq.wc[0].op == SEND\n", 2, r"^  did you mean opcode\? "),
    (["test", "--dry", "-"], "setup quiet\nexpect h1.qp.state == IBV_QPS_RTS\n", 2, r'^  did you mean "RTS"\?$'),
    (["test", "--dry", "-"], "setup quiet\nexpect h1.cq.wc[0].opcode == RDMA_WRITE_WITH_IMM\n", 2,
     r"^  it is RDMA_WRITE at the sender, RECV_RDMA_WITH_IMM at the receiver$"),
    (["test", "-"], ONE_SEND + "expect h1.cq.wc[0].status == IBV_WC_SUCCESS\n", 1, r'^  did you mean "SUCCESS"\?$'),
    (["test", "-"], "setup quiet\npost_recv h1.qp sge=mr[0,9]\n", 2, r"^  a range is written with a colon: mr\[0:10\]$"),
    (["test", "-"], "setup quiet\nexpect count(cqe, status=SUCCESS) == 1\n", 2, r"^  equality is written ==$"),
    (["test", "-"], "setup quiet\nexpect h1.mr[0:4] == 'text'\n", 2, r"^  a string stands in double quotes"),
    (["test", "-"], "assert 1 == 1\n", 2, r'^  did you mean "expect"\?'),
    # lists
    (["test", "good.lab", "fails.lab", "--list"], "", 0, r"good\.lab  good\n.*fails\.lab  fails"),
    (["test", "good.lab", "wrong.lab", "--list"], "", 2,
     r"unknown command(.|\n)*good\.lab  good\nwrong\.lab  \(cannot be run\)"),
    # what becomes of it when something happens to a packet
    (["test", "reliable.lab", "--fault-matrix"], "", 0,
     r"^ +packet +lost +twice +swapped +damaged\n#\d+\.\d +h1\.qp RC_SEND_ONLY .* same \+1 +same \+1 +- +same \+1\n"
     r"#\d+\.\d +h2\.qp RC_ACKNOWLEDGE .* same \+2 +same +- +same \+2\nsame: .*\n.*\n6 runs: 6 came to the same, 0 did not$"),
    (["test", "unreliable.lab", "--fault-matrix", "-j", "2"], "", 1,
     r"UC_SEND_ONLY .* \[1\] +same +- +\[1\]\n\[1\] h2\.qp wr_id=7: no completion; without the fault SUCCESS\n"
     r"    #\d+\.\d   lost       UC_SEND_ONLY psn=0, by matrix\n      because .*\n      because .* fetched h1\.qp's SEND wr_id=1, .*\n +\(unreliable\.lab:6\)\n"
     r"  again: rdmalab test unreliable\.lab --seed 1 --fault lost:\d+\.\d\n"
     r"  again: rdmalab test unreliable\.lab --seed 1 --fault damaged:\d+\.\d\n"
     r"  open:  rdmalab open unreliable\.lab --seed 1 --fault lost:\d+\.\d\nsame: .*\n.*\n"
     r"3 runs: 1 came to the same, 2 did not$"),
    (["test", "counts.lab", "--fault-matrix"], "", 1,
     r"RC_SEND_ONLY .* expect \[1\] +expect \[1\] +- .*(.|\n)*^\[1\] line \d+: expect count\(tx\) == 2: it is 3(.|\n)*"
     r"^expect: the same, but an expectation(.|\n)*^6 runs: 1 came to the same, 0 did not; in 5 an expectation does not hold$"),
    (["test", "stops.lab", "--fault-matrix"], "", 1, # the command that failed is told, not the expectation before it
     r"RC_SEND_ONLY .* \[1\] +\[1\] +- .*(.|\n)*^\[1\] .*nothing is called \"h1\.nothing\"(.|\n)* because (.|\n)*"
     r"^6 runs: 1 came to the same, 5 did not$"),
    (["test", "order.lab", "--fault-matrix"], "", 0,
     r"RC_ACKNOWLEDGE .* order \+2 (.|\n)*^order: the same, but completions(.|\n)*; in \d only the order differs$"),
    (["test", "by-order.lab", "--fault-matrix"], "", 1, r"RC_ACKNOWLEDGE .* expect \[\d\] (.|\n)*expect h1\.cq\.wc\[0\]\.opcode == SEND: it is RECV"),
    (["open", "by-order.lab", "--fault", "lost:53.7", "-c", "why", "-c", "back", "-c", "goto 0", "-c", "goto end", "-c", "why"], "", 0,
     r"was lost in #55\.1(.|\n)*^back before: run(.|\n)*^at the end(.|\n)*was lost in #55\.1"),
    (["open", "by-order.lab", "--fault", "lost:1.1", "-c", "why"], "", 2, r"there is no such run\n  its packets are #51\.3, "),
    (["open", "by-order.lab", "--fault", "eaten:1.1", "-c", "why"], "", 2, r"it is lost, twice, swapped or damaged"),
    (["test", "fails.lab", "--fault-matrix"], "", 1,
     r"fails\.lab fails without a fault.*\n  again: rdmalab test fails\.lab --seed 1 --fault-matrix\n"),
    (["test", "wrong.lab", "--fault-matrix"], "", 2, r"unknown command"),
    (["test", "good.lab", "--fault-matrix"], "", 2, r"no packet was sent"),
    (["test", "reliable.lab", "unreliable.lab", "fails.lab", "--fault-matrix"], "", 1,
     r"^in all: 2 scenarios, 9 runs: 7 came to the same, 2 did not\n1 scenario had no run with a fault$"),
    (["test", "reliable.lab", "--fault-matrix", "--format", "tap"], "", 2, r"its --format is text or json"),
    (["test", "reliable.lab", "--fault", "lost:0.1"], "", 2, r"--fault lost:0\.1: there is no such run\n  its packets are #\d+\.\d, #\d+\.\d\n\Z"),
    (["test", "reliable.lab", "--fault", "eaten:0.1"], "", 2, r"--fault eaten:0\.1: it is lost, twice, swapped or damaged"),
    (["test", "reliable.lab", "--fault", "lost"], "", 2, r"--fault lost: it is lost, twice, swapped or damaged"),
    (["test", "reliable.lab", "--fault", "lost:h1"], "", 2, r"--fault lost:h1: it is lost, twice, swapped or damaged"),
    (["test", "reliable.lab", "--fault", "lost:0.1", "--twice"], "", 2, r"--fault and --twice: give one"),
    # the wall clock
    (["test", "forever.lab", "fails.lab", "wrong.lab", "--timeout", "1"], "", 124,
     r"wall-clock limit was reached; --timeout N(.|\n)*0 passed, 3 failed, 0 skipped$"),
]


def check_reports(program):
    """All forms tell the same of each file."""
    files = ["good.lab", "wrong.lab", "fails.lab", "none.json", "skipped.lab"]
    result = program.run("test", *files, "--format", "json", "--junit", "junit.xml")
    report = json.loads(result.stdout)
    ensure(result.stderr == "1 passed, 3 failed, 1 skipped\n", f"standard error: {result.stderr}")
    ensure([report[k] for k in ["passed", "failed", "skipped", "not_run"]] == [1, 3, 1, 0], f"counts: {report}")
    ensure([c["file"] for c in report["cases"]] == files, "files in their order")
    ensure([c["status"] for c in report["cases"]] == [0, 2, 1, 2, 77], "statuses")
    ensure([report["cases"][1][k] for k in ["line", "col"]] == [3, 1], "the place of what is wrong")
    ensure("bogus" in report["cases"][1]["message"], "what is wrong")
    suite = xml.etree.ElementTree.parse(program.file("junit.xml")).getroot()[0]
    ensure([suite.get(k) for k in ["tests", "failures", "errors", "skipped"]] == ["5", "1", "2", "1"], "JUnit counts")
    ensure([len(list(suite.iter(k))) for k in ["testcase", "failure", "error", "skipped"]] == [5, 1, 2, 1], "JUnit")
    listed = json.loads(program.run("test", *files, "--list", "--format", "json").stdout)
    ensure([entry["file"] for entry in listed if "error" in entry] == ["wrong.lab", "none.json"], f"list: {listed}")


def check_coverage(program):
    """What was exercised is a member of the JSON report, and comes back from each process."""
    scenarios = ["scenarios/01-first-send.json", "scenarios/09-rnr.json"]

    def classes(*arguments):
        report = json.loads(program.run("test", *arguments, "--coverage", "--format", "json").stdout)["coverage"]
        return report, {entry["name"]: entry for entry in report["classes"]}

    first, of_first = classes(scenarios[0])
    both, of_both = classes(*scenarios, "-j", "2")
    ensure([first["runs"], both["runs"]] == [1, 2] and both["failed"] == both["without"] == 0, f"runs: {both}")
    ensure("RESP_RECV_WQE" in of_first["rules"]["missing"], "01 has no RNR NAK")
    ensure("RESP_RECV_WQE" not in of_both["rules"]["missing"], "09 has one")
    ensure(all(set(of_both[k]["missing"]) <= set(of_first[k]["missing"]) for k in of_both), "more covers more")
    ensure(all(e["of"] - e["covered"] == len(e["missing"]) for e in of_both.values()), "figures")
    injected, of_injected = classes("scenarios/685-injected-is-not-sent.json")
    ensure(injected["failed"] == 0, "685 passes")
    ensure("NAK_REMOTE_OPERATIONAL" in of_injected["syndromes_sent"]["missing"], "no host of 685 sends the NAK")
    ensure("NAK_REMOTE_OPERATIONAL" not in of_injected["syndromes_received"]["missing"], "h1 of 685 receives it")
    ensure("COMP_NAK" not in of_injected["rules"]["missing"], "and its rule counts")
    ensure(not any(e["impossible"] or e["without_row"] for e in of_both.values()), f"impossible: {of_both}")


def check_reports_of_nothing(program):
    """Reports of no case at all are well formed."""
    result = program.run("test", "empty", "--format", "json", "--junit", "junit.xml")
    ensure(result.returncode == 2 and json.loads(result.stdout)["cases"] == [], result.stdout)
    suite = xml.etree.ElementTree.parse(program.file("junit.xml")).getroot()[0]
    ensure(suite.get("tests") == "0", "JUnit")


def check_odd_names(program):
    """Quotes, control characters and bytes that are no UTF-8 harm no report."""
    program.file("odd").mkdir()
    program.file(ODD).write_text('scenario title="<&\x01"\nhost h1\nexport events "/]]>\x1b.ndjson"\n')
    shown = "odd/a\"b'<c>&#\\x09\\x01\\xff\u00e9.lab"
    result = program.run("test", "odd", "--format", "json", "--junit", "odd.xml", "--artifacts", "odd-left")
    case = json.loads(result.stdout)["cases"][0]
    ensure(case["name"] == case["file"] == shown, f"JSON: {case}")
    parsed = next(xml.etree.ElementTree.parse(program.file("odd.xml")).getroot().iter("testcase"))
    ensure(parsed.get("name") == shown, f"JUnit: {parsed.attrib}")
    ensure(r"/]]>\x1b.ndjson: this leads out of the directory" in parsed[1].text, f"JUnit: {parsed[1].text}")
    tap = program.run("test", "odd", "--format", "tap").stdout
    ensure(f"not ok 1 - {shown}".replace("\\", "\\\\").replace("#", "\\#") in tap.splitlines(), f"TAP: {tap}")
    ensure(not re.search(r"[^\n -~\u00e9]", tap), f"TAP: {tap!r}")
    script = next(program.file("odd-left").rglob("*.sh"))
    again = subprocess.run(["/bin/sh", "-n", script], capture_output=True, text=True, check=False)
    ensure(again.returncode == 0, f"the artifact {script}: {again.stderr}")


def check_matrix_as_data(program):
    """The table of faults as JSON tells of the same runs, packet by packet."""
    result = program.run("test", "unreliable.lab", "fails.lab", "reliable.lab", "--fault-matrix", "--format", "json")
    one, failed, other = json.loads(result.stdout)
    ensure(result.returncode == 1 and failed is None, result.stdout)
    ensure([one[k] for k in ["runs", "same", "different", "packets_sent"]] == [3, 1, 2, 1], f"UC: {one}")
    packet = one["packets"][0]
    ensure(packet["swapped"] is None and packet["twice"]["same"] and not packet["lost"]["same"], f"UC: {packet}")
    ensure(packet["lost"]["what"] == "h2.qp wr_id=7: no completion; without the fault SUCCESS", f"UC: {packet}")
    ensure(packet["lost"]["status"] == 1 and "again" not in packet["twice"], f"UC: {packet}")
    ensure([p["lost"]["more_packets"] for p in other["packets"]] == [1, 2], f"RC: {other}")


def check_one_run_of_a_matrix(program):
    """--fault makes one run of the table, in both forms of report."""
    whole_table = json.loads(program.run("test", "reliable.lab", "--fault-matrix", "--format", "json").stdout)[0]
    packet = whole_table["packets"][1]
    choice = "twice:" + packet["id"].removeprefix("#")
    result = program.run("test", "reliable.lab", "--fault", choice, "--format", "json")
    one = json.loads(result.stdout)[0]
    ensure(result.returncode == 0 and [one["runs"], one["same"]] == [1, 1], result.stdout)
    only = {**packet, "lost": None, "swapped": None, "damaged": None}
    ensure(one["packets"] == [only], f"{one['packets']}, not {only}")
    text = program.run("test", "reliable.lab", "--fault", choice).stdout
    ensure(re.search(r"^ +packet +twice\n#.* same\nsame: .*\n.*\n1 runs: 1 came to the same, 0 did not$", text, re.MULTILINE), text)


def check_directories(program):
    """What is below a directory is found once, also around a circle of links; what cannot be read has a verdict."""
    top = program.file("tree")
    deep = top.joinpath(*"123456789")
    deep.mkdir(parents=True)
    pathlib.Path(top, "1", "circle").symlink_to(top)
    pathlib.Path(top, "again.lab").symlink_to("good.lab")
    pathlib.Path(top, "good.lab").write_text("host h1\n")
    pathlib.Path(top, "gone.lab").symlink_to("nowhere")
    pathlib.Path(top, "scenario-1.json").write_text(program.run("schema", "scenario").stdout)
    result = program.run("test", "tree/")
    ensure(result.returncode == 2 and "scenario-1" not in result.stdout and result.stdout.endswith("1 passed, 2 failed, 0 skipped\n"), result.stdout)
    ensure("tree/gone.lab: No such file" in result.stdout, result.stdout)
    ensure("tree/1/2/3/4/5/6/7/8: too many directories" in result.stdout, result.stdout)


def check_artifacts(program):
    """A failure leaves its pcapng, ladder, timeline, events and command; a success leaves no directory."""
    program.run("test", "good.lab", "fails.lab", "--artifacts", "left")
    names = sorted(p.name for p in program.file("left/fails.lab").iterdir())
    ensure(names == ["again.sh", "failed.html", "failed.ndjson", "failed.pcapng", "failed.svg", "failed.txt"], f"left are {names}")
    ensure([p.name for p in program.file("left").iterdir()] == ["fails.lab"], "only the failure leaves something")
    ensure(program.run("test", "good.lab", "--artifacts", "none").returncode == 0, "good.lab passes")
    ensure(not program.file("none").exists(), "nothing is left")


def check_report_before_artifacts(program):
    """A process that is killed while it writes large artifacts has a report, and failed.txt."""
    shim = program.file("die_writing.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim), str(whole.ROOT / "tests/tools/die_writing.c")], check=True)
    env = {**os.environ, "LD_PRELOAD": str(shim), "DIE_WRITING": str(int(signal.SIGKILL)), "DIE_WRITING_NAME": "failed.svg"}
    done = subprocess.run([program.path, "test", "fails.lab", "--artifacts", "early"], cwd=program.file("."), env=env, capture_output=True,
                          text=True, check=False)
    said = r"FAIL expect h1\.irqs == 1: it is 0"
    ensure(done.returncode == 1 and re.search(said, done.stdout) and "killed before all artifacts were written" in done.stdout, done.stdout + done.stderr)
    ensure(re.search(said, program.file("early/fails.lab/failed.txt").read_text()), "failed.txt does not tell the failure")
    ensure(not program.file("early/fails.lab/failed.svg").exists(), "the process was killed too late")


def check_artifacts_stand_alone(program):
    """The command works in any directory, and the pictures tell what failed."""
    program.run("test", "fails.lab", "--artifacts", "apart")
    left = program.file("apart/fails.lab")
    path = os.pathsep.join([str(pathlib.Path(program.path).resolve().parent), os.environ["PATH"]])
    again = subprocess.run(["/bin/sh", left / "again.sh"], cwd="/", env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    ensure(again.returncode == 1 and "FAIL  fails.lab" in again.stdout and not again.stderr, f"from /: {again.stdout}{again.stderr}")
    again = subprocess.run(["/bin/sh", left / "again.sh"], cwd="/", env={"PATH": "/bin"}, capture_output=True, text=True, check=False)
    ensure(again.returncode == 1 and "FAIL  fails.lab" in again.stdout and not again.stderr, f"without rdmalab on the PATH: {again.stdout}{again.stderr}")
    said = re.search(r"FAIL expect (.*)", left.joinpath("failed.txt").read_text())[1]
    for name in ("failed.svg", "failed.html"):
        ensure(f"FAILED: expect {html.escape(said)}" in left.joinpath(name).read_text().replace("FAILED: FAIL ", "FAILED: "), f"{name} does not tell {said}")


def check_places_of_posts(program):
    """`why` names the line that posted, also in a loop, and forgets it where another post took its place."""
    program.file("places.lab").write_text(PAIR + "repeat 3 {\n  post_recv h2.qp sge=mr[0:64]\n  post_send h1.qp wr_id=5 sge=mr[0:64]\n  run\n}\n"
                                          "post_send h1.qp op=rdma_write wr_id=9 sge=mr[0:20] remote=h2.mr[0] rkey=0x1234\nrun\nexpect 1 == 1\n")
    line = PAIR.count("\n") + 3
    posted = r"fetched h1\.qp's {} wr_id={}, kicked in #\S+, posted in #\S+\s+\(places\.lab:{}\)\n"
    said = program.run("open", "places.lab", "-c", "why", "-c", "why h1.cq.wc[0]", "-c", "show events kinds=fetch,post_send").stdout
    ensure(re.search(posted.format("RDMA_WRITE", 9, line + 3), said), said)
    first = re.search(r"(#\d+\.\d+) +fetch +h1\.qp desc \d+, \d+ bytes: SEND wr_id=5", said)[1]
    said = program.run("open", "places.lab", "-c", f"why {first}").stdout
    ensure(re.search(posted.format("SEND", 5, line), said), said)
    typed = program.run("open", "places.lab", "-c", "goto 0", "-c", "goto end", "-c", f"why {first}").stdout
    ensure(re.search(posted.format("SEND", 5, line), typed), typed)
    other = program.run("-c", "setup quiet", "-c", "post_send h1.qp op=rdma_write sge=mr[0:20] remote=h2.mr[0] rkey=0x1234", "-c", "run", "-c", "why").stdout
    ensure("posted in #" in other and ".lab" not in other and "()" not in other, other)


def check_cells_as_tests(program):
    """Each run of the table is a test case of JUnit, and each bad one leaves artifacts."""
    result = program.run("test", "reliable.lab", "unreliable.lab", "--fault-matrix", "--junit", "cells.xml", "--artifacts", "cells")
    cases = xml.etree.ElementTree.parse(program.file("cells.xml")).findall(".//testcase")
    bad = {case.get("name"): case.find("failure").text for case in cases if case.find("failure") is not None}
    ensure(result.returncode == 1 and len(cases) == 9, result.stdout)
    ensure(sorted(re.sub(r"\d+\.\d", "", name) for name in bad) == ["unreliable.lab damaged:", "unreliable.lab lost:"], f"{bad}")
    for name, text in bad.items():
        fault = name.split()[1]
        ensure(re.search(r"no completion; without the fault SUCCESS\n    #\d.*\n      because (.|\n)*"
                         rf"  again: rdmalab test unreliable\.lab --seed 1 --fault {fault}\n  open:  rdmalab open unreliable\.lab --seed 1 --fault {fault}\n", text), text)
        left = program.file("cells") / name.replace(" ", ".").replace(":", "-")
        ensure(text.startswith(left.joinpath("failed.txt").read_text()), f"{left}")
        ensure(f"--fault {fault} " in left.joinpath("again.sh").read_text() and left.joinpath("failed.svg").exists(), f"{left}")
    ensure(len(list(program.file("cells").iterdir())) == 2, "a good run leaves nothing")
    ensure(all(case.get("line") is None for case in cases), "no case of these has a line")
    program.run("test", "counts.lab", "--fault-matrix", "--junit", "cells.xml")
    cases = xml.etree.ElementTree.parse(program.file("cells.xml")).findall(".//testcase")
    lines = {case.get("line") for case in cases if case.find("failure") is not None}
    where = [i for i, line in enumerate(FILES["counts.lab"].splitlines(), 1) if line.startswith("expect count(tx) == 2")]
    ensure(lines == set(map(str, where)), f"{lines}: the line of the expectation")
    program.run("test", "stops.lab", "--fault-matrix", "--junit", "cells.xml")
    cases = xml.etree.ElementTree.parse(program.file("cells.xml")).findall(".//testcase/failure")
    ensure(len(cases) == 5 and all("nothing is called" in case.text for case in cases), "the command that failed, in each")


def check_action(program):
    """The action tells each failure once in the log, annotates it, sums it up, and leaves report and artifacts."""
    built = program.file("runner/rdmalab/build")
    built.mkdir(parents=True)
    built.joinpath("rdmalab").symlink_to(program.path)
    program.file("a|b.lab").write_text("host h1\nexpect h1.irqs == 1000000\n")
    env = {**os.environ, "RUNNER_TEMP": str(program.file("runner")), "GITHUB_ACTIONS": "true",
           "GITHUB_OUTPUT": str(program.file("output")), "GITHUB_STEP_SUMMARY": str(program.file("summary.md")),
           "RDMALAB_PATH": "good.lab\na|b.lab\n", "RDMALAB_OPTIONS": "-j 2\n--seeds 1..2\n"}
    result = subprocess.run([whole.ROOT / "tools/action", "test"], cwd=program.directory, env=env, text=True,
                            capture_output=True, timeout=TIMEOUT_S, check=False)
    ensure(result.returncode == 1 and "2 passed, 2 failed" in result.stdout, result.stdout + result.stderr)
    ensure(result.stdout.count("it is ") == 2 == result.stdout.count("\n::error file=a|b.lab,line=2,"), result.stdout)
    summary = program.file("summary.md").read_text()
    ensure("| 2 | 2 | 0 |" in summary and "| a&#124;b.lab seed=2 | a&#124;b.lab:2:1: FAIL" in summary, summary)
    env["GITHUB_STEP_SUMMARY"] = "nowhere/summary.md"
    result = program.run("test", "good.lab", "--format", "github", env=env)
    ensure(result.returncode == 0 and "GITHUB_STEP_SUMMARY nowhere/summary.md: No such" in result.stderr, result.stderr)
    left = pathlib.Path(program.file("output").read_text().removeprefix("directory=").strip())
    ensure(xml.etree.ElementTree.parse(left / "junit.xml").getroot()[0].get("failures") == "2", "JUnit")
    ensure((left / "cases/a-b.lab.seed2/failed.svg").exists(), "the ladder of the failure, named as an artifact may be")


def check_action_usage(program):
    """The action's program says how it is used, and nothing else of itself."""
    result = subprocess.run([whole.ROOT / "tools/action"], cwd=program.directory, text=True, capture_output=True,
                            timeout=TIMEOUT_S, check=False)
    lines = result.stderr.splitlines()
    ensure(result.returncode == 2 and lines[0].startswith("usage: tools/action build  "), result.stderr)
    ensure(len(lines) == 3 and lines[2].endswith("files of failures are"), result.stderr)


def check_sandbox(program):
    """A test writes only into the directory of its case: two files of one name do not meet, and nothing leads out."""
    case = "host h1\nexport events {}\n"
    program.file("sub").mkdir()
    for name in ("sub/in.lab", "sub-in.lab"):
        program.file(name).write_text(case.format("deep/events.ndjson"))
    for name, path in (("up", "../x.ndjson"), ("mid", "a/../../x.ndjson"), ("root", program.file("x.ndjson"))):
        program.file(f"{name}.lab").write_text(case.format(path))
    ensure(program.run("test", "sub", "sub-in.lab", "--artifacts", "kept").returncode == 0, "in the directory")
    for name in ("sub-in.lab", "sub-in.lab~2"):
        ensure(program.file(f"kept/{name}/deep/events.ndjson").exists(), f"{name} has what it wrote")
    program.file("kept/up.lab").symlink_to(program.directory)
    refused = program.run("test", "up.lab", "mid.lab", "root.lab", "--artifacts", "kept")
    ensure(refused.stdout.count("x.ndjson: this leads out of the directory\n") == 3, refused.stdout)
    ensure('; "rdmalab test --no-sandbox" lets it write anywhere' in refused.stdout, refused.stdout)
    ensure(not program.file("x.ndjson").exists(), "nothing was written outside")
    linked = program.run("test", "sub-in.lab", "up.lab", "--artifacts", "kept")
    ensure("1 passed, 1 failed" in linked.stdout, linked.stdout)
    temporary = program.file("temporary")
    temporary.mkdir()
    result = program.run("test", "sub", env={**os.environ, "TMPDIR": str(temporary)})
    ensure(result.returncode == 0 and not list(temporary.iterdir()), "what is not kept is removed")
    ensure(not program.file("deep").exists(), "and is nowhere else")
    ensure(program.run("test", "root.lab", "--no-sandbox").returncode == 0, "--no-sandbox")
    ensure(program.file("x.ndjson").exists(), "it was written where the scenario said")


def check_whole_files(program):
    """An export that is refused leaves the file of before as it was."""
    program.file("old.svg").write_text("before")
    ensure(program.run("-c", "host h1; export ladder old.svg from=x").returncode == 1, "x is no event")
    ensure(program.file("old.svg").read_text() == "before", "the file is as it was")
    program.file("link.svg").symlink_to("old.svg")
    program.run("-c", "host h1; export ladder link.svg")
    ensure(program.file("link.svg").is_symlink() and "</svg>" in program.file("old.svg").read_text(), "through the link")
    ensure(not list(program.file(".").glob("old.svg.*")), "no part of it is left")


def check_processes(program):
    """A case whose process cannot be started has failed."""
    result = program.run("test", "good.lab", "good2.lab",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
    ensure(result.returncode == 1 and result.stdout.endswith("0 passed, 2 failed, 0 skipped\n"), result.stdout)
    ensure("good2.lab: no process could be started: Too many open files" in result.stdout, result.stdout)


def check_memory(program):
    """Without memory for the cases the test fails; nothing is skipped."""
    result = program.run("test", "good.lab", "--seeds", "1..400000",
                         preexec_fn=lambda: whole.limit_memory(200_000_000))
    ensure(result.returncode == 1 and "out of memory: fewer seeds" in result.stderr,
           f"{result.returncode}: {result.stderr}")


def check_other_children(program):
    """Children that the runner inherited, or is not told of, change nothing."""
    shell = f"sleep 0.02 & exec {program.path} test good.lab fails.lab scenarios -j 2"
    result = subprocess.run(["/bin/sh", "-c", shell], cwd=program.directory, text=True, capture_output=True,
                            timeout=TIMEOUT_S, check=False)
    ensure(result.returncode == 1 and " passed, 1 failed, 0 skipped\n" in result.stdout, result.stdout + result.stderr)
    result = program.run("test", "good.lab", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    ensure(result.returncode == 0, f"{result.returncode}: {result.stdout}")


def children(process):
    return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def start_forever(program, *args):
    """A test whose first two cases end and whose next two do not; the last has its verdict before it could run."""
    process = program.start("test", "-j", "2", "good.lab", "fails.lab", "forever.lab", "forever2.lab", "good2.lab",
                            "skipped.lab",
                            *args)
    for _ in range(100):
        time.sleep(0.05)
        if process.poll() is not None or process.stdout.readline().startswith("fails.lab:3"):
            break
    time.sleep(0.3)
    pids = children(process)
    ensure(len(pids) == 2, f"children: {pids}")
    return process, pids


def ensure_gone(pids):
    for _ in range(100):
        if not any(is_running(pid) for pid in pids):
            return
        time.sleep(0.05)
    ensure(False, f"children go on: {[pid for pid in pids if is_running(pid)]}")


def check_signals(program):
    """Signals end the children; what ended, what ran and what is missing is told, and the status is the signal's."""
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        process, pids = start_forever(program, "--junit", "signal.xml")
        process.send_signal(number)
        output, errors = process.communicate(timeout=TIMEOUT_S)
        ensure(process.returncode == 128 + number, f"{number}: exits with {process.returncode}")
        ensure(output.endswith("1 passed, 3 failed, 1 skipped\n"), output)
        ensure("forever2.lab: it was still running when the test was interrupted\n" in output, output)
        ensure("rdmalab: interrupted; 1 of 6 were not run" in errors, errors)
        suite = xml.etree.ElementTree.parse(program.file("signal.xml")).getroot()[0]
        ensure(len(list(suite.iter("testcase"))) == 5, "JUnit tells of five")
        ensure_gone(pids)


def check_death_of_the_runner(program):
    """A runner that is killed takes its children with it."""
    process, pids = start_forever(program)
    process.kill()
    process.communicate(timeout=TIMEOUT_S)
    ensure_gone(pids)


def check_death_of_a_child(program):
    """A child that dies is a failure: of rdmalab, which is worse than a wall-clock limit, or of the machine."""
    for number, status, message in [(signal.SIGKILL, 1, "its process was killed"),
                                    (signal.SIGABRT, 99, "rdmalab itself failed")]:
        process, pids = start_forever(program, "--timeout", "2")
        os.kill(int(pids[0]), number)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        ensure(process.returncode == max(status, 124, key=[1, 124, 99].index), f"exits with {process.returncode}")
        ensure(re.search(f"^forever2?.lab: {message}", output, re.MULTILINE), output)


def check_no_scenarios(program):
    """What is found in a directory and is no file, as a pipe or a link to nothing, fails at once; a pipe named itself is read."""
    there = program.file("found")
    there.mkdir()
    (there / "good.lab").write_text(FILES["good.lab"])
    os.mkfifo(there / "pipe.lab")
    (there / "endless.json").symlink_to("/dev/zero")
    (there / "nowhere.lab").symlink_to("/nowhere/a.lab")
    (there / "gone").symlink_to("/nowhere")
    (there / "itself").symlink_to(".")
    result = program.run("test", "found")
    said = dict(re.findall(r"^rdmalab: found/(\S+): (.*)$", result.stdout + result.stderr, re.MULTILINE))
    missing, irregular = "No such file or directory", "this is no regular file"
    ensure(said == {"pipe.lab": irregular, "endless.json": irregular, "nowhere.lab": missing, "gone": missing}, f"{said}")
    ensure("1 passed, 4 failed" in result.stdout and result.returncode == 2, f"{result}")
    result = program.run("test", "/dev/stdin", stdin=FILES["good.lab"])
    ensure("1 passed, 0 failed" in result.stdout and result.returncode == 0, f"{result}")


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, FILES, CASES, globals()))
