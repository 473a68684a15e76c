# SPDX-License-Identifier: MIT
"""Stages in which Linux judges our RDMA devices: virtual machines with a driver of drivers.py are hosts of a lab, and programs
of rdma-core and perftest run over it, unmodified, against somebody else.  Here are the cases that both drivers have."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "tests/tools"))
from tap_namespace import ip, make_namespace  # noqa: E402
from check_pyverbs import RESULT, SKIPS, unpack  # noqa: E402
from machines import CACHE, SKIPPED, Machine, archive_of, console_of, initramfs, port_vm, run, run_words, tell  # noqa: E402
import programs  # noqa: E402
from driver_judges import CLEAN, finds_planted, judge_programs, left_clean, quiet, self_test  # noqa: E402
from driver_programs import CONNECTED, FUNCTIONS, PERFTEST, PINGPONGS, UNRELIABLE, Side, plan  # noqa: E402
from driver_steps import DEVICES, GUEST_STEPS, HOST_STEPS, judge_steps, serve_ready  # noqa: E402

SECONDS_MAX = 400
PAUSE_S = 2  # that a guest gives the lab to look
PEER = "10.0.0.9"  # this machine, behind a tap device of the lab
H1, H2, H3 = "10.0.0.1", "10.0.0.2", "10.0.0.3"  # the hosts, in their order

# Receives that are left are flushed when programs of rdma_cm disconnect.
NO_ERROR = "expect count(cqe, host==h1, status!=SUCCESS, status!=WR_FLUSH_ERR) == 0"


class Guest(Machine):
    """A machine with a driver."""

    def __init__(self, linux, driver):
        super().__init__(f"vfio_user/{linux}")
        self.driver = driver

    def obstacle(self):
        return super().obstacle() or next(filter(None, (self.build([HERE / script]) for script in self.driver.builds)), None)

    def image(self, directory, script, address=H1, archives=(), files=None, core=""):
        """The initramfs, in a directory of its own.  @core: the rdma-core for which the provider is."""
        directory.mkdir(parents=True)
        files = {**(files or {}), **self.driver.files(self.linux, core), "test/rest": (script + "complaints\n").encode()}
        variables = f"{self.driver.variables()}ADDRESS={address}\nPAUSE={PAUSE_S}\n"
        initramfs(self, directory, variables, ["driver_guest.sh", "driver_rest.sh"], files, archives)


class Case:
    """A lab with such a machine as h1."""

    def __init__(self, options, guest, directory):
        self.options, self.guest, self.directory = options, guest, directory
        self.name, self.driver = directory.name, guest.driver

    def play(self, lines, command=("run",)):
        """(what the lab printed, how it ended)"""
        return run(self.options, self.guest, self.directory, lines, SECONDS_MAX, command)

    def lab(self, more="", h2="", h3=None):
        """@more: words of the host h1; @h2: those of h2; @h3: those of a second machine, if there is one."""
        hosts = {"h1": f" vm{self.driver.host}{more}", "h2": h2} | ({} if h3 is None else {"h3": f" vm{h3}"})
        return [*[f"host {name}{words}" for name, words in hosts.items()], "switch s1", *[f"link {name} s1" for name in hosts],
                "port tap rdl0 s1"]

    def side(self, name, gid_owner=H1):
        """A machine with the driver, as one of those who run programs."""
        return Side(name, f"-d {self.driver.device}", 1, gid_owner, gid_owner)

    def boots(self, host, sub):
        return port_vm(self.guest, host, self.directory / sub)

    def exec_script(self, text):
        path = self.directory / "programs.sh"
        path.write_text(text)
        return f"exec h2 sh {path} &"

    def quiet(self, text, also=None):
        return quiet(text, self.driver.harmless, also)

    @staticmethod
    def ended(status, printed, *texts, moments=("at the end",)):
        yield from left_clean(printed, *moments)
        yield status == 0, f"the lab ended with status {status}"
        yield all("vm-init: exit 0" in text for text in texts), "the guest came to its end"



def until_gid(index, gid):
    return f'until h1.gid[{index}] == "{gid}" timeout=60s'


def with_lab(case, names, lines_before=(), lines_after=(), script="", expects=(), h2="", moments=()):
    """Programs of the machine and of a host of the lab, where `exec` runs them."""
    guest = case.side("guest")
    host = Side("host", "", 0, H2, PEER)
    scripts, wanted = plan(names, guest, host)
    case.guest.image(case.directory / "a", f"load\n{script}{scripts['guest']}removes_driver\n")
    printed, status = case.play([*case.lab(h2=h2), *lines_before, case.boots("h1", "a"), *lines_after, until_gid(1, H1),
                                 case.exec_script(scripts["host"]), f"until {case.driver.gone} timeout={SECONDS_MAX}s quiet",
                                 *CLEAN, *case.driver.destroyed(), "run", "show live", *CLEAN, "show h1.port", NO_ERROR, *expects])
    text, _ = console_of(case.directory / "a")
    moments = (*moments, "when the driver is removed after the programs", "at the end")
    found = [*case.ended(status, printed, text, moments=moments), *judge_programs(wanted, printed + text), *case.quiet(text)]
    return found, printed, [text]


def case_lab(case, names):
    """Also: addresses come and go, and the driver is loaded again."""
    script = "asks_device\nchanges_addresses\nunloads\nloads_again\nip address add 10.0.9.9/16 dev eth0\n"
    looks = [*[until_gid(index, gid) for index, gid in ((2, "10.0.7.7"), (3, "10.0.8.8"), (2, ""))],
             "expect h1.device.objects.qp > 0 and h1.device.objects.cq > 0 and h1.device.objects.gid == 3",
             f"until {case.driver.gone} timeout=60s", "show h1.dsr" if not case.driver.is_ours else "show h1.device", *CLEAN,
             *case.driver.destroyed(),
             # This one tells that the machine is about to run programs: the servers of h2 wait for 20 s each.
             until_gid(2, "10.0.9.9")]
    found, printed, texts = with_lab(case, names, lines_after=looks, script=script, moments=("when the driver is removed",))
    lines = [line.strip() for line in texts[0].splitlines()]
    found += [("= devinfo 0 PORT_ACTIVE (4) 4096 (5) Ethernet" in lines, "ibv_devinfo shows the port"),
              ("= removed 0" in lines, "the driver can be removed"),
              ("= again 0" in lines, "the driver works when it is loaded again"),
              (any(re.match(r"= gids two fe80\S+ \S+0a00:0001 \S+0a00:0707 \S+0a00:0808$", line) for line in lines), "a GID comes with its address"),
              (any(re.match(r"= gids one fe80\S+ \S+0a00:0001 \S+0a00:0808$", line) for line in lines), "and goes")]
    return found, printed, texts


# Servers that `rdmalab exec` runs on h2; the machine has the clients.  The ports are different, as all wait at once.
EXECUTED = {"ib_write_bw": "ib_write_bw {d} -x {g} -F -s 4096 -n 200", "ibv_rc_pingpong": "ibv_rc_pingpong {d} -g {g} -c -n 100 -p 18600"}


def case_exec(case):
    """The lab ends with the programs: the last one waits until the machine has said all."""
    clients = "".join(f"do_it guest/client/{name} timeout 60 {words.format(d=f'-d {case.driver.device}', g=1)} {PEER}\n"
                      for name, words in EXECUTED.items())
    case.guest.image(case.directory / "a", f"load\n{FUNCTIONS}{clients}")
    (case.directory / "guest.lab").write_text("".join(f"{line}\n" for line in [*case.lab(), case.boots("h1", "a")]))
    console, events = case.directory / "a/console", case.directory / "events.ndjson"
    words = [f"h2 -- {words.format(d='', g=0)} :" for words in EXECUTED.values()]
    last = ["h2", "--", "sh", "-c", f"until grep -q 'vm-init: exit' {console}; do sleep 0.2; done"]
    command = [case.options.rdmalab, "exec", "--no-sandbox", "--lab", case.directory / "guest.lab", "--events", events,
               "--timeout", str(SECONDS_MAX), *" ".join(words).split(), *last]
    printed, status = run_words(case.guest, command, SECONDS_MAX)
    text, _ = console_of(case.directory / "a")
    wrote = sum('"fetch"' in line and "RDMA_WRITE" in line for line in events.read_text().splitlines()) if events.exists() else 0
    return [*case.ended(status, printed, text, moments=()),
            (status == 0, f"programs of `rdmalab exec` on h2 end with status 0: {', '.join(EXECUTED)}"),
            *judge_programs([f"guest/client/{name}" for name in EXECUTED], text), (wrote >= 200, f"the lab has seen {wrote} RDMA WRITEs"),
            *case.quiet(text)], printed, [text]


def case_steps(case):
    """Also: complaints that the machine plants in its kernel's log are found."""
    device = DEVICES[case.driver.name]
    serve_ready(PEER)
    case.guest.image(case.directory / "a", f"load\n{GUEST_STEPS.format(peer=PEER, device=case.driver.device)}complaints\nplants_complaints\n")
    printed, status = case.play([*case.lab(device.host), case.boots("h1", "a"), until_gid(1, H1), case.exec_script(HOST_STEPS), *device.looks(),
                                 "run", "show live", *CLEAN], command=())
    text, _ = console_of(case.directory / "a")
    return [*case.ended(status, printed, text), *judge_steps(device, printed, text), *case.quiet(text),
            *finds_planted(text, case.driver.harmless)], printed, [text]


