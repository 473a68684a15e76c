# SPDX-License-Identifier: MIT
"""The two sides of a case, as shell text for the virtual machine (see guest.sh).

Each peer has setup(), done once; before(case) and after(case), around each case; command(case, role),
which is run as "server" or "client"; and ready(case), the condition that the client waits for.  All
that is known about rdmalab's commands is in the templates of Lab.
"""
import re
import shlex
from dataclasses import dataclass

import connections
import verbs_lab
import verbs_likes
import verbs_lines
import verbs_random
import cases
from cases import DEVICE_MTU, EXAMPLES, PERFTEST, random_truth
from unmodified import TCP_ADDRESS, joined, words

LINGER_MS = 500  # several of rxe's retransmissions; see shim.c
RELEASES = {"7.3": "rxe-7.3"}  # of Linux, beside that of Debian 12: the profile of its rxe
DEVICE = "rdl0"  # of a program on a host of the lab
SIDE = {"server": "a", "client": "b"}  # of verbs_peer: a waits for the connection of b


def lines_name(case):
    """The file of verbs_peer's lines, which both sides of a case read."""
    if case.program == "random":
        return f"random-{'_'.join(str(seed) for seed in case.seeds)}.lines"
    return f"{case.ip}-mtu{case.mtu}-loss{case.loss}{'' if case.big else '-no1m'}.lines"


def sections_of(case, lab):
    """Those of verbs_lines.py that the case consists of."""
    chance = verbs_likes.BY_CHANCE.get(lab.like, {})
    return [s.name for s in verbs_lines.sections()
            if s.name in lab.can and s.name not in chance and (case.big or not s.big)]


def lines_of(case, lab):
    if case.program == "random":
        return verbs_random.file_of(case.seeds)
    return verbs_lines.file_of(verbs_lines.To(case.mtu, case.loss, case.ip), sections_of(case, lab))


def verbs_peer(case, role, device, gid):
    return ["verbs_peer", "-d", device, "-g", gid, SIDE[role], f"/test/{lines_name(case)}",
            TCP_ADDRESS if role == "client" else ""]


@dataclass
class Station:
    """One end of the network."""
    mac: str
    ipv4: str
    ipv6: str  # link-local, made from the MAC
    wide: str = ""  # IPv6 address for programs of rdma_cm, which a program can use without a scope
    nobody: str = ""  # an address of its network that nobody has

    def address(self, ip):
        """The address for programs of rdma_cm."""
        return self.ipv4 if ip == "ipv4" else self.wide


class Rxe:
    """The programs of rdma-core on rxe of Linux."""

    def __init__(self, device, interface, me, peer):
        self.device, self.interface, self.me, self.peer = device, interface, me, peer

    def setup(self):
        return f"interface {self.interface} {self.me.mac} {self.me.ipv4}/24 {DEVICE_MTU}\n" + self.add()

    def add(self):
        return (f"rxe {self.device} {self.interface}\n"
                f"{self.device}_ipv4=$(gid_index {self.device} ipv4)\n"
                f"{self.device}_ipv6=$(gid_index {self.device} ipv6)\n")

    def remove(self):
        return f"rdma link delete {self.device}\n"

    def before(self, case):
        """With loss, the kernel knows the peer's MAC: it fails at once when it gets no answer to ARP."""
        text = f"ip link set {self.interface} mtu {case.device_mtu}\n"
        if case.loss:
            text += (f"ip neighbour replace {getattr(self.peer, case.ip)} lladdr {self.peer.mac} "
                     f"nud permanent dev {self.interface}\n")
        return text

    def after(self, case):
        if not case.loss:
            return ""
        return f"ip neighbour del {getattr(self.peer, case.ip)} dev {self.interface}\n"

    def ready(self, case):
        return "true" if case.program == "ping" or self.waits(case, "server") else "listening"

    @staticmethod
    def waits(case, role):
        """Returns True if perftest refuses a port that is down.  A server's is down until the lab of its client has begun."""
        return case.is_perftest() and role == "server"

    def command(self, case, role):
        if case.program == "ping":
            return self.ping(case)
        if case.is_example() or case.is_perftest():
            first = ["when", "active", self.device, "--"] if self.waits(case, role) else []
            return joined(first + words(case, role, self.device, f"${self.device}_{case.ip}"))
        if case.program in ("verbs", "random"):
            return joined(verbs_peer(case, role, self.device, f"${self.device}_{case.ip}"))
        settings = []
        if case.loss:
            settings.append(f"LINGER_MS={LINGER_MS}")
        if case.first_psn >= 0:
            settings.append(f"FIRST_PSN={case.first_psn:#x}")
        command = ["env", "LD_PRELOAD=/test/shim.so", *settings] if settings else []
        command += [case.original(), "-d", self.device, "-g", f"${self.device}_{case.ip}",
                    "-s", case.size, "-n", case.iterations, case.options]
        if case.has_mtu():
            command += ["-m", case.mtu]
        if case.program == "rc_pingpong":
            command.append("-c")
        if role == "client":
            command.append(TCP_ADDRESS)
        return joined(command)

    def ping(self, case):
        """To the lab's first host.  Of IPv6 only the link-local address is in use."""
        if case.client == "lab":  # answering is the kernel's work
            return "sleep 3"
        to = self.peer.ipv4 if case.ip == "ipv4" else f"{self.peer.ipv6}%{self.interface}"
        return f"ping -c 3 -W 2 {to}"


