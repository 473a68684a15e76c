#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What only the whole program does: modes, options, exit statuses, files, signals.

usage: check_program.py RDMALAB

Each row of CASES is one run of the program in a directory of its own, with the files of FILES in it
and links to scenarios/ and book/.  What is too long for a row is a function check_NAME.  Each row and each
function is one check.  `rdmalab test` has its own in check_verdicts.py, and so have
session files, in check_session_files.py.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import termios
import time

import program as whole
from program import FOREVER, PAIR, ROOT, TIMEOUT_S, Failure, ensure

START_RATIO = 20  # a prompt is there in so many times what a shell takes, at the most
ASLEEP_LOOKS = 20  # in a row: it waits for something
RUNNING_S = 0.1  # of processor time: so much of it, and a program is past its start

COLOUR = re.compile(r"\x1b\[[0-9;]*m")

FILES = {
    "good.lab": "scenario title=good tags=quick\nhost h1\nexpect h1.irqs == 0\n",
    "plain.lab": "host h1\n",
    "told.lab": "# two \x1b hosts\nhost h1 h2\non h1 { alloc_pd as pd }\n",
    "stops.lab": "expect h1.irqs == 1\n",
    "shows.lab": PAIR + "show\nexport ladder -\n",
    "fails.lab": "scenario title=fails\nhost h1\nexpect h1.irqs == 1\n",
    "wrong.lab": "scenario title=wrong\nhost h1\nbogus\n",
    "syntax.lab": "host h1\nhost \"h2\n",
    "skipped.lab": "scenario title=skipped skip=\"no tap here\"\nhost h1\n",
    "nothing.lab": "# a note\nscenario title=nothing\n",
    "nothing.json": '{"title": "nothing", "steps": [{"do": "repeat", "count": 2, "steps": []}]}',
    "later.lab": "scenario title=later skip=\"not written yet\"\n",
    "loud.lab": "host h1\nrepeat 100000 { show h1 }\n",  # more than a pipe holds
    "limit.lab": "scenario title=limit ticks=500\n" + FOREVER,
    "forever.lab": "scenario title=forever ticks=1000000000000\n" + FOREVER,
    "long.lab": "record keep=2k\nhost h1 h2\nlink h1 h2\nrepeat 300 { ping h1 h2 }\n",
    "pair.lab": "host h1 h2\nlink h1 h2\non h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq; "
                "create_qp pd send_cq=cq recv_cq=cq as qp }\nconnect h1.qp h2.qp sq_psn=100 timeout=4 retry_cnt=1\n",
    "psn.lab": "source pair.lab\nmodify_qp h2.qp state=RESET\nmodify_qp h2.qp state=INIT pkey_index=0 port=1 access=rr,rw\n"
               "modify_qp h2.qp state=RTR ah=h1 mtu=1024 dest_qpn=2 rq_psn=50 max_dest_rd_atomic=1 min_rnr_timer=12\n"
               "post_send h1.qp sge=mr[0:64]\nrun\n",
    "small.lab": "scenario title=small memory=16m\nhost h1\nalloc_pd h1 as pd\nrefused reason=err_nomem {\n"
                 " reg_mr h1.pd len=32m as mr\n write h1.mr[0:32m] fill=1\n}\n",
    "tiny.lab": "scenario title=tiny memory=4k\nhost h1\n",
    "key.json": '{"steps": [{"do": "host", "names": ["h1"], "a\\u001b[31m\\n::error::b": 1}]}',
    "ok.json": '{"steps": [{"do": "host", "names": ["h1"]}, {"do": "expect", "that": "h1.name != \\"\\u001b[31m\\""}]}',
    "peer.lines": "alloc_pd as pd\nreg_mr pd len=4096 access=lw,rw as mr\ncreate_cq as cq\n"
                  "create_qp pd send_cq=cq recv_cq=cq as qp\nsync made\nconnect qp peer.qp\nsync connected\n"
                  "a: write mr[0:9] pattern=1\na: post_send qp wr_id=3 op=rdma_write sge=mr[0:9] remote=peer.mr[7] signaled\n"
                  "a: poll_cq cq\nsync written\nb: check mr[7:16] pattern=1\n",
    "empty.json": "",
    "saved.lab": "scenario title=\"saved\"\nhost h1\n",
    "program.lab": "host h1\nprogram h1 rc_pingpong server -p 18619\nrun 1ms\n",
}