def case_loss(case, names):
    return with_lab(case, names, lines_before=["set link h2-s1 loss=2%"], expects=["expect count(lost) > 20"])


def case_pair(case, names, other=None):
    """With a second machine, which has @other as its driver."""
    second = Guest(case.guest.linux, other or case.driver)
    one = case.side("one")
    two = Side("two", f"-d {second.driver.device}", 1, H3, H3)
    scripts, wanted = plan(names, one, two)
    case.guest.image(case.directory / "a", "load\n" + scripts["one"])
    second.image(case.directory / "b", "load\n" + scripts["two"], address=H3)
    printed, status = case.play([*case.lab(h3=second.driver.host), case.boots("h1", "a"), case.boots("h3", "b"), "run", "show live", *CLEAN])
    texts = [console_of(case.directory / sub)[0] for sub in "ab"]
    return [*case.ended(status, printed, *texts), *judge_programs(wanted, "".join(texts)),
            *case.quiet(texts[0]), *quiet(texts[1], second.driver.harmless)], printed, texts


# The GID that ib_core makes of the MAC is that of the machine of the lab: the multiplexer does not give it to a guest.  The
# driver reads the same error register after UNQUIESCE, without its lock for requests: there it may find that error, too.
NO_DEFAULT_GID = re.compile(r"vmw_pvrdma \S+: (failed to write request error reg: 22|could not create binding, error: -14"
                            r"|failed to activate device during link up)"
                            r"|infiniband vmw_pvrdma0: add_roce_gid GID add failed port=1 index=0")