class SecondRxe(Rxe):
    """Plays the lab, with another rxe device behind a wire; netem loses the frames of both.

    It proves everything else: machine, cases, loss, judgement, report.
    """
    title = "a second rxe device in the place of rdmalab"
    programs = {"rc_pingpong", "uc_pingpong", "ud_pingpong", "srq_pingpong", "verbs", "random", "speed"}
    can = [section.name for section in verbs_lines.sections()]

    def __init__(self, like="rxe"):
        """@like: the profile of the rxe that runs here."""
        self.like = like
        one = Station("02:00:00:00:01:01", "10.0.1.1", "fe80::ff:fe00:101", nobody="10.0.1.77")
        two = Station("02:00:00:00:01:02", "10.0.1.2", "fe80::ff:fe00:102")
        super().__init__("rxe2", "wire2", two, one)
        self.rxe = Rxe("rxe1", "wire1", one, two)

    def wire(self):
        return ("ip link add wire1 type veth peer name wire2\n" + self.rxe.setup() + super().setup() +
                f"join wire1 {self.peer.ipv4} wire2 {self.me.ipv4}\n")

    def setup(self):
        return ""  # the wire is there anyway, for the baseline

    def before(self, case):
        lines = [f"tc qdisc replace dev {i} root netem loss {case.loss}%{self.more(case)}\n"
                 for i in ("wire1", "wire2") if case.loss]
        return super().before(case) + "".join(lines)

    @staticmethod
    def more(case):
        return f" duplicate {case.loss}%" if case.program == "random" else ""

    def after(self, case):
        if not case.loss:
            return ""
        return (super().after(case) + f"tc -s qdisc show dev wire1 >/out/{case.name()}/lost\n"
                f"tc -s qdisc show dev wire2 >>/out/{case.name()}/lost\n"
                "tc qdisc del dev wire1 root\ntc qdisc del dev wire2 root\n")

    def likes(self, _case):
        """What each side of verbs_peer is like."""
        return {"a": self.like, "b": self.like}

    @staticmethod
    def frames_lost(text):
        return sum(int(n) for n in re.findall(r"dropped (\d+)", text))


