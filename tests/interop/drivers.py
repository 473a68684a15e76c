# SPDX-License-Identifier: MIT
"""The two drivers of Linux with which a virtual machine has our RDMA devices: a row for each."""
import pathlib
import re
import shlex
import subprocess
from dataclasses import dataclass

from machines import CACHE

HERE = pathlib.Path(__file__).resolve().parent


@dataclass(frozen=True)
class Driver:
    name: str  # of its module
    net: str  # the module of the network interface of function 0
    host: str  # words behind "host h1 vm"
    built: str  # where its build script puts it, behind "interop-"
    builds: tuple  # scripts that bring up to date what it needs
    harmless: object  # what it may say when all is well
    gone: str  # of the lab: the driver has let go of the device
    pairs: str  # event of the lab with its commands, and what tells success; {} is the command
    commands: tuple  # pairs of those that create and destroy objects

    @property
    def device(self):
        return f"{self.name}0"

    @property
    def is_ours(self):
        return self.name == "virtio_rdma"

    def variables(self):
        return "".join(f"{name}={shlex.quote(value)}\n" for name, value in (
            ("DRIVER", self.name), ("DEVICE", self.device), ("NET", self.net)))

    def files(self, linux, core=""):
        """{path in a machine: bytes}: the module, and the library that programs need for it, for this rdma-core or "-56"."""
        files = {f"test/{self.name}.ko": CACHE.with_name(f"interop-{self.built}-{linux}") / f"{self.name}.ko"}
        if self.is_ours:
            place = CACHE.with_name(f"interop-provider{core}")
            library = next(place.glob("librdmalab-rdmav*.so"))
            files[f"usr/lib/x86_64-linux-gnu/libibverbs/{library.name}"] = library
            files["etc/libibverbs.d/rdmalab.driver"] = place / "rdmalab.driver"
        return {path: file.read_bytes() for path, file in files.items()}

    def destroyed(self):
        """Lines of a lab: the driver of h1 has destroyed by itself what it has created."""
        return [f"expect {' == '.join(f'count({self.pairs.format(command)})' for command in pair)}" for pair in self.commands]


def commands(*names):
    return tuple((f"CREATE_{name}", f"DESTROY_{name}") for name in names)


PVRDMA = Driver(
    "vmw_pvrdma", "vmxnet3", " device=pvrdma", "driver", ("driver-build",),
    re.compile(
        r"vmw_pvrdma \S+: (device version 20, driver version 20|paired device to eth0|attached to device|detaching from device)"
        r"|vmw_pvrdma \S+ vmw_pvrdma0: Port: 1 Link (ACTIVE|DOWN)"
        r"|VMware vmxnet3 virtual NIC driver .*"
        r"|vmxnet3 \S+( eth0)?: (# of Tx queues.*|intr type.*|NIC Link is Up.*|renamed from.*)"),
    "h1.dsr.phase == RESET", "command, host==h1, cmd=={}, error==0", commands("PD", "MR", "CQ", "QP", "SRQ", "UC", "BIND"))

# Ours says nothing; this is of ib_core.
VIRTIO_RDMA = Driver(
    "virtio_rdma", "virtio_net", "", "module", ("module-build", "provider-build"), re.compile(r"virtio_rdma \S+ virtio_rdma0: Port: 1 Link (ACTIVE|DOWN)"),
    "h1.device.features == 0", "ctrl_execute, host==h1, cmd=={}, rsp==OK", commands("PD", "QP", "SRQ"))  # CQs come by two commands