# Both sides at once: a server, and a client of the other one's server.
def at_once(side, other):
    words = "timeout 60 rping {role} -a {address} -p 7300 -C 50 -v -V"
    return (f"do_it {side.name}/server/at_once calm {words.format(role='-s', address=side.address)} &\n"
            f"do_it {side.name}/client/at_once calm {words.format(role='-c', address=other.address)}\nwait\n")


def case_shared(case, names):
    """Two machines of one MAC: what the connection managers of one send does not reach the other, and rping works both ways at once."""
    second = Guest(case.guest.linux, case.driver)
    one = case.side("one")
    two = Side("two", f"-d {second.driver.device}", 1, H3, H3)
    scripts, wanted = plan(names, one, two)
    for side, other in ((one, two), (two, one)):
        scripts[side.name] += at_once(side, other)
        wanted += [f"{side.name}/{role}/at_once" for role in ("server", "client")]
    case.guest.image(case.directory / "a", "SHARED=yes\nload\n" + scripts["one"])
    second.image(case.directory / "b", "SHARED=yes\nload\n" + scripts["two"], address=H3)
    guests = [f"guest {name} on m1 shared vm{case.driver.host} ip={address}" for name, address in (("h1", H1), ("h3", H3))]
    printed, status = case.play(["machine m1 vfs=1 mux=full ip=10.0.0.20", *guests, f"host h2 ip={H2}", "switch s1", "link m1 s1", "link h2 s1",
                                 "port tap rdl0 s1", case.boots("h1", "a"), case.boots("h3", "b"), "run", "show live", "show m1.mux", *CLEAN,
                                 "expect h1.mac == h3.mac and m1.mux.taken == 0",
                                 "expect count(mux_route, host==h1, message==REQ) > 1 and count(mux_route, host==h3, message==REQ) > 1",
                                 "expect count(drop, reason==MUX_GID) == 0 and count(drop, reason==MUX_ID) == 0"])
    texts = [console_of(case.directory / sub)[0] for sub in "ab"]
    return [*case.ended(status, printed, *texts), *judge_programs(wanted, "".join(texts)),
            *case.quiet(texts[0], NO_DEFAULT_GID), *quiet(texts[1], second.driver.harmless, NO_DEFAULT_GID)], printed, texts