class Lab:
    """rdmalab on a tap interface that rxe sits on.  One process for each case."""
    title = "rdmalab"
    can = verbs_lab.CAN
    programs = {"rc_pingpong", "uc_pingpong", "ud_pingpong", "srq_pingpong", "verbs", "random", "speed", "ping",
                *EXAMPLES, *PERFTEST, connections.PROGRAM}
    TAP = "rdl0"
    TRACE, FRAMES = "lab.ndjson", "lab.pcapng"  # of random programs; kept where the transcripts differ
    STATION = Station("02:00:00:00:00:01", "10.0.0.1", "fe80::ff:fe00:1", "2001:db8::1")  # what the first host gets
    GID_INDEX = {"ipv4": 0, "ipv6": 1}

    # What the lab is told.  `run` ends with the program, which answers retransmissions for a while
    # after it has printed its result.
    SCRIPT = """\
scenario seed={seed}
{record}
host h1 ip={address}{profile}
switch s1
link h1 s1
port tap {tap} s1
{lossy}{action}
{end}
"""
    SERVER = "program h1 {program} server {options}"  # verbs_peer's transcript goes to standard output
    CLIENT = "program h1 {program} client {tcp} {options}"
    OPTIONS = "-s {size} -n {iterations} -g {gid}"
    MTU = " -m {mtu}"
    VERBS_OPTIONS = "lines=/test/{lines} -g {gid}"  # the server is side a
    FIRST_PSN = " psn={psn}"
    UNCHECKED = " nocheck"  # as the original without -c
    SETTLE = "run 200ms"  # the kernel needs a moment to see that its tap interface is connected
    WAIT = "run {seconds}s\nexpect h1.program.done"
    # The last that rxe does without loss is to destroy a queue pair in the middle of a READ of its memory.
    # That waits for the frames it has sent, three seconds when nobody takes them from the tap interface.
    STAY = "run 700ms"
    PING = "ping h1 {to} count=3"
    IDLE = "run {ms}ms"
    # The host knows the kernel's MAC before frames are lost, as the kernel knows the host's: each of
    # them asks three times only, and then a connection cannot be made.
    LOSSY = SETTLE + "\nping h1 {to}\nset link h1-s1 loss={loss}%\n"
    # Of an unmodified program, beside what is lost by chance.  A fault that meets nothing makes `rdmalab exec` fail.
    LOSE_THESE = "drop next nth=3 class=request from={client} as f1\ndrop next nth=3 class=answer from={server} as f2\n"
    RECORD_ALL = "record keep=512k frames=128m"
    SHOW_LOST = "show link h1-s1"
    LOST = re.compile(r"^ *lost +(\d+)", re.MULTILINE)

    def __init__(self, like="rxe"):
        """@like: the profile of the rxe that runs here."""
        self.like = like
        me = Station("02:00:00:00:01:00", "10.0.0.100", "fe80::ff:fe00:100", "2001:db8::100", "10.0.0.77")
        self.rxe = Rxe("rxe0", self.TAP, me, self.STATION)

    def setup(self):
        return f"ip tuntap add {self.TAP} mode tap\n" + self.rxe.setup()

    def before(self, case):
        if case.executed and case.baseline:
            return ""
        return f"cat >/tmp/case.lab <<'END'\n{self.script(case)}END\n"

    def after(self, case):
        if not case.executed or case.baseline:
            return ""
        return f"traffic {case.name()} {self.TRACE}\n"

    def ready(self, case):
        attached = f"active {self.rxe.device}" if case.executed else f"carrier {self.TAP}"
        return attached if case.program == "ping" else f"listening && {attached}"

    def command(self, case, role):
        if case.executed:
            return self.executed(case, role)
        if case.program == "random":
            return f"rdmalab run /tmp/case.lab --no-sandbox --events /out/{case.name()}/{self.TRACE} --pcap /out/{case.name()}/{self.FRAMES}"
        return "rdmalab --no-sandbox /tmp/case.lab"

    def executed(self, case, role):
        """The program runs on the lab's host.  Of perftest the client must come behind the server, which waits for the
        lab.
        """
        command = ["rdmalab", "exec", "--allow", "ports", "--events", f"/out/{case.name()}/{self.TRACE}",
                   "--lab", "/tmp/case.lab", "h1", "--"]
        gid = self.GID_INDEX[case.ip]
        if case.program == "verbs":
            return joined(command + verbs_peer(case, role, DEVICE, gid))
        if role == "client":
            command += ["when", "listening", "--"]
        return joined(command + words(case, role, DEVICE, gid))

    def start(self, case):
        """The line that starts the program."""
        gid = self.GID_INDEX[case.ip]
        if case.program in ("verbs", "random"):
            program = "verbs_peer"
            options = self.VERBS_OPTIONS.format(lines=lines_name(case), gid=gid)
        else:
            program = case.original().removeprefix("ibv_")
            options = self.OPTIONS.format(**vars(case), gid=gid)
            if case.has_mtu():
                options += self.MTU.format(mtu=case.mtu)
        if case.options:
            options += " " + case.options
        if case.program == "speed":
            options += self.UNCHECKED
        if case.first_psn >= 0:
            options += self.FIRST_PSN.format(psn=case.first_psn)
        if case.client == "lab":
            return self.SETTLE + "\n" + self.CLIENT.format(program=program, tcp=TCP_ADDRESS, options=options)
        return self.SERVER.format(program=program, options=options)

    def script(self, case):
        action = "" if case.executed else self.start(case) + "\n" + self.WAIT.format(seconds=case.seconds_max())
        if case.program == "ping":
            action = self.ping(case)
        elif case.program in ("verbs", "random") and not case.executed and case.client == "rxe" and not case.loss:
            action += "\n" + self.STAY
        lossy, end = "", ""
        if case.loss:
            lossy = self.LOSSY.format(to=getattr(self.rxe.me, case.ip), loss=case.loss)
            end = "" if case.executed else self.SHOW_LOST
        if case.program == "random" and case.loss:
            lossy += "".join(line + "\n" for line in self.faults(case))
        if case.is_perftest() and case.loss:
            node = {"lab": "h1", "rxe": self.TAP}
            lossy += self.LOSE_THESE.format(client=node[case.client], server=node[case.server()])
        record = {"speed": "record off", "random": self.RECORD_ALL}.get(case.program, self.RECORD_ALL if case.executed else "")
        return self.SCRIPT.format(seed=case.size + case.mtu, record=record, address=self.STATION.ipv4,
                                  profile=f" profile={self.profile(case)}" if case.profile else "", tap=self.TAP, lossy=lossy,
                                  action=action, end=end)

    # Of programs of rdma_cm.  A host of its own for each case: Linux remembers the queue pairs of a GUID for a while.
    CONNECTED = """\
record keep=512k
host h1 mac={mac} ip={station.ipv4} ip6={station.wide} profile={profile} on_demand ram=256m max_qp=2048 max_cq=4096
switch s1
link h1 s1
port tap {tap} s1
{faults}{settle}
{action}
run 300ms
show cm
show h1
"""
    CONNECTED_SERVER = "exec h1 sh /tmp/server.sh &\n{ready}\nexec h1 touch /tmp/serving\nuntil program1.done timeout={seconds}s"
    CONNECTED_CLIENT = "exec h1 sh /tmp/client.sh"
    # The kernel of a host sets QPN 1 up when a program opens an event channel.  There is no h1.id1 before.
    READY = {"listening": "until count(qp_state, host==h1, to==RTS) >= 1 timeout=20s\nrun 200ms\nuntil h1.id1.state == LISTEN timeout=10s",
             "grouped": "until count(cm_event, event==MULTICAST_JOIN) >= 1 timeout=10s\nrun 300ms"}

    def connected_script(self, case):
        """A row of connections.py."""
        n = [c.name() for c in cases.connected()].index(case.name())
        node = {"lab": "h1", "rxe": self.TAP}
        action = self.CONNECTED_CLIENT if case.client == "lab" else self.CONNECTED_SERVER.format(
            ready=self.READY[connections.row_of(case).ready], seconds=case.seconds_max())
        return self.CONNECTED.format(mac=f"02:00:00:00:02:{n:02x}", station=self.STATION, profile=self.profile(case), tap=self.TAP,
                                     faults=connections.faults_of(case, node[case.server()], node[case.client]),
                                     settle=self.SETTLE, action=action)

    @staticmethod
    def faults(case):
        """Of a random program: some frames of either side come twice, and some late."""
        dice = verbs_random.Dice(case.seeds[0])
        at = {"h1": 0, Lab.TAP: 0}
        for i in range(20 * len(case.seeds)):
            side = dice.pick(list(at))
            at[side] += dice.between(1, 40)
            kind = dice.pick(["duplicate", "duplicate", "delay"])
            late = f" by={dice.between(1, 3000)}us" if kind == "delay" or dice.chance(50) else ""
            yield f"{kind} from={side} nth={at[side]}{late} as f{i} optional"

    def ping(self, case):
        if case.client == "rxe":
            return self.IDLE.format(ms=4000)
        return self.SETTLE + "\n" + self.PING.format(to=getattr(self.rxe.me, case.ip))

    def profile(self, case):
        """That of the lab's host.  A case that asks for rxe means the one that runs here."""
        return self.like if case.profile == "rxe" else case.profile

    def likes(self, case):
        """What each side of verbs_peer is like."""
        mine = SIDE["client" if case.client == "lab" else "server"]
        return {side: self.profile(case) if side == mine else self.like for side in SIDE.values()}

    def frames_lost(self, text):
        return sum(int(n) for n in self.LOST.findall(text))