CASES = [  # arguments, standard input, exit status, what the output must match
    (["--version"], "", 0, r"^rdmalab \d+\.\d+\.\d+$"),
    (["--help"], "", 0, r"rdmalab test PATH"),
    (["doctor"], "", 0, r"line editor: "),
    (["--bogus"], "", 2, r"unknown option --bogus"),
    (["run"], "", 2, r"usage"),
    (["run", "none.json"], "", 2, r"none\.json: No such file"),
    (["explain", "rnr_nak"], "", 0, r"receiver not ready"),
    (["explain", "kick"], "", 0, r"^kick   the driver's notification to the device\n(.|\n)*\n    host h1 h2; (.|\n)*\n    post_send h1\.qp "),
    (["explain"], "", 0, r"^Words to begin with(.|\n)*\n  services +RC, UC, UD, "),
    # words that virtio, Linux and lspci have for what is here
    (["explain", "control", "queue"], "", 0, r"^control_queue\n  Virtqueue 0 of a virtio-rdma device"),
    (["explain", "VIRTIO_F_EVENT_IDX"], "", 0, r"^EVENT_IDX   virtio feature 29(.|\n)*used_event\s+behind its avail ring"),
    (["explain", "QueueNotify"], "", 0, r"^kick   the driver's notification"),
    (["explain", "wrap", "counter"], "", 0, r"^wrap_counter\n  One bit that each side keeps"),
    (["explain", "MSI-X"], "", 0, r"^msix\n  MSI-X: "),
    (["explain", "reset"], "", 0, r"^RESET   QP state 0(.|\n)*Of a device or of a virtqueue: see\s+device_reset"),
    (["explain", "LOST_KICK"], "", 0, r"or a device at a\s+virtqueue"),
    (["-c", "lspci"], "", 1, r'"show h1\.pci" shows what lspci -vvv -xxx would'),
    (["-c", "reset h1"], "", 1, r'"explain device_reset" tells how a device is reset'),
    (["explain", "nonsense"], "", 1, r'nothing is known of "nonsense"\n  words of statuses'),
    (["explain", "status", "12"], "", 0, r"completion status +RETRY_EXC_ERR: "),
    (["explain", "IBV_QPS_RTS"], "", 0, r"^RTS   QP state 3, in C IBV_QPS_RTS\n"),
    (["explain", "retr"], "", 1, r'nothing is known of "retr"\n  near it: retry, '),
    # the collection
    (["scenarios"], "", 0, r"^Messages and their answers\n  01-first-send +The first SEND(.|\n)*\n\d+ more: "),
    (["scenarios", "RETRY_EXC_ERR"], "", 0, r"^  10-rnr(.|\n)*^  11-retry-exhausted "),
    (["scenarios", "middle"], "", 0, r"^  06-lost-middle .*\n(.|\n)*^  02-every-mtu-0256 "),
    (["-c", "scenarios lost ACK"], "", 0, r"^  05-lost-ack "),
    (["-c", "scenarios ack zzz"], "", 1, r'no scenario is about "ack zzz"'),
    (["scenarios", "all"], "", 0, r"^  01-first-send (.|\n)*^  02-every-mtu-0256 (.|\n)*^  21-kick "),
    (["scenarios", "B33"], "", 0, r"^  04-lost-request "),
    (["scenarios", "srq"], "", 0, r"^  80-srq +(.|\n)*^  88-srq-sixteen "),
    (["scenarios", "first-send"], "", 0, r"^The first SEND.*\n  - (.|\n)*^> host h1 h2$(.|\n)*^all of it held: 6 expectations"),
    (["scenarios", "run", "04-lost-request.json", "--ladder"], "", 0, r"lost: f1(.|\n)*ACK timeout 65\.53us"),
    (["scenarios", "run", "10"], "", 0, r"^RNR retries run out\n(.|\n)*\nits picture: rdmalab scenarios run 10-\S+ --ladder\nto look around in it: rdmalab open .*\nthe next lesson: rdmalab scenarios run 17-receive-too-small\n$"),
    (["scenarios", "run", "4", "--ladder"], "", 0, r"^its picture: rdmalab scenarios run 04-lost-request --ladder$"),
    (["scenarios", "run", "retry-ex"], "", 0, r"^Nothing arrives any more(.|\n)*\nok: count(.|\n)*\nthe next lesson: rdmalab scenarios run 26-unrel"),
    (["scenarios", "run", "lost"], "", 1, r'no scenario is about "lost"'),
    (["scenarios", "run", "34"], "", 0, r"ladder\nto look around .*\n$"),
    (["-c", "socket"], "", 1, r"\"create_qp\" makes what stands for a socket here"),
    (["-c", "listen 80"], "", 1, r"rdma_listen"),
    (["-c", "explain socket"], "", 0, r"^socket   the end of a connection in TCP and UDP\n"),
    (["-c", "listen h1"], "", 1, r"rdma_listen"),
    (["-c", "host h1; ping h1"], "", 1, r'ping needs "to": an address, or a host'),
    (["-c", "host h1 h2; ping h1 h2"], "", 1, r'"why" tells what became of the last one'),
    (["scenarios", "run", "zzz"], "", 1, r'no scenario is about "zzz"\n  "scenarios" lists the course'),
    (["scenarios", "lost-reqest"], "", 1, r'did you mean "lost-request"\?$'),
    (["apropos", "Gilbert"], "", 0, r"^BURST +word +(.|\n)*explain WORD"),
    (["apropos", "losses come in bursts"], "", 0, r"^338-bursts-one-way +scenario +losses come in bursts on real links: "),
    (["apropos", "with jitter all arrive"], "", 0, r"^338-bursts-one-way +scenario +with jitter all arrive, in their order\n"),
    (["apropos", "zzz"], "", 1, r'nothing has to do with "zzz"'),
    (["-c", "host h1 h2; link h1 h2; show json"], "", 0,
     r'"forgotten":0,\n"hosts":\[\{[^\n]*\},\n\{[^\n]*\}\],\n"switches":\[\],\n"links":\[\{[^\n]*\}\],\n'),
    (["scenarios", "first-send", "b"], "", 2, r"^usage: rdmalab scenarios \[WORD \[all\]\]"),
    (["scenarios", "write"], "", 0, r"\A  \d+-(.*\n)*  100-write (.*\n){14,30}\d+ more are about it: scenarios write all\n"),
    (["scenarios", "write", "all"], "", 0, r"\A(?!(.|\n)*more are about it)(.|\n)*^  260-descriptors-refused "),
    (["-c", "host h1; scenarios run first-send; show h1.name"], "", 0, r"^all of it held(.|\n)*\nh1\.name = h1$"),
    (["-c", "setup; why h1.cq.wc[0]"], "", 1, r"h1\.cq\.wc\[0\] is not there yet(.|\n)*^  why not h1\.cq\.wc\[0\]$"),
    (["-c", "setup; why no completion"], "", 1, r'^  of what does not come: "why not h1\.cq\.wc\[0\]"'),
    (["-c", "setup; why h2.mr"], "", 1, r'^  "read h2\.mr\[0:16\]" prints its bytes'),
    (["-c", "setup; why lost"], "", 1, r'^  "show events kinds=lost" lists these events'),
    (["-c", "setup; run until cqe"], "", 1, r'^  "until cqe" and '),
    (["-c", "setup; step back"], "", 1, r'^  "back" goes back'),
    (["-c", "setup; dial h1 h2"], "", 1, r'^  choose another name: dial h1 h2 qp=qp2$'),
    (["-c", "host h1 h2; link h1 h2; dial h1 h2"], "", 0, r"(?s)\A(?!.*dma_write).*cm_sent +h1 REQ .*qp_state +h2\.qp RTR -> RTS.*show events$"),
    (["-c", "host h1 h2; link h1 h2; dial h1 h2 full"], "", 0, r"^#\S+ +dma_write +h1\.cm_gsi "),
    (["-c", "help"], "", 0, r"\ATo begin with:\n  setup "),
    (["-c", "setup; dial h1 h2 qp=qp2; show h1.id.state"], "", 0, r"ESTABLISHED$"),
    (["-c", "setup; show timeline"], "", 1, r"^  a page of what happened, .*export timeline"),
    (["-c", "setup; show ladder"], "", 1, r"^  a picture of what happened: export ladder -$"),
    (["-c", "timeline"], "", 1, r"^  a page of what happened, .*export timeline"),
    (["-c", "restart"], "", 1, r'^  "goto 0%" is the beginning'),
    (["-c", "setup; post_recv h2.qp"], "", 0, r"^this receive has room for 0 bytes \(no sge=\)"),
    (["-c", "setup; post_recv h2.qp; post_send h1.qp sge=mr[0:5]; run; show events kinds=rx"], "", 0,
     r"by RESP_RECV_LENGTH, the receive has room for 0 bytes, 5 have come$"),
    (["-c", "setup; post_send h1.qp op=rdma_write_imm sge=mr[0:5]"], "", 1, r'^  did you mean "rdma_write_with_imm"\?$'),
    (["-c", "host h1; source scenarios/01-first-send.json"], "", 1,
     r"a scenario needs an empty lab(.|\n)*\"quit\", and source it at a new prompt"),
    (["-c", "; ".join(PAIR.strip().split("\n")) + " quiet"], "", 0, r"RESET\)\nh1\.qp and h2\.qp are connected\n\Z"),
    (["-c", "scenarios run zzz"], "", 1, r'^error: no scenario is about "zzz"\n  scenarios run zzz\n +\^\^\^\n'),
    (["tset"], "", 2, r'tset: No such file or directory\n  did you mean "rdmalab test"\?$'),
    (["help"], "", 0, r"rdmalab test PATH"),
    (["help", "expect"], "", 0, r"\Aexpect: "),
    (["help", "faults"], "", 0, r"^ +duplicate "),
    (["help", "post_send", "sge"], "", 0, r"sge"),
    (["help", "post_sned"], "", 1, r'^error: no help for "post_sned"(.|\n)*did you mean "post_send"\?$'),
    (["help", "x" * 20000], "", 1, r'^error: no help for "xx'),
    (["help", "a", "b", "c"], "", 2, r"^usage: rdmalab help"),
    # captures of others
    (["check"], "", 2, r"^usage: rdmalab check FILE"),
    (["check", "--help"], "", 0, r"(?s)--at IP.*exit status: 0 no error"),
    (["check", "none.pcap"], "", 2, r"none\.pcap: No such file"),
    (["check", "good.lab"], "", 2, r"good\.lab: this is neither pcap nor pcapng, at byte 8$"),
    (["check", "book/rxe-lost.pcap"], "", 0,
     r"(?s)34 frames of RoCEv2 among 34.*^1  RC  10\.0\.1\.1 QP 18 .*^frame 1 +loss +#1  GAP: .*\n0 errors, 4 signs of loss, 0 notes"),
    (["check", "book/rxe-lost.pcap", "--json"], "", 0, r'(?s)"finding":"AGAIN_AFTER_TIMEOUT".*"errors":0,"losses":4,"notes":0\}$'),
    (["check", "book/rxe-lost.pcap", "--at", "10.0.1.2", "--timeout", "14"], "", 0, r"\A(?!(.|\n)*^Of the ends)(.|\n)*^0 errors"),
    (["check", "book/rxe-lost.pcap", "--at", "10.0.1.1", "--timeout", "14"], "", 0, r"^Timers, limits and reasons were not checked at 1 of the 1 ends"),
    (["check", "book/rping.pcap.gz"], "", 0, r"(?s)^1    10\.0\.0\.1 QP 17 asks 10\.0\.0\.2 QP 17 for TCP port 7174; connection #3$.*^4    10"),
    (["check", "book/rping.pcap.gz", "--connection", "18-10.0.0.2:99"], "", 0, r"(?s)^2    10\.0\.0\.1 QP 18 asks 10\.0\.0\.2 for TCP port 9999\n    rejected: .* CM_REJECTED: "),
    (["check", "book/rping.pcap.gz", "--connection", "10.0.0.1:19-10.0.0.2:18"], "", 0, r"(?s)\A(?!.*^1    10)(?!.*^2    10)(?=.*^3    10).*; 1 finding of other"),
    (["check", "book/rping.pcap.gz", "--ladder", "-", "--to", "44"], "", 0, r"REQ to :7174, psn=5340258(.|\n)*REP, psn=15610166(.|\n)*RTU(.|\n)*DREQ(.|\n)*DREP(.|\n)*REJ, INVALID_SERVICE_ID"),
    (["check", "book/rping.pcap.gz", "--connection", "30-31"], "", 2, r"has no such connection"),
    (["check", "book/rping.pcap.gz", "--json"], "", 0, r'(?s)"handshakes":\[\n\{"number":1,"state":"ended","connection":3,.*"reason":8,"reason_name":"INVALID_SERVICE_ID"'),
    (["check", "book/rxe-lost.pcap", "--timeout", "14"], "", 0, r"^--at, --timeout and the like were of no use: "),
    (["check", "book/rxe-lost.pcap", "--at", "10.0.1"], "", 2, r"--at 10\.0\.1: it takes the IP address of a host"),
    (["check", "book/rxe-lost.pcap", "--timeout", "32"], "", 2, r"--timeout 32: "),
    (["check", "book/rxe-lost.pcap", "--ladder", "-", "--from", "3", "--to", "4"], "", 0, r"RDMA_WRITE_ONLY psn=936254(.|\n)*psn=936255"),
    (["check", "book/rxe-lost.pcap", "--ladder", "l.png"], "", 2, r"the name must end in \.svg"),
    (["check", "book/rxe-lost.pcap", "--from", "3"], "", 2, r"--from, --to and --packets need --ladder OUT or --timeline OUT"),
    (["check", "book/rxe-lost.pcap", "--timeline", "-", "--from", "3", "--to", "4"], "", 0, r"\A<!doctype html>\n<!-- rdmalab export timeline -->\n(.|\n)*RDMA_WRITE_ONLY psn=936254(.|\n)*</html>\n\Z"),
    (["check", "book/rxe-lost.pcap", "--timeline", "t.svg"], "", 2, r"the name must end in \.html or \.htm"),
    (["check", "book/rxe-lost.pcap", "--timeline", "-", "--json"], "", 2, r"--timeline draws a picture instead"),
    (["check", "book/rxe-lost.pcap", "--ladder", "-", "--json"], "", 2, r"--ladder draws a picture instead"),
    (["check", "book/rxe-lost.pcap", "--at", "10.0.1.2,10.9.9.9"], "", 2,
     r"\A.*--at 10\.9\.9\.9: no RoCEv2 packet of book/rxe-lost\.pcap .*its hosts are 10\.0\.1\.1, 10\.0\.1\.2\n\Z"),
    (["check", "book/rxe-lost.pcap", "--connection", "10.0.1.2:18-10.0.1.1:18"], "", 0,
     r"0 errors, 4 signs of loss, 0 notes in 1 of 1 connection\n\Z"),
    (["run", "scenarios/108-unsignaled.json", "--pcap", "note.pcapng", "--quiet"], "", 0, r""),
    (["check", "note.pcapng", "--worst", "1"], "", 0,
     r"0 notes in 0 of 1 connection; 1 finding of other connections and of single frames not shown\n\Z"),
    (["check", "book/rxe-lost.pcap", "--connection", "17-99"], "", 2, r"\A.*--connection 17-99: .* has no such connection"),
    (["check", "book/rxe-lost.pcap", "--connection", "17"], "", 2, r"--connection 17: it takes two ends with a - between"),
    (["check", "book/rxe-lost.pcap", "--worst", "1", "--json"], "", 0, r'"connections_in_file":1,"findings_not_shown":0,"congestion":null'),
    (["check", "book/rxe-lost.pcap", "--worst", "0"], "", 2, r"--worst 0: "),
    (["check", "book/rxe-lost.pcap", "--connection", "18-18", "--ladder", "-", "--from", "3", "--to", "4"], "", 0, r"psn=936255"),
    # session files
    (["open"], "", 2, r"^usage: rdmalab open FILE"),
    (["open", "--help"], "", 0, r"exit status: that of the prompt"),
    (["open", "none.json"], "", 2, r"none\.json: No such file"),
    (["open", "/dev/zero"], "", 2, r"/dev/zero: this is no regular file"),
    (["open", "scenarios"], "", 2, r"scenarios: Is a directory"),
    (["open", "good.lab"], "", 0, r'good\.lab: the end is at t=0 #1; "back" goes to the step before'),
    (["open", "fails.lab", "-c", "show h1.irqs"], "", 0, r"fails\.lab: it failed at t=0 #1; .*\nh1\.irqs = 0\n"),
    (["open", "fails.lab", "--prompt"], "back\nexpect h1.irqs == 1\n", 1, r"fails\.lab:3:1: FAIL expect(.|\n)*nothing is called"),
    (["open", "limit.lab", "-c", "step"], "", 0, r"limit of 500 ticks was reached"),
    (["open", "wrong.lab"], "", 2, r"wrong\.lab:3:1: error: "),
    (["open", "ok.json", "--seed", "2", "--prompt"], "", 0, r"seed 2"),
    (["open", "empty.json"], "", 2, r"empty\.json:1:1: error: "),
    (["open", "--seeed"], "", 2, r"did you mean --seed\?"),
    (["-c", "save world w.json"], "", 1, r"there is nothing to save"),
    (["-c", "host h1; repeat 2 { save world w.json }"], "", 1, r"save does not work in a block or a sourced file"),
    (["-c", "host h1; save world nowhere/w.json"], "", 1, r"nowhere/w\.json: No such file"),
    (["-c", "host h1; save world scenarios"], "", 1, r"scenarios: Is a directory"),
    (["-c", "host h1; save world -"], "", 1, r"a world is a file"),
    (["chekc", "x.pcap"], "", 2, r'did you mean "rdmalab check"\?$'),
    (["frobnicate"], "", 2, r'No such file or directory\n  "rdmalab --help" lists what can be done$'),
    (["none.lab"], "", 2, r"none\.lab: No such file or directory\n\Z"),
    (["no\x1b[31m\n::error::ne.lab"], "", 2, r"no\\x1b\[31m\\x0a::error::ne\.lab: No such file"),
    (["run", "no\x1b[31m\n::error::ne.lab"], "", 2, r"no\\x1b\[31m\\x0a::error::ne\.lab: No such file"),
    (["test", "no\x1b[31m\n::error::ne.lab"], "", 2, r"(?m)\A(?!(.|\n)*^::error)(.|\n)*no\\x1b"),
    (["show", "no\x1b[31m\n::error::ne.ndjson"], "", 2, r"no\\x1b\[31m\\x0a::error::ne\.ndjson: No such file"),
    (["convert", "good.lab", "good.png"], "", 2, r"good\.png: the name must end in \.lab or \.json$"),
    # no key of a file reaches a terminal, or a log that takes commands, as it is
    (["run", "key.json"], "", 2, r'\Akey\.json:1:\d+: error: steps\[0\]: unknown key "a\\x1b\[31m\\x0a::error::b" in host\n'),
    (["test", "key.json"], "", 2, r'(?m)\A(?!(.|\n)*^::error)(.|\n)*unknown key "a\\x1b\[31m\\x0a::error::b" in host\n'),
    (["-c", "source ok.json"], "", 0, r'\nok: h1\.name != "\\x1b\[31m": it is h1\n\Z'),
    (["run", "x.lab", "--untill", "5"], "", 2, r'did you mean --until\?\n  "rdmalab run --help" lists them$'),
    (["--nonsense"], "", 2, r'\n  "rdmalab --help" lists them$'),
    # line by line: bad syntax is 2, everything else that is wrong 1
    (["-c", "host h1; show h1.irqs"], "", 0, r"0"),
    (["-c", "hosst h1"], "", 1, r'did you mean "host"\?'),
    # a mistyped name is no refusal, unless that is what is meant
    (["-c", "host h1; refused reason=err_not_found { create_cq h9 cqe=16 as cq }"], "", 1, r'no host is called "h9"'),
    (["-c", 'host h1; refused says="no host" { create_cq h9 cqe=16 as cq }'], "", 0, r"refused: no host"),
    (["-c", "host h1; repeat 1025 { alloc_pd h1 }"], "", 1, r"can have: max_pd=1024\n(.|\n)*\n  dealloc_pd gives one back$"),
    (["-c", "host h1; show h1.irq"], "", 1, r"h1\.irqs?"),
    (["-c", "host h1 max_cqq=3"], "", 1, r'did you mean "max_cq"\?'),
    (["-c", "host h1 features_off=EVENT_IDXX"], "", 1, r"EVENT_IDX"),
    (["-c", 'host "h1'], "", 2, r"error"),
    # what is sourced is told, and nothing in it reaches the terminal as it is
    (["-c", "source told.lab"], "", 0,
     r"\A> # two \\x1b hosts\n> host h1 h2\nh1  10.*\nh2  10.*\n> on h1 \{\n>     alloc_pd as pd\n> \}\nh1: pd"),
    (["told.lab"], "", 0, r"\Ah1  10"),
    (["good.lab"], "", 0, r""),
    (["plain.lab", "stops.lab", "plain.lab"], "", 1, r"stops\.lab:1:\d+: FAIL"),
    (["wrong.lab"], "", 1, r'wrong\.lab:3:1: error: unknown command "bogus"'),
    (["syntax.lab"], "", 2, r"syntax\.lab:2:\d+: error"),
    (["-c", "host h1; pd = alloc_pd"], "", 1, r'unknown command "pd"(.|\n)*by "as": alloc_pd as pd'),
    (["-c", "host h1; lose the 1st kick of h1.ctrl; on h1 { alloc_pd as pd }"], "", 1,
     r'nothing is scheduled any more(.|\n)*"why not" tells who waits for what'),
    # the standard input has lines as a file has; it cannot be run again, and a prompt has no lines
    ([], "host h1\nbogus\n", 1, r'^standard input:2:1: error: unknown command "bogus"'),
    ([], "host h1\n\non h1 {\n  # one\n  bogus\n}\n", 1, r'^standard input:5:3: error: unknown command "bogus"'),
    ([], "host \\\n  h1\n\n\nexpect t == 1s\n", 1, r"^standard input:5:1: FAIL expect t == 1s: it is 0\n(?!  again)"),
    (["-"], "host \\\n  h1\n\n\nexpect t == 1s\n", 1, r"^standard input:5:1: FAIL expect t == 1s: it is 0\n(?!  again)"),
    (["run", "-"], "host h1\nbogus\n", 2, r'^standard input:2:1: error: unknown command "bogus"'),
    (["run", "-"], "host h1\n", 0, r"\Astandard input\ndone, and nothing was expected"),
    (["--prompt"], "host h1\nbogus\n", 1, r'^error: unknown command "bogus"'),
    (["--prompt"], "bogus\nhost h1\n", 1, r"h1  10\.0\.0\.1"),  # the prompt goes on
    # all of -c, in order, up to the first that fails
    (["-c", "host h1", "-c", "host h2", "-clink h1 h2", "told.lab"], "", 1, r"\Atold\.lab:2:6: error(.|\n)*^h1 .*\nh2 "),
    (["-c", "on h1 {", "-c=alloc_pd as pd }", "-c", "host h2"], "", 1, r'(?s)\A(?!.*h2  10).*no host is called "h1"'),
    (["--help"], "", 0, r'rdmalab -c "LINE; LINE"\.\.\. +run lines, those of each -c in order'),
    # files are validated before anything runs
    (["run", "good.lab"], "", 0, r""),
    (["run", "good.lab", "--events", "./good.lab"], "", 2, r"--events \./good\.lab: this file is read"),
    (["run", "good.lab", "--events", "same.x", "--pcap", "same.x"], "", 2, r"--events and --pcap: both would be the same file"),
    (["run", "good.lab", "--events", "/dev/null", "--pcap", "/dev/null"], "", 0, r""),
    (["run", "wrong.lab"], "", 2, r"bogus"),
    (["run", "fails.lab"], "", 1, r"h1\.irqs"),
    (["run", "limit.lab"], "", 1, r"limit of 500 ticks(.|\n)*h1\.qp: SEND wr_id=0 waits for"),
    # nothing that is refused, but the end of the lab
    (["run", "small.lab"], "", 1,
     r"^small\.lab:[56]:2: error: the memory of the lab is full: the limit of 16m was reached\n"
     r".*\n.*\n  use fewer or smaller hosts, .* or set a larger limit\n(.|\n)*FAILED; "),
    (["run", "small.lab", "--events", "small.ndjson"], "", 1, r"\A(?!(.|\n)*16m was(.|\n)*16m was)(.|\n)*FAILED; "),
    (["run", "small.lab", "--memory", "1m"], "", 1, r"the limit of 1m was reached"),
    (["run", "tiny.lab"], "", 1, r"^tiny\.lab:1:\d+: error: memory: no lab can be made with 4k\n(.|\n)*4m are enough for two hosts"),
    (["run", "tiny.lab", "--memory", "64m"], "", 0, r"done, and nothing"),
    (["test", "small.lab"], "", 1, r"the limit of 16m was reached(.|\n)*0 passed, 1 failed"),
    (["run", "skipped.lab"], "", 77, r"no tap here"),
    (["run", "later.lab"], "", 77, r"not written yet"),
    # what has no steps would pass whatever rdmalab does
    (["run", "nothing.lab"], "", 2, r"nothing\.lab:1:1: error: there is nothing to run(.|\n)*write a command"),
    (["run", "nothing.json"], "", 2, r"nothing\.json:1:1: error: there is nothing to run"),
    (["good.lab", "nothing.lab"], "", 2, r"nothing\.lab: there is nothing to run(.|\n)*write a command"),
    (["convert", "nothing.lab", "-"], "", 0, r'title="nothing"'),
    (["run", "scenarios/01-first-send.json", "--hash"], "", 0, r"^hash [0-9a-f]{16}$"),
    (["run", "scenarios/01-first-send.json"], "", 0,
     r"\AThe first SEND: .*\npassed: 6 expectations; 55 ticks, t=17\.51us\n\Z"),
    (["run", "scenarios/01-first-send.json", "--quiet"], "", 0, r"\A\Z"),
    (["run", "good.lab"], "", 0, r"\Agood\npassed: 1 expectation; 1 ticks, t=0$"),
    (["run", "fails.lab"], "", 1, r"FAILED; 1 ticks, t="),
    (["run", "forever.lab", "--until", "h1.qp.rnr_retries == 3"], "", 0, r""),
    # a stop that never came, or never can, is no success
    (["run", "scenarios/01-first-send.json", "--until", "#50"], "", 0, r"^stopped at t=\S+ #50$"),
    (["run", "scenarios/01-first-send.json", "--until", "count(tx) > 100"], "", 1, r"--until:1:1: FAIL this never came true: it is 2"),
    (["run", "scenarios/01-first-send.json", "--until", "h9.irqs > 0"], "", 1, r'nothing is called "h9\.irqs"'),
    (["run", "scenarios/01-first-send.json", "--until", "count(tx, host==h9) > 0"], "", 1, r'no host is called "h9"'),
    (["run", "long.lab", "--ladder", "l.svg"], "", 0,
     r'^l\.svg: the \d+ oldest events are forgotten, this is complete from #\d+\.\d+ on; '
     r'"record keep=\d+k" as the first line of the lab file keeps more$'),
    # a lab that goes live records less, unless it has been told how much
    (["-c", "record keep=2k; host h1 h2; link h1 h2; program h1 rc_pingpong server -n 100 -p 18621; "
      "program h2 rc_pingpong client -n 100 -p 18621; run; show"], "", 0, r"events recorded, \d+ older ones forgotten"),
    # programs: their exchange goes over TCP of this machine
    (["-c", "host h1 h2; link h1 h2; program h1 verbs_peer server lines=peer.lines -p 18626; "
      "program h2 verbs_peer client lines=peer.lines -p 18626; run; expect h1.program.done and h2.program.done; show live"], "", 0,
     r"(?s)cq: qp=qp wr_id=3 status=SUCCESS opcode=RDMA_WRITE\n.*check pattern=1: right\n.*h2 verbs_peer client: done$"),
    (["-c", "host h1; program h1 verbs_peer server lines=peer.lines -s 9"], "", 1, "verbs_peer has no size"),
    (["-c", "host h1; program h1 verbs_peer server"], "", 1, "verbs_peer needs lines=FILE"),
    (["-c", "host h1 h2; link h1 h2 loss=1%; program h1 rc_pingpong server -n 9 -s 9000 -p 18617; "
      "program h2 rc_pingpong client -n 9 -s 9000 -p 18617 -e; run; "
      "expect h1.program.done and h2.program.done and h2.program.received == 9; show live"], "", 0,
     r"162000 bytes in .*\n9 iters in (.|\n)*client: done; sent 9, received 9 of 9"),
    (["-c", "host h1 h2; link h1 h2; program h1 uc_pingpong server -n 9 -s 9000 -p 18625 -m 512; "
      "program h2 uc_pingpong client -n 9 -s 9000 -p 18625 -m 512 -e; run; "
      "expect h1.program.done and h2.program.done and count(tx, opcode==UC_SEND_FIRST) == 18; show live"], "", 0,
     r"PSN 0x\w+, GID ::ffff:(.|\n)*162000 bytes in .*\n9 iters in (.|\n)*uc_pingpong client: done; sent 9, received 9 of 9"),
    (["-c", "host h1 h2; link h1 h2; program h1 ud_pingpong server -n 9 -p 18626 -g 1; "
      "program h2 ud_pingpong client -n 9 -p 18626 -g 1; run; "
      "expect h1.program.done and h2.program.done and count(tx, opcode==UD_SEND_ONLY) == 18; show live"], "", 0,
     r"PSN 0x\w+: GID fe80::(.|\n)*36864 bytes in .*\n9 iters in (.|\n)*ud_pingpong client: done; sent 9, received 9 of 9"),
    (["-c", "host h1; program h1 ud_pingpong server -s 4097"], "", 1, r"Requested size larger than port MTU \(4096\)"),
    (["-c", "host h1; program h1 ud_pingpong server -m 1024"], "", 1, r"ud_pingpong has no mtu(.|\n)*leave it out"),
    (["-c", "host h1; program h1 uc_pingpong server -c"], "", 1, r"uc_pingpong has no check(.|\n)*leave it out"),
    (["-c", "host h1 h2; link h1 h2; program h1 srq_pingpong server -n 99 -p 18627 -e; "
      "program h2 srq_pingpong client -n 99 -p 18627; run; "
      "expect h1.program.done and h2.program.done; show live"], "", 0,
     r"811008 bytes in .*\n99 iters in (.|\n)*srq_pingpong client: done; sent \d+, received \d+ of 99"),
    (["-c", "host h1; program h1 rc_pingpong server -q 2"], "", 1, r"rc_pingpong has no num_qp"),
    (["-c", "host h1; program h1 srq_pingpong server -r 9"], "", 1, r"rx_depth 9 is too small for 16 QPs"),
    (["-c", "host h1; program h1 rc_pingpong client -p 1; run"], "", 1, r"Couldn't connect to localhost:1: "),
    (["-c", "host h1; program h1 rc_pingpong server -p 18618; program h1 rc_pingpong server -p 18618; run"],
     "", 1, r"Couldn't listen to port 18618: (.|\n)*another program listens there; -p"),
    (["test", "program.lab"], "", 1, r'a test has no live ports(.|\n)*"rdmalab run FILE --allow '),
    (["run", "good.lab", "--memory", "4k"], "", 1,
     r"^rdmalab: a lab cannot be made: out of memory\n  give it more with --memory, or leave that out$"),
    (["run", "program.lab", "--hash", "--allow", "ports"], "", 1, r"a lab that follows real time has no hash"),
    (["-c", "host h1; program h1 rc_pingpong server -z"], "", 1, r'no option "-z"'),
    (["-c", "host h1; program h1 rc_pingpong server -n5"], "", 1, r'no option "-n5"'),
    (["-c", "host h1; program h1 rc_pingpong server -s"], "", 2, r"-s needs a value"),
    (["-c", "host h1; program h1 rc_pingpong server -g 9"], "", 1, r"h1 has no GID 9"),
    (["-c", "host h1 h2; link h1 h2; ping h1 h2 -c 2; ping h2 fe80::ff:fe00:1"], "", 0, r"2 sent, 2 received"),
    (["-c", "host h1 h2; link h1 h2; ping h1 10.0.0.99 -c 2"], "", 1, r"2 of 2 pings were not answered"),
    # a rule that compared two values says both
    (["-c", "source psn.lab; why"], "", 0,
     r"sequence\s+NAK,\s+expected\s+psn=50,\s+found\s+psn=100;\s+the\s+NAK_PSN_SEQUENCE\s+#\S+\s+arrived\s+in\s+#\S+\s+"
     r"dropped\s+without\s+an\s+answer,\s+expected\s+psn=100,\s+found\s+psn=50"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr[0:8]; post_send h1.qp sge=mr[0:64]; run; why h2.cq.wc[0]"], "", 0,
     r"by RESP_RECV_LENGTH, the receive has room for 8\s+bytes, 64 have come"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled; run; why"], "", 0,
     r"\nnothing went wrong; this happened last:\n#\S+ +cqe +h1.cq wr_id=0 SUCCESS SEND\n"),
    (["-c", "source pair.lab; post_send h1.qp sge=mr[4090:4100]; run; why"], "", 0,
     r"refused by MR_RANGE, expected\s+address\s+0x\w+\s+to\s+0x\w+fff,\s+found\s+address\s+0x\w+003"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr; corrupt next as f1; post_send h1.qp sge=mr[0:64]; run; why h1.qp"], "", 0,
     r"f1: corrupts the next frame that anybody sends, in the last bit before the ICRC(.|\n)*"
     r"BAD_ICRC, expected\s+0x\w+,\s+found\s+0x\w+,\s+corrupted\s+by\s+f1"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr; corrupt next as f1; post_send h1.qp sge=mr[0:64]; run; show events kinds=drop; "
      "why #52.1; show packet #52.1"], "", 0,
     r"#52\.1 +drop +h2 BAD_ICRC(.|\n)*  BAD_ICRC: the invariant(.|\n)* fault +CORRUPT (.|\n)*by f1(.|\n)*"
     r"  it was dropped by h2 in #52\.1: BAD_ICRC"),
    # time in both directions
    (["-c", "source pair.lab; post_recv h2.qp sge=mr", "-c", "post_send h1.qp sge=mr[0:64] signaled", "-c", "run",
      "-c", "back 2; show h1.qp.next_psn; redo; show h1.qp.next_psn; redo; show h1.qp.next_psn"], "", 0,
     r"back before: post_send .*\nback before: run\nat #46 of #52(.|\n)* 100\n(.|\n)*at #47 of #52(.|\n)* 100\n(.|\n)*at the end, #52(.|\n)* 101\n"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr", "-c", "post_send h1.qp sge=mr[0:64] signaled; run",
      "-c", "back 1 cqe; why; goto #49.3; goto 50%; goto end; why h1.cq.wc[0]"], "", 0,
     r"at #51 of #52(.|\n)*\n#49\.3 +tx +RC_SEND_ONLY(.|\n)*at #26 of #52(.|\n)*at the end, #52(.|\n)*ACK psn="),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr", "-c", "post_send h1.qp sge=mr[0:64] signaled", "-c", "run",
      "-c", "back 2", "-c", "post_send h1.qp sge=mr[0:8] signaled", "-c", "run", "-c", "show h2.cq.wc[0].byte_len"], "", 0,
     r"at #46 of #52(.|\n)*byte_len = 8\n"),
    (["-c", "host h1", "-c", "goto #9999"], "", 1, r"the last tick that was made is #1\n(.|\n)*\"goto end\" goes there"),
    (["-c", "back"], "", 1, r"nothing was done before here"),
    (["-c", "host h1", "-c", "redo"], "", 1, r"nothing was taken back"),
    (["-c", "host h1", "-c", "goto nowhere"], "", 1, r'"nowhere" is no place'),
    (["-c", "host h1", "-c", "back 5 cqe"], "", 1, r"nothing of that sort happened before here"),
    (["-c", "host h1", "-c", "repeat 2 { back }"], "", 1, r"back does not work in a block"),
    (["bench", "device", "--format", "json"], "", 0, r'^\[\{"device":"virtio-rdma","qps":256,"cqs":256,.*\n \{"device":"PVRDMA","qps":256,'),
    (["run", "/dev/stdin"], "\ufeffscenario title=mark\nhost h1\nexpect h1.irqs == 0\n", 0, r"^passed: 1 expectation"),
    # of a virtual machine's driver nothing is said that the lab cannot know
    (["-c", "host v1 vm; show vq v1.ctrl"], "", 0, r"^  avail\.idx +0 +0\n  used\.idx +\? +0\n"),
    (["-c", "host v1 vm; show vq v1.ctrl json"], "", 0, r'"avail\.idx".*"driver 0, device 0".*\n.*"used\.idx".*"driver \?, device 0"'),
    # nothing that was said is ignored
    (["run", "scenarios/01-first-send.json", "--seed", "1", "--seed=2"], "", 2, r"^rdmalab: --seed is given twice, as 1 and as 2$"),
    (["test", "scenarios", "--tag", "rc", "--tag", "ud"], "", 2, r"^rdmalab: --tag is given twice, as rc and as ud$"),
    (["test", "-j2", "-j", "1", "scenarios"], "", 2, r"^rdmalab: -j is given twice, as 2 and as 1$"),
    (["run", "scenarios/01-first-send.json", "--memory", "0"], "", 2, r"^rdmalab: --memory 0: it must be at least 1$"),
    (["test", "scenarios", "--list", "--junit", "j.xml"], "", 2, r"^rdmalab: --list and --junit: give one of them$"),
    (["doctor", "x"], "", 2, r"^rdmalab: doctor takes nothing, and x was given$"),
    (["bench", "space"], "", 2, r"usage: rdmalab bench \[time\|device\|connect\|control\|shortcut\|lnet\|programs\]"),
    # futures
    (["-c", "source pair.lab; post_recv h2.qp sge=mr; checkpoint here", "-c", "post_send h1.qp sge=mr[0:64] signaled", "-c", "run", "-c", "goto here",
      "-c", "drop next from=h1 as f1", "-c", "post_send h1.qp sge=mr[0:64] signaled", "-c", "run", "-c", "futures", "-c", "diff main was1",
      "-c", "future was1", "-c", "fork other", "-c", "future main"], "", 0,
     r"what was done behind #46 stays as \"was1\"(.|\n)*\* main +to #\d+(.|\n)*  was1 +to #52, .*, parts from \"main\" behind #46\n  #46 is \"here\"\n"
     r"main and was1 part in #47:\n  main +#47\.1 +fault_made(.|\n)*\n  f1 +there \| not there\n(.|\n)*main +was1\n(.|\n)* \|  (.|\n)*"
     r"in \"was1\", at #52 of #52\nin \"other\" from #52 on; \"future was1\" goes back\nin \"main\""),
    (["-c", "host h1", "-c", "fork x; repeat 2 { fork y }"], "", 1, r"fork does not work in a block"),
    (["-c", "host h1", "-c", "fork x", "-c", "switch x"], "", 1, r"\"x\" is a future, and this makes an Ethernet switch\n(.|\n)*\"future x\" goes there"),
    (["-c", "host h1", "-c", "fork main"], "", 1, r"there is a future called \"main\""),
    (["-c", "host h1", "-c", "future nix"], "", 1, r"no future is called \"nix\"(.|\n)*\"futures\" lists them, \"fork nix\" begins one"),
    (["-c", "host h1", "-c", "diff main"], "", 1, r"these are the same future"),
    # where it is to stop
    (["-c", "source pair.lab; post_recv h2.qp sge=mr; break tx(host==h2) once; watch h2.mr[0:4] do { show h2.qp.state }; write h1.mr[0] \"abcd\"",
      "-c", "post_send h1.qp sge=mr[0:8] signaled; run; poll_cq h1.cq", "-c", "break", "-c", "run", "-c", "back stop"], "", 0,
     r"break 1 at #52\.7, tx\(host==h2\)\nwatch 2 between #52\.2 and #52\.3, h2\.mr\[0:4\]: 00000000 -> \"abcd\"\n(.|\n)*"
     r"  not done yet: run, and what follows it; \"continue\" goes on with it, \"abandon\" gives it up\nh2\.qp\.state = RTS\n  2  watch  h2\.mr\[0:4\] .* hit 1 time, do \{ \.\.\. \}\n(.|\n)*idle(.|\n)*"
     r"at #52 of #53(.|\n)*watch 2 between"),
    (["-c", "host h1 h2; link h1 h2; break eth_rx(host==h2)", "-c", "repeat 3 { ping h1 h2 }"], "", 0,
     r"break 1 at #6\.1, eth_rx(.|\n)*ping was left in its middle: .*\n  not done yet: repeat, and what follows it; \"continue\" goes on with it, \"abandon\" gives it up\n$"),
    (["-c", "host h1 h2; link h1 h2; until eth_rx(host==h1) timeout=1us"], "", 1, r"nothing is left to run, and it did not happen"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr; post_send h1.qp sge=mr[0:8] signaled; run", "-c", "back to cqe(host==h1)"], "", 1,
     r"this did not happen before here\n(.|\n)*it did here, at #52\.4"),
    (["-c", "source pair.lab; post_recv h2.qp sge=mr; post_send h1.qp sge=mr[0:8] signaled; run", "-c", "back to h1.qp.state == RTS"], "", 0,
     r"at #35 of #52"),
    (["-c", "break h1.qp.state == RTS once; source pair.lab"], "", 0,
     r"break 1 waits: nothing is called \"h1\.qp\.state\"(.|\n)*connect was left in its middle"),
    (["-c", "source pair.lab", "-c", "break h1.qp.state == RTSS"], "", 1, r"no QP state is called \"RTSS\""),
    (["-c", "source pair.lab", "-c", "watch h1.qp.state == RTS"], "", 1, r"no value that could be watched"),
    (["-c", "break lost; break tx; delete 1 1; break; delete 1"], "", 1, r"no stop with this number(.|\n)*  2  break  tx"),
    (["-c", "delete"], "", 1, r"which of them\?(.|\n)*\"delete 1\", \"delete all\""),
    (["-c", "host h1; expect host_up"], "", 1, r"what happens is over a moment later(.|\n)*\"count\(host_up\) > 0\""),
    (["-c", "break tx do"], "", 2, r"do needs a block"),
    (["-c", "back to"], "", 1, r"back to what\?"),
    (["-c", "host h1", "-c", "back stop"], "", 1, r"there is no stop"),
    # sources are for those who ask
    (["explain", "RESP_PSN"], "", 0, r"older ones are duplicates\n"),
    (["explain", "RESP_PSN", "--source"], "", 0, r"\[IBTA1 9\.7\.4\.1\s+\(unverified\),\s+C9-105\]"),
    (["-c", "explain RESP_PSN --source"], "", 0, r"\(unverified\)"),
    (["-c", "explain RESP_PSN source"], "", 0, r"\(unverified\)"),
    # a saved session
    (["-c", "source saved.lab; show h1.name"], "", 0, r"^h1\.name = h1$"),
    (["-c", "host h9", "-c", "source saved.lab"], "", 1,
     r"^saved\.lab:1:1: error: a scenario needs an empty lab, and this one has begun already(.|\n)*at a new prompt"),
    (["-c", "explain source"], "", 0, r"run the lines of a file here"),
    (["-c", "explain qp fields"], "", 0, r"qp   node of the inspect tree(.|\n)*\n  next_psn "),
    # sizes that do not fit, and what does
    (["-c", "source pair.lab; write h1.mr[0:100m] fill=1"], "", 1,
     r"h1\.mr\[0:100m\]: 100m bytes; one write takes 64m at most\n.*\n.*\n?.*h1\.mr\[0:64m\], h1\.mr\[64m:128m\]"),
    (["-c", "source pair.lab; read h1.mr[0:65m]"], "", 1, r"65m bytes; one read takes 64m at most"),
    (["-c", "source pair.lab; read h1.mr[4090:20]"], "", 1,
     r"the end is before the beginning(.|\n)*20 bytes from 4090 on are h1\.mr\[4090:4110\]"),
    (["-c", "source pair.lab; read h1.mr[4090:4110]"], "", 1,
     r"byte 4109 is asked for, and h1\.mr has 4096 bytes(.|\n)*its last byte is h1\.mr\[4095\]"),
    (["-c", "host h1 h2; link h1 h2; ping h1 h2 size=8192"], "", 1,
     r"8192 bytes do not fit into one packet: the MTU of h1 leaves room for (\d+)(.|\n)*ping h1 h2 size=\1;"),
    # addresses are one host's
    (["-c", "host h1 h2; host h4 ip=10.0.0.2"], "", 1, r"h2 has the address 10\.0\.0\.2\n(.|\n)*give h4 another one"),
    (["-c", "host h1; host h4 mac=02:00:00:00:00:01"], "", 1, r"h1 has the address 02:00:00:00:00:01"),
    (["-c", "host h1 arp; host h4 ip6=fe80::ff:fe00:1"], "", 1, r"h1 has the address fe80::ff:fe00:1"),
    (["-c", "host h1 ip=10.0.0.2; host h2"], "", 1, r"h2 would get an address(.|\n)*host h2 ip=ADDRESS"),
    # a server is alone with its machine, unless told
    (["-c", "host h1 h2; link h1 h2; program h1 rc_pingpong server -n 3 -l 3 -p 18622 listen=0.0.0.0; "
      "program h2 rc_pingpong client -n 3 -l 3 -p 18622; run; expect h2.program.done"], "", 0, r"3 iters in "),
    (["-c", "host h1; program h1 rc_pingpong server -p 18623 listen=192.0.2.1; run"], "", 1,
     r"Couldn't listen to port 18623: (.|\n)*listen= is an address of this machine"),
    (["-c", "host h1; program h1 rc_pingpong client listen=::1"], "", 1, r"a client connects, it does not listen"),
    (["-c", "host h1; program h1 rc_pingpong server -l 16"], "", 1, r"sl: 16 is out of range"),
    (["swarm", "--seeds", "1..3"], "", 0, r"^3 worlds, [\s\S]*\n3 passed, 0 failed, 0 skipped$"),
    (["swarm", "--outside", "--seed", "4"], "", 0, r"^1 passed, 0 failed, 0 skipped$"),
    (["swarm", "--seed", "2", "--hash"], "", 0,
     r"^seed 2: hash (?!0{16})[0-9a-f]{16}\n(seed 2, a drill of [a-z]+: hash (?!0{16})[0-9a-f]{16}\n)+"
     r"\d+ messages of LNet, \d+ bytes compared\n1 passed, "),
    (["swarm", "--drill", "keys", "--seeds", "1..3"], "", 0, r"^3 passed, 0 failed, 0 skipped$"),
    (["swarm", "--drill", "frames", "--seed", "2", "--script", "d.lab"], "", 0,
     r"d.lab is no scenario: it lacks [0-9]+ things? that no line of a script can say\n"),
    (["swarm", "--drill", "nothing"], "", 2, r"^rdmalab: --drill nothing: there are messages\|datagrams\|.*\|all$"),
    (["swarm", "--outside", "--seed", "2", "--hash"], "", 0,
     r"^seed 2: hash (?!0{16})[0-9a-f]{16}\n1 passed, "),
    (["swarm", "--seeds", "1..4", "-j", "2", "--pairs"], "", 0, r"^4 worlds, 0% of more than two hosts"),
    (["swarm", "--devices", "--seeds", "1..4"], "", 0, r"^4 passed, 0 failed, 0 skipped$"),
    (["swarm", "--extensions", "--seeds", "1..4"], "", 0, r"^4 passed, 0 failed, 0 skipped$"),
    (["swarm", "--machines", "--seeds", "1..4"], "", 0, r"^4 passed, 0 failed, 0 skipped$"),
    (["swarm", "--machines", "--drill", "keys"], "", 2, r"^rdmalab: --drill and --machines: give one of them$"),
    (["swarm", "--extensions", "--drill", "rings"], "", 2, r"^rdmalab: --drill rings: it knows no extensions of virtio-rdma: leave out --extensions, or give --drill device$"),
    (["swarm", "--extensions", "--devices", "--drill", "pvrdma"], "", 2, r"^rdmalab: --drill pvrdma: it knows no extensions of virtio-rdma: "),
    (["swarm", "--devices", "--drill", "keys"], "", 2, r"^rdmalab: --drill keys: it needs what PVRDMA does not have: leave out --devices, or give --drill pvrdma$"),
    (["test", "--device", "pvrdma", "scenarios/01-first-send.json"], "", 0, r"^1 passed, 0 failed, 0 skipped$"),
    (["test", "--device", "rnic", "scenarios/01-first-send.json"], "", 2,
     r"^rdmalab: --device rnic: there are virtio, pvrdma, mixed$"),
    (["swarm", "--matrix", "--cell", "9"], "", 0, r"^1 passed, 0 failed"),
    (["swarm", "--matrix", "--one-in", "500"], "", 0, r"^[0-9]+ worlds, [\s\S]*[0-9] passed, 0 failed"),
    (["swarm", "--inside"], "", 2, r"^rdmalab: unknown option --inside"),
    (["swarm", "--seed", "x"], "", 2, r"^rdmalab: --seed x: a number is needed$"),
    (["swarm", "--seeds", "3..1"], "", 2, r"^rdmalab: --seeds 3\.\.1: .*from the smaller to the larger$"),
    (["swarm", "-j", "0"], "", 2, r"^rdmalab: -j 0: it must be from 1 to 256$"),
    (["swarm", "--cell", "3"], "", 2, r"^rdmalab: --cell needs --matrix$"),
    (["swarm", "--outside", "--pairs"], "", 2, r"^rdmalab: --outside and --pairs: give one of them$"),
    (["swarm", "--seed", "1", "--seed", "2"], "", 2, r"^rdmalab: --seed is given twice"),
    (["bench", "--format", "x"], "", 2, r"^rdmalab: --format x: there are text, json$"),
    (["explain", "--sauce"], "", 2, r"^rdmalab: unknown option --sauce; did you mean --source\?$"),
    (["convert", "--x", "good.lab"], "", 2, r"^rdmalab: unknown option --x$"),
    (["run", "good.lab", "--pcap", "no/x"], "", 2, r"\Ardmalab: --pcap no/x: No such file or directory\n\Z"),
    (["run", "good.lab", "--pcap", "x.foo"], "", 2, r"\Ardmalab: --pcap x\.foo: the name must end in .*\n\Z"),
    (["run", "good.lab", "--events", "x.foo"], "", 2, r"\Ardmalab: --events x\.foo: the name must end in .*\n\Z"),
    (["run", "fails.lab", "--timeline", "x.svg"], "", 2, r"\Ardmalab: --timeline x\.svg: the name must end in \.html or \.htm\n\Z"),
    (["run", "fails.lab", "--ladder", "x.foo"], "", 2, r"\Ardmalab: --ladder x\.foo: the name must end in .*\n\Z"),
]