# Brings rxe up on the virtio-net of a machine.
RXE = f"""ip link set eth0 mtu 4200 up
ip address add {H3}/16 dev eth0
sleep 2
/usr/bin/rdma link add rxe0 type rxe netdev eth0
sleep 1
"""


def rxe_image(case, script, files=()):
    """The second machine, with rxe."""
    (case.directory / "b").mkdir()
    (case.directory / "b.sh").write_text(RXE + script)
    initramfs(case.guest, case.directory / "b", "", [case.directory / "b.sh"], files)


def case_rxe(case, names):
    """rxe of Linux has its GIDs in the order that Linux gives them, as our devices have."""
    one = case.side("driver")
    two = Side("rxe", "-d rxe0", 1, H3, H3)
    scripts, wanted = plan(names, one, two)
    case.guest.image(case.directory / "a", "load\n" + scripts["driver"])
    rxe_image(case, scripts["rxe"])
    printed, status = case.play([*case.lab(h3=""), case.boots("h1", "a"), case.boots("h3", "b"), "run", "show live", *CLEAN])
    texts = [console_of(case.directory / sub)[0] for sub in "ab"]
    return [*case.ended(status, printed, *texts), *judge_programs(wanted, "".join(texts)), *case.quiet(texts[0])], printed, texts


def python_tree(directory, root):
    """An archive with Debian's Python, pyverbs and its tests."""
    tree = directory / "python"
    version = subprocess.run(["/usr/bin/python3", "-c", "import sys; print('python%d.%d' % sys.version_info[:2])"],
                             check=True, capture_output=True, text=True).stdout.strip()
    shutil.copytree(f"/usr/lib/{version}", tree / f"usr/lib/{version}", ignore=shutil.ignore_patterns(
        "test", "tests", "idlelib", "lib2to3", "ensurepip", "tkinter", "config-*", "pydoc_data", "__pycache__"))
    shutil.copytree(root / "usr/lib/python3/dist-packages/pyverbs", tree / "usr/lib/python3/dist-packages/pyverbs")
    shutil.copytree(root / "tests", tree / "test/tests", ignore=shutil.ignore_patterns("test_mlx5*", "test_efa*", "*.gz"))
    (tree / "usr/bin").mkdir()
    shutil.copy(pathlib.Path("/usr/bin/python3").resolve(), tree / "usr/bin/python3")
    for file in [tree / "usr/bin/python3", *tree.rglob("*.so")]:
        needs = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+) \(", needs):
            place = tree / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    return archive_of(tree)


def case_tests(case, host, passed_min, named, fail, said_by_driver=None, skips=None):
    """@host: words of the host; at least @passed_min pass, and all that are @named; those that @fail do so for a known reason.
    @skips: what those that are skipped say, if that is judged."""
    root, why_not = case.options.pyverbs
    if not root:
        return f"skipped: {why_not}"
    archive = python_tree(case.directory, root)
    case.guest.image(case.directory / "a", "load\ntests_of_pyverbs\n", archives=[archive])
    printed, status = case.play([*case.lab(host), case.boots("h1", "a"), "run", "show live", *CLEAN])
    text, _ = console_of(case.directory / "a")
    said = "\n".join(line[9:].rstrip() for line in text.splitlines() if line.startswith("pyverbs: "))
    results = {name: how for name, _, _, how in RESULT.findall(said)}
    passed = {name for name, how in results.items() if how == "ok"}
    failed = {name for name, how in results.items() if how in ("FAIL", "ERROR")}
    strange = [f"{name}: {how}" for name, how in results.items() if skips is not None and how.startswith("skipped") and
               not any(re.search(pattern, how) for pattern, _ in [*SKIPS, *skips])]
    found = [*case.ended(status, printed, text), *case.quiet(text, said_by_driver),
             (len(passed) >= passed_min, f"{len(passed)} tests of pyverbs pass"),
             *[(name in passed, f"pyverbs {name} passes") for name in sorted(named)],
             (not strange, f"tests are skipped for reasons that we know {strange or ''}"),
             (failed == set(fail), f"only those fail of which we know why {sorted(failed ^ set(fail)) or ''}")]
    return found, printed, [text]


def fetched(packages, directory):
    """The packages of this Debian, unpacked in @directory and not installed; None: they cannot be had, or NO_INSTALL is in the
    environment."""
    if not directory.exists():
        if os.environ.get("NO_INSTALL"):
            return None
        scratch = directory.with_suffix(".new")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        subprocess.run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", *packages], cwd=scratch, capture_output=True,
                       check=False)
        found = list(scratch.glob("*.deb"))
        if len(found) < len(packages):
            return None
        for package in found:
            subprocess.run(["dpkg-deb", "-x", package, scratch], check=True)
        scratch.rename(directory)
    return directory