def shell_of(case, lab, baseline):
    """The shell text of one case between @lab and its peer, or between the devices of @baseline."""
    if case.is_connection():
        return connected_of(case, lab, baseline)
    if case.is_example():
        return example_of(case, lab, baseline)
    lab = baseline if case.baseline else lab
    return between(case, lab, {"rxe": lab.rxe, "lab": lab})


def written(path, text):
    """Shell text that writes @text to the file @path."""
    return f"cat >{path} <<'END'\n{text}END\n"


def connected_of(case, lab, baseline):
    """Programs of rdma_cm.  Two on rxe are on two devices, if the client binds its address; else it stays on that of the server."""
    rxe = baseline.rxe if case.baseline else lab.rxe
    stations = {"lab": rxe.me, "rxe": baseline.me} if case.baseline else {"lab": lab.STATION, "rxe": rxe.me}
    address = stations[case.server()].address(case.ip)
    server, client = (connections.Place(address, stations[who].address(case.ip), rxe.me.nobody, case.ip)
                      for who in (case.server(), case.client))
    text = f"ip neighbour flush dev {rxe.interface}\n"
    if not case.baseline:
        text += f"address6 {rxe.interface} {rxe.me.wide} {rxe.device}\n"
    text += "".join(written(f"/tmp/{role}.sh", script) for role, script in connections.scripts(case, server, client))
    commands = {role: f"sh /tmp/{role}.sh" for role in ("server", "client")}
    ready = {"listening": "cm_listening", "grouped": f"cm_grouped {rxe.interface}"}[connections.row_of(case).ready]
    if not case.baseline:
        text += written("/tmp/case.lab", lab.connected_script(case))
        commands["client" if case.client == "lab" else "server"] = (
            f"rdmalab run /tmp/case.lab --no-sandbox --events /out/{case.name()}/{lab.TRACE}")
    if not case.baseline and case.client == "rxe":
        ready = "[ -e $SERVING ]"
    call = " ".join(shlex.quote(word) for word in ("connected", case.name(), str(case.seconds_max()), ready, *commands.values()))
    return (text + "rdma resource show >$RESOURCES\n" + call + f"\nleaks {case.name()}\n" +
            (f"traffic {case.name()} {lab.TRACE}\n" if not case.baseline else ""))


def example_of(case, lab, baseline):
    """An example takes the machine's first device, so there is only one then: on both sides, or on that of the lab's
    peer.
    """
    peer = baseline.rxe if case.baseline else lab.rxe
    others = [device for device in (baseline.rxe, baseline, lab.rxe) if device.device != peer.device]
    sides = {"rxe": peer, "lab": peer if case.baseline else lab}
    return ("".join(device.remove() for device in others) + between(case, lab, sides) +
            "".join(device.add() for device in others))


def between(case, lab, sides):
    server, client = sides[case.server()], sides[case.client]
    call = ["calibrated" if case.is_perftest() else "pair", case.name(), str(case.seconds_max()), server.ready(case)]
    call = " ".join(shlex.quote(word) for word in call)
    return (lab.rxe.before(case) + lab.before(case) +
            f'{call} "{server.command(case, "server")}" "{client.command(case, "client")}"\n' +
            lab.after(case) + lab.rxe.after(case) + forgotten_of(case))


def forgotten_of(case):
    """A trace that nobody will look at need not be brought out of the machine."""
    if case.program != "random" or case.baseline:
        return ""
    return f"forget_if_same {case.name()} {random_truth(case).name()} {Lab.TRACE} {Lab.FRAMES}\n"