def check_outputs(program):
    """run writes events, frames, the ladder and the timeline; show makes the timeline of a trace, without bytes."""
    program.run("run", "scenarios/01-first-send.json", "--events", "e.ndjson", "--pcap", "p.pcapng", "--ladder", "l.svg",
                "--timeline", "t.html")
    header, *events = [json.loads(line) for line in program.file("e.ndjson").read_text().splitlines()]
    ensure(header["format"] == "rdmalab-trace" and header["version"] == 1, f"header: {header}")
    ensure([h["name"] for h in header["hosts"]] == ["h1", "h2"], f"hosts: {header}")
    ensure(events and all(event["ev"] for event in events), "events")
    ensure(program.file("p.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a", "pcapng")
    ensure("</svg>" in program.file("l.svg").read_text(), "SVG")
    page = program.file("t.html").read_text()
    ensure("0x04 RC_SEND_ONLY" in page and page.endswith("</html>\n"), "the timeline")
    result = program.run("show", "e.ndjson", "--timeline", "s.html", "--ladder", "s.svg")
    page = program.file("s.html").read_text()
    ensure(result.returncode == 0 and "2 packets have no bytes here" in page and "0x04 RC_SEND_ONLY" not in page, "of a trace")
    ensure("</svg>" in program.file("s.svg").read_text(), "both at once")
    result = program.run("show", "e.ndjson", "why", "--timeline", "s.html")
    ensure(result.returncode == 2 and "--timeline and a question" in result.stderr, result.stderr)


def on_terminal(program, *args, columns=80):
    """What the program prints on a terminal."""
    ours, its = os.openpty()
    termios.tcsetwinsize(its, (24, columns))
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    process = program.start(*args, stdin=subprocess.DEVNULL, stdout=its, env=env)
    os.close(its)
    text = b""
    try:
        while more := os.read(ours, 65536):
            text += more
    except OSError:  # the terminal is closed: the program has ended
        pass
    os.close(ours)
    ensure(process.wait(TIMEOUT_S) == 0, f"exits with {process.returncode}: {text.decode()}")
    return text.decode().replace("\r", "")


def check_run_tells(program):
    """On a terminal run tells what a scenario teaches, what happens (at most 200 events), and the verdict."""
    coloured = on_terminal(program, "run", "scenarios/04-lost-request.json")
    ensure(re.search(r"^\x1b\[0;31m#\S+ +lost .*\x1b\[0m$", coloured, re.MULTILINE), coloured)
    short = COLOUR.sub("", coloured)
    ensure("\n  - the local ACK timeout is 4.096 us" in short, short)
    ensure(re.search(r"^#\S+ +lost +RC_SEND_ONLY psn=100, by f1$", short, re.MULTILINE), short)
    ensure(re.search(r"\n> drop from=h1 next as f1\n(.|\n)*\n> run\n#", short), short)
    ensure("\nok: h1.cq.wc[0].status == SUCCESS" in short and "\npassed: " in short, short)
    long = COLOUR.sub("", on_terminal(program, "run", "scenarios/26-unreliable-link.json"))
    ensure(len(re.findall(r"^(?:#|\.\.\. )\d", long, re.MULTILINE)) == 200, f"{len(long.splitlines())} lines")
    ensure(re.search(r"\.\.\. and more: --events FILE has all .*\npassed: 3 expectations; \d+ ticks", long), long[-400:])
    ensure(on_terminal(program, "run", "scenarios/04-lost-request.json", "--quiet") == "", "--quiet")


def check_width(program):
    """Prose, help and ladders are as wide as the terminal, from 60 columns on."""
    words = ["RESP_RECV_LENGTH", "qp", "max_dest_rd_atomic", "profiles", "qp-states", "post_send", "rnr_nak"]
    for columns, widest in ((60, 60), (73, 73), (100, 100), (200, 100), (20, 60)):
        printed = [on_terminal(program, "explain", word, columns=columns) for word in words]
        printed.append(on_terminal(program, "-c", "source psn.lab; why", columns=columns).partition("\nidle at ")[2])
        printed.append(on_terminal(program, "run", "scenarios/07-lost-last.json", "--quiet", "--ladder", "-", columns=columns))
        for text in printed:
            prose = [line for line in text.splitlines() if not line.startswith(("example: ", "host ", "on ", "connect "))]
            long = [line for line in prose if len(re.sub(r"\x1b\[[0-9;]*m", "", line)) > widest]
            ensure(not long, f"{columns} columns: {long}")


def check_tables(program):
    """Tables are whole on a terminal of 60 columns: columns that do not fit come below, behind the first one."""
    lab = (PAIR + "rdma_create_event_channel h1 as ch; rdma_create_id h1.ch as id; alloc_mw h1.pd as mw; "
           "create_ah h1.pd dgid=h2 as ah; create_srq h1.pd as srq; drop next from=h1 as f1; "
           "machine m1 vfs=1; guest g1 on m1 vrnic\n")
    before = on_terminal(program, "-c", lab, columns=60)
    for subject in ("qp", "cq", "mr", "mw", "pd", "ah", "srq", "memory", "faults", "links", "hosts", "counters", "cm",
                    "event_channel", "device", "due", "centre"):
        whole_table = program.run("-c", f"{lab}show {subject}").stdout[len(program.run("-c", lab).stdout):]
        narrow = on_terminal(program, "-c", f"{lab}show {subject}", columns=60)[len(before):]
        ensure(whole_table and set(whole_table.split()) == set(narrow.split()), f"{subject}: {whole_table}{narrow}")
        ensure(all(len(line) <= 60 for line in narrow.splitlines()), f"{subject}: too long in\n{narrow}")
        if max(map(len, whole_table.splitlines())) <= 60:
            ensure(narrow == whole_table, narrow)


def check_listening(program):
    """A server that was not told otherwise is reached from its own machine alone."""
    for option, address in (("", "127.0.0.1"), ("listen=0.0.0.0", "0.0.0.0")):
        process = program.start("-c", f"host h1; program h1 rc_pingpong server -p 18624 {option}; run 1000s")
        end = time.monotonic() + TIMEOUT_S
        listening = []
        while not listening and time.monotonic() < end and process.poll() is None:
            lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
            listening = [line[1] for line in lines if line[3] == "0A" and line[1].endswith(f":{18624:04X}")]
            time.sleep(0.02)
        process.kill()
        process.wait(TIMEOUT_S)
        want = f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{18624:04X}"
        ensure(listening == [want], f"{option}: {listening}, and not {want}")


def check_convert(program):
    """Every scenario goes to .lab and back, and arrives byte for byte."""
    differ = []
    program.file("labs").mkdir()
    program.file("schema").symlink_to(ROOT / "schema")
    for scenario in sorted((ROOT / "scenarios").glob("*.json")):
        program.run("convert", str(scenario), "there.lab")
        program.run("convert", "there.lab", "labs/back.json")
        if program.file("labs/back.json").read_bytes() != scenario.read_bytes():
            differ.append(scenario.name)
    ensure(not differ, f"{', '.join(differ)}: not as convert writes it")


LARGE_LABS = {
    "hosts.lab": "scenario title=hosts\nswitch s1\n" +
                 "".join(f"host n{i}\nlink n{i} s1\n" for i in range(4096)) +
                 'refused says="a lab has at most 4096 hosts" { host more }\n'
                 'switch s2\n'
                 'refused says="all 4096 ports of s1 are in use" { link s2 s1 }\n'
                 'expect s1.ports == 4096 and n4095.port.state == "ACTIVE"\n',
    "qps.lab": "scenario title=qps\nhost a b c d e max_qp=16384 ram=4g\n"
               "on a,b,c,d,e {\n    alloc_pd as pd\n    create_cq cqe=16 as cq\n"
               "    repeat 13108 { create_qp pd type=rc send_cq=cq recv_cq=cq }\n}\n"
               "expect a.pd.users == 13108 and e.pd.users == 13108\n",
}


def check_large_labs(program):
    """A lab has 4,096 hosts on one switch, or 65,536 queue pairs, and says what is too much."""
    for name, text in LARGE_LABS.items():
        program.file(name).write_text(text)
        done = program.run("run", name, "--quiet")
        ensure(done.returncode == 0, f"{name}: {done.returncode}: {done.stderr[-500:]}")


def check_start(program):
    """A prompt is there at once."""
    shell = whole.Program("sh", program.directory)
    times = {program: [], shell: []}
    for _ in range(10):
        for who, line in ((program, "quit"), (shell, ":")):
            start = time.monotonic()
            who.run("-c", line)
            times[who].append(time.monotonic() - start)
    own, other = (min(times[who]) * 1000 for who in (program, shell))
    ensure(own < START_RATIO * other, f"takes {own:.1f} ms; a shell, {other:.1f} ms")


def check_address_space(program):
    """A lab takes the addresses that a limit leaves it, and says how many are too few."""
    for args in (["-c", "host h1"], ["run", "good.lab"], ["test", "good.lab"]):
        for gib, status, says in ((4, 0, ""), (0.5, 1, "it needs 1 GiB of address space")):
            done = program.run(*args, preexec_fn=lambda n=int(gib * (1 << 30)): whole.limit_memory(n))
            output = done.stderr + done.stdout
            ensure(done.returncode == status and says in output,
                   f"{args} with {gib} GiB: {done.returncode}: {output}")


def wait_until_running(pid):
    """Until the process has worked for RUNNING_S, however busy the machine is, or waits for a reader."""
    end = time.monotonic() + TIMEOUT_S
    asleep = 0
    while time.monotonic() < end:
        state, *rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        asleep = asleep + 1 if state == "S" else 0
        if sum(map(int, rest[10:12])) / os.sysconf("SC_CLK_TCK") >= RUNNING_S or asleep > ASLEEP_LOOKS:
            return
        time.sleep(0.01)
    raise Failure(f"process {pid} does not run")


def check_doctor(program):
    """doctor says what is missing, what that would enable, and how to get it."""
    def doctor(**environment):
        return subprocess.run([program.path, "doctor"], cwd="/", env={**os.environ, **environment}, text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=True).stdout
    tools = program.file("tools")
    tools.mkdir()
    bare = doctor(PATH=str(tools), RDMALAB_SCENARIOS=str(tools / "none"))
    for part, enables in (("tshark", "a look at exported pcapng files"), ("scenarios", '"scenarios", the course')):
        ensure(f"\n{part}: not found\n  it enables {enables}; " in bare, bare)
    (tools / "tshark").write_text("")
    (tools / "tshark").chmod(0o755)
    there = doctor(PATH=f"/nowhere:{tools}")
    ensure(f"\ntshark: {tools}/tshark\n" in there and f"\nscenarios: {ROOT}/scenarios\n" in there, there)


def check_collection(program):
    """The collection is where RDMALAB_SCENARIOS says, and where rdmalab was built, from any directory."""
    def scenarios(*words, **environment):
        return subprocess.run([program.path, "scenarios", *words], cwd="/", env={**os.environ, **environment}, text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=False)
    built = scenarios("run", "first-send")
    ensure(built.returncode == 0 and f"rdmalab open {ROOT}/scenarios/01-first-send.json" in built.stdout, built.stdout + built.stderr)
    own = program.file("own")
    own.mkdir()
    (own / "7-mine.json").write_text('{"title": "Mine alone", "steps": [{"do": "host", "names": ["h1"]}]}')
    (own / "8-broken.json").write_text('{"title": ')
    told = scenarios("all", RDMALAB_SCENARIOS=str(own))
    ensure(told.stdout.startswith("  7-mine ") and "8-broken" not in told.stdout, told.stdout + told.stderr)
    for nowhere in own / "not", own / "7-mine.json":
        lost = scenarios(RDMALAB_SCENARIOS=str(nowhere))
        ensure(lost.returncode == 1 and "cannot be read" in lost.stderr, lost.stdout + lost.stderr)


def check_help(program):
    """Each mode tells its exit statuses."""
    for mode in ["run", "test", "convert", "schema", "explain", "bench", "swarm", "doctor"]:
        result = program.run(mode, "--help")
        ensure(result.returncode == 0, f"{mode} --help exits with {result.returncode}")
        ensure("\nexit status: 0 " in result.stdout, f"{mode} --help: {result.stdout}")


def check_shell(program):
    """The shells complete what the program says: modes, options, their values, files, lines."""
    def offered(*words):
        return program.run("complete", "--", *words).stdout.split("\n")[:-1]
    ensure({"run", "test", "open", "swarm"} <= set(offered("")), offered(""))
    ensure(offered("exp") == ["explain", ":files lab json"], offered("exp"))
    ensure(offered("test", "--format", "") == ["text", "tap", "json", "github"], offered("test", "--format", ""))
    ensure(offered("test", "--junit", "") == [":files"], offered("test", "--junit", ""))
    ensure(offered("run", "--l") == ["--ladder"] and offered("run", "") == [":files json lab"], offered("run", "--l"))
    ensure("--drill" in offered("swarm", "--"), offered("swarm", "--"))
    ensure("RNR_NAK" in offered("explain", "RNR_"), offered("explain", "RNR_"))
    ensure(offered("-c", "host h1; post_se") == ["host h1; post_send"], offered("-c", "host h1; post_se"))
    ensure(offered("-c", '"host h1; post_se') == ["host h1; post_send"], "behind a quote")
    ensure(offered("check", "--timeout", "") == [], "a number is no file")
    ensure(offered("--memory", "") == [] and offered("--seed", "1", "--mem") == ["--memory"], offered("--memory", ""))
    ensure(offered("schema", "s") == ["scenario", "show"] and offered("scenarios", "") == ["run"], offered("schema", "s"))
    long = "expect " + "a == 1 and " * 40
    ensure(program.run("complete", "--", "-c", long).returncode == 0, "a line of many words")
    ensure(program.run("complete").returncode == 2, "usage")
    program.file("shell").mkdir()
    for name in "a.json", "b.txt":
        program.file("shell/" + name).write_text("")
    function = ROOT / "data/rdmalab.bash"
    bash = f"""source '{function}'; complete -p rdmalab >/dev/null || exit 1
        try() {{ COMP_WORDS=('{program.path}' "$@") COMP_CWORD=$#; _rdmalab; echo "${{COMPREPLY[@]}}"; }}
        try run ''; try te; try run --h; try test --junit b"""
    result = subprocess.run(["bash", "-c", bash], capture_output=True, text=True, check=False,
                            cwd=program.file("shell"))
    ensure(result.stdout.split("\n") == ["a.json", "test", "--hash", "b.txt", ""], f"{result}")


def outputs_of(program, mode, operand):
    """The options of a mode that print or write: flags, and those whose value is a file, which is - here."""
    def offered(*words):
        return program.run("complete", "--", mode, *words).stdout.split("\n")[:-1]
    flags, files = [], []
    for option in offered("-"):
        values = offered(option, "")
        if option == "--artifacts":
            continue  # a directory
        if values == [":files"]:
            files.append((option, "-"))
        elif values == offered(operand, ""):
            flags.append((option,))
    return flags, files


def check_outputs(program):
    """What takes the standard output stands there alone: each pair of options that print or write."""
    program.run("run", "shows.lab", "--events", "shows.ndjson")
    modes = [("run", "shows.lab"), ("check", "book/rxe-lost.pcap"), ("show", "shows.ndjson"), ("test", "good.lab"), ("swarm", "--seed=1")]
    n_together = n_refused = 0
    for mode, operand in modes:
        flags, files = outputs_of(program, mode, operand)
        ensure(files, f"{mode}: no option writes a file")
        for file in files:
            alone = program.run(mode, operand, *file)
            ensure("ram  profile" not in alone.stdout, f"{mode} {file}: {alone.stdout}")
            for other in flags + files:
                if other in (file, ("--help",)):
                    continue
                done = program.run(mode, operand, *file, *other)
                refused = done.returncode == 2 and done.stdout == "" and done.stderr.startswith("rdmalab: --")
                ensure(refused or done.stdout == alone.stdout, f"{mode} {file} {other}: {done.stderr}{done.stdout}")
                n_refused += refused
                n_together += not refused
    ensure(n_refused > 10 and n_together > 3, f"{n_refused} refused, {n_together} together")
    events = program.run("run", "shows.lab", "--events", "-")
    ensure(all(json.loads(line) for line in events.stdout.splitlines()) and "ram  profile" in events.stderr, events.stdout)


def check_memory(program):
    """A file for which there is no memory is an error."""
    program.file("big.lab").write_text("#" * 40_000_000)
    result = program.run("run", "big.lab", preexec_fn=lambda: whole.limit_memory(60_000_000))
    ensure(result.returncode == 1 and "big.lab: there is not enough memory" in result.stderr,
           f"{result.returncode}: {result.stderr}")


def end_by(program, number, *args):
    """Exit status and standard error of a run, after a signal.  Nobody reads its output."""
    process = program.start(*args)
    wait_until_running(process.pid)
    process.send_signal(number)
    process.wait(TIMEOUT_S)
    return process.returncode, process.stderr.read()


def check_interrupt(program):
    """^C ends a run with 130, SIGTERM with 143; the files tell what happened until then."""
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        for name in ("e.ndjson", "p.pcapng"):
            program.file(name).unlink(missing_ok=True)
        status, err = end_by(program, number, "run", "forever.lab", "--events", "e.ndjson", "--pcap", "p.pcapng")
        ensure(status == 128 + number and "interrupted" in err, f"{status}: {err}")
        ensure("--events e.ndjson: written up to the interruption at t=" in err, err)
        events = list(program.file("e.ndjson").open())[1:]  # after the header
        ensure(events and all(json.loads(line)["ev"] for line in events), "events")
        ensure(program.file("p.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a", "pcapng")


def check_interrupt_unread(program):
    """^C ends a program whose output nobody reads, and that is no write error."""
    for args in [["run", "loud.lab"], ["loud.lab"], ["-c", "source loud.lab"]]:
        status, err = end_by(program, signal.SIGINT, *args)
        ensure(status == 130 and "write error" not in err, f"{args}: {status}: {err}")


def check_abort(program):
    """A failed assertion, which is an abort, exits with 99 and the command that replays it."""
    status, err = end_by(program, signal.SIGABRT, "run", "forever.lab")
    ensure(status == 99 and "rdmalab run forever.lab --seed 1" in err, f"{status}: {err}")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def connected(port):
    """A connection to a port of this machine on which a program begins to listen."""
    end = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            ensure(time.monotonic() < end, "nobody listens")
            time.sleep(0.02)


LINE = b"0000:000003:000001:" + b"0" * 20 + b"ffff0a000002" + b"\0"  # of a pingpong: LID, QPN, PSN, GID
HELLO = b"verbs_peer 1 side=b gid=::ffff:10.0.0.2 psn=0x000001\n"
# A program, what the other side says before it says nothing more, the error.
SILENT = [
    ("rc_pingpong", b"", r"the other side is silent: for 300ms it has sent 0 of the 52 bytes"),
    ("rc_pingpong", LINE[:20], r"the other side is silent: for 300ms it has sent 20 of the 52 bytes"),
    ("ud_pingpong", LINE, r"the other side is silent: for 300ms it has not said that it is connected"),
    ("rc_pingpong", LINE + b"done\0", r"the other side is silent: for 300ms nothing was sent or received"),
    ("srq_pingpong", LINE * 3, r"the other side is silent: for 300ms it has sent 156 of the 13312 bytes"),
    ("verbs_peer", b"", r"the other side is silent: for 300ms it has not said who it is"),
    ("verbs_peer", HELLO[:9], r"the other side is silent: for 300ms it has not said who it is"),
    ("verbs_peer", HELLO, r"the other side is silent: for 300ms it has not said that it is here, too"),
]


def check_silent_peers(program):
    """A program does not wait for ever: for a client, an address, half a line, a message, as server and as client."""
    program.file("alone.lines").write_text("sync here\n")
    for name, said, error in SILENT:
        lines = " lines=alone.lines" if name == "verbs_peer" else ""
        port = free_port()
        process = program.start("-c", f"host h1 h2; link h1 h2; program h1 {name} server -p {port} timeout=300ms{lines}; run")
        with connected(port) as peer:
            if b"done" in said:
                peer.sendall(LINE)
                peer.recv(100)
                peer.sendall(b"done\0")
            else:
                peer.sendall(said)
            _, err = process.communicate(timeout=TIMEOUT_S)
        ensure(process.returncode == 1 and re.search(error, err), f"{name}, {said}: {process.returncode}: {err}")
        ensure(name != "verbs_peer" or "timeout= gives it more time" in err, err)
    for name in "rc_pingpong", "verbs_peer":
        lines = " lines=alone.lines" if name == "verbs_peer" else ""
        result = program.run("-c", f"host h1; program h1 {name} server -p {free_port()} timeout=300ms{lines}; run")
        ensure(result.returncode == 1 and "no client came within 300ms" in result.stderr, result.stderr)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            result = program.run("-c", f"host h1; program h1 {name} client 127.0.0.1 -p {port} timeout=300ms{lines}; run")
        ensure(result.returncode == 1 and "the other side is silent: for 300ms" in result.stderr, result.stderr)
    port = free_port()
    result = program.run("-c", f"host h1 h2; link h1 h2; program h1 uc_pingpong server -n 9 -p {port} timeout=300ms; "
                         f"program h2 uc_pingpong client -n 9 -p {port} timeout=300ms; "
                         "drop class=send from=h1 nth=5; run")
    ensure(result.returncode == 1 and re.search(r"for 300ms nothing was sent or received, after \d and \d of 9 messages",
                                                result.stderr), result.stderr)


if __name__ == "__main__":
    sys.exit(whole.main(__doc__, FILES, CASES, globals()))