def kernel_modules(guest, *names):
    """{path: bytes} of those modules of the kernel, in their order, which add_modules of driver_modules.sh adds."""
    version = next((guest.cache / "kernel/lib/modules").iterdir()).name
    modules = []
    for name in names:
        shown = subprocess.run(["modprobe", "-d", guest.cache / "kernel", "-S", version, "--show-depends", name],
                               capture_output=True, text=True, check=True).stdout
        modules += [module for module in re.findall(r"^insmod (\S+)", shown, re.MULTILINE) if module not in modules]
    return {f"test/modules/{i:02}-{pathlib.Path(module).name}": pathlib.Path(module).read_bytes() for i, module in enumerate(modules)}


NO_NVME = "skipped: apt cannot download nvme-cli"


def nvme_files(guest, tree):
    """{path: bytes} of the program nvme with its libraries, and of the kernel's modules."""
    own = tree / "usr/lib/x86_64-linux-gnu"
    needs = subprocess.run(["ldd", tree / "usr/sbin/nvme"], capture_output=True, text=True, check=True,
                           env={"LD_LIBRARY_PATH": str(own), "PATH": "/usr/bin:/bin"}).stdout
    libraries = [pathlib.Path(place) for place in re.findall(r"(/\S+) \(", needs)]
    files = {f"lib/x86_64-linux-gnu/{library.name}": library.read_bytes() for library in libraries if "ld-linux" not in library.name}
    files["usr/bin/nvme"] = (tree / "usr/sbin/nvme").read_bytes()
    return {**files, **kernel_modules(guest, "nvme-rdma", "null_blk", "nvmet-rdma")}


def case_nvme(case, host, other=None, loses=False):
    """@host: words of the host; @other: the driver of the machine with the disk, or None: it has rxe.  @loses: the lab cuts the
    network until queue pairs have given up, and Linux connects again."""
    tree = case.options.nvme
    if not tree:
        return NO_NVME
    files = nvme_files(case.guest, tree)
    part = f"TARGET={H3}\nSERVES_S=240\nLOSES={'yes' * loses}\n" + "".join((HERE / name).read_text() for name in ("driver_modules.sh", "driver_nvme.sh"))
    case.guest.image(case.directory / "a", f"load\n{part}uses_disk\nremoves_users\nremoves_driver\n", files=files)
    serves = f"{part}serves_disk\n"
    if other:
        Guest(case.guest.linux, other).image(case.directory / "b", f"load\n{serves}", address=H3, files=files)
    else:
        rxe_image(case, serves, files)
    cut = [until_gid(2, "10.0.7.7"), "set link h1-s1 loss=100%", "until count(cqe, host==h1, status==RETRY_EXC_ERR) > 0 timeout=60s",
           "set link h1-s1 loss=0%"] if loses else []
    printed, status = case.play([*case.lab(host, h3=f"{other.host}{host}" if other else ""), case.boots("h1", "a"), case.boots("h3", "b"), *cut,
                                 "run", "show live", *CLEAN])
    texts = [console_of(case.directory / sub)[0] for sub in "ab"]
    said = [line.strip() for line in texts[0].splitlines()]
    wanted = ["= nvme discovers 1", "= nvme connects 0", "= nvme writes 0", "= nvme reads 0", "= nvme disconnects 0", "= removed 0"]
    wanted += ["= nvme writes again 0", "= nvme reads again 0"] if loses else []
    found = [*case.ended(status, printed, *texts), *case.quiet(texts[0]), *[(what in said, what[2:]) for what in wanted]]
    return [*found, *(quiet(texts[1], other.harmless) if other else ())], printed, texts


RDS_MESSAGES = 700
RDS_SAYS = re.compile(r"RDS/IB: \S+: (added|removed)|(Registered|Unregistered) RDS/infiniband transport")


def case_rds(case, host):
    """RDS between two machines with the driver, which is removed under it: Linux's own rds_rdma cannot be removed without a
    complaint once it has received anything, with rxe neither.  @host: words of both hosts."""
    program = programs.rds(case.directory / "driver_rds").read_bytes()
    files = {**kernel_modules(case.guest, "rds_rdma"), "test/driver_rds": program}
    part = (HERE / "driver_modules.sh").read_text() + "add_modules\n"
    case.guest.image(case.directory / "a", f"load\n{part}sleep 5\ntimeout 100 driver_rds client {H1} {H3} {RDS_MESSAGES} 2>&1 | sed 's/^/= rds client /'\n"
                     f"removes_driver\n", files=files)
    case.guest.image(case.directory / "b", f"load\n{part}timeout 100 driver_rds server {H3} {RDS_MESSAGES} 2>&1 | sed 's/^/= rds server /'\nsleep 3\nremoves_driver\n",
                     address=H3, files=files)
    printed, status = case.play([*case.lab(host, h3=f"{case.driver.host}{host}"), case.boots("h1", "a"), case.boots("h3", "b"), "run",
                                 "show live", *CLEAN, "show h1.port", "expect count(ctrl_execute, host==h1, cmd==CREATE_QP, rsp==OK) > 1",
                                 f"expect count(cqe, host==h1, status==SUCCESS) > {RDS_MESSAGES}"])
    texts = [console_of(case.directory / sub)[0] for sub in "ab"]
    said = [line.strip() for text in texts for line in text.splitlines()]
    wanted = [f"= rds {side} {RDS_MESSAGES} right of {RDS_MESSAGES}" for side in ("client", "server")]
    return [*case.ended(status, printed, *texts), *[(what in said, what[2:]) for what in wanted],
            *[check for text in texts for check in (*case.quiet(text, RDS_SAYS), ("= removed 0" in text, "the driver can be removed"))]], printed, texts


def arguments(text, cases, quick):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--rdmalab", type=pathlib.Path, default=TOP / "build/gcc/rdmalab")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help=f"{' and '.join(quick)}, which is the standard")
    which.add_argument("--full", action="store_true", help="all cases")
    which.add_argument("--case", nargs="+", choices=[*cases, *[f"{name}-debug" for name in cases if name.endswith("/7.3")]],
                       help="these; /7.3-debug is the kernel of debug-kernel")
    parser.add_argument("--list", action="store_true", help="only print the programs")
    which.add_argument("--self-test", action="store_true", help="only judge wrong results")
    parser.add_argument("--keep", action="store_true", help="leave what was printed")
    return parser.parse_args()


def prepare(options, names, driver, directory):
    """Makes a namespace with a tap device.  Returns {kernel: the reason if its cases are skipped, or None}."""
    # Before the namespace, which has no way out.
    options.pyverbs = unpack(options.rdmalab.resolve().parent) if any(name.startswith("tests/") for name in names) else None
    options.nvme = fetched(["nvme-cli", "libnvme1"], CACHE / "nvme-cli") if any(name.startswith("nvme") for name in names) else None
    why = {linux: Guest(linux, driver).obstacle() for linux in {name.split("/")[1] for name in names}}
    shutil.rmtree(directory, ignore_errors=True)
    if all(why.values()):
        return why
    no_tap, _ = make_namespace()
    if not no_tap:
        ip("tuntap", "add", "rdl0", "mode", "tap")
        ip("link", "set", "lo", "up")
        ip("address", "add", f"{PEER}/16", "dev", "rdl0")
        ip("link", "set", "rdl0", "mtu", "4300", "up")
    return {linux: reason or (no_tap and f"skipped: {no_tap}") for linux, reason in why.items()}


def main(text, driver, play, cases, quick, directory):
    """@text: what the stage is; @play: {what: function of a Case}; @cases: names like "lab/7.3".  Returns the exit status."""
    options = arguments(text, cases, quick)
    if options.self_test:
        n_wrong, n = self_test()
        print(f"{n - n_wrong} passed, {n_wrong} failed, 0 skipped")
        return int(n_wrong > 0)
    if options.list:
        print(*[f"{name}: {words}" for name, words in {**PINGPONGS, **PERFTEST, **(UNRELIABLE if driver.is_ours else {}), **CONNECTED}.items()], sep="\n")
        return 0
    names = cases if options.full else options.case or quick
    why = prepare(options, names, driver, directory)
    passed = failed = skipped = 0
    for name in names:
        what, linux = name.split("/")
        place = directory / f"{what}-{linux}"
        reason = why[linux]
        if not reason:
            place.mkdir(parents=True)
            result = play[what](Case(options, Guest(linux, driver), place))
            reason = result if isinstance(result, str) else None
        if reason:
            print(f"{name}: {reason}", flush=True)
            skipped += 1
            continue
        found, printed, texts = result
        n = tell(name, found, printed, *texts)
        passed, failed = passed + len(found) - n, failed + n
    if not failed and not options.keep:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return int(failed > 0) if passed + failed else SKIPPED
