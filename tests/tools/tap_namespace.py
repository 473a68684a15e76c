# SPDX-License-Identifier: MIT
"""The network namespace that check_tap.py checks in, with a node for tap devices and terminals of its own."""
import ctypes
import os
import shutil
import stat
import subprocess

CLONE_NEWNET = 0x40000000  # of unshare(), mount() and umount2()
CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
MNT_DETACH = 2
TUN = "/dev/net/tun"
TUN_NUMBER = os.makedev(10, 200)
TERMINALS = "/dev/pts"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def system_call(name, *arguments):
    """One of libc's functions that answer 0; OSError if it does not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def mount(kind, place, options):
    system_call("mount", kind.encode(), place.encode(), kind.encode(), 0, options.encode())


def tap_obstacle():
    """Why no tap device can be made; None: it can."""
    try:
        ip("tuntap", "add", "probe", "mode", "tap")
        ip("link", "del", "probe")
    except subprocess.CalledProcessError as error:
        return f"no tap device: {error.stderr.decode().strip()}"
    return None


def mounts_are_private():
    """Does nobody else see what is mounted from now on?  Where / is no mount, as in a plain chroot, the
    mount that it belongs to cannot be told so; then nothing is mounted."""
    try:
        system_call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    except OSError:
        return False
    return True


def make_node():
    """Puts a node that is open to all in the place of the machine's; does it work?"""
    try:
        mount("tmpfs", os.path.dirname(TUN), "mode=755")
    except OSError:
        return False
    try:
        os.mknod(TUN, stat.S_IFCHR | 0o666, TUN_NUMBER)
        os.chmod(TUN, 0o666)  # whatever the umask is
        if tap_obstacle() is None:
            return True
    except OSError:
        pass
    system_call("umount2", os.path.dirname(TUN).encode(), MNT_DETACH)
    return False


def make_namespace():
    """Namespaces, a node and terminals; why nothing can be checked here, or None: all is well.  Is TUN the
    checks' own?
    """
    own_node = False
    if os.geteuid() != 0:
        return "not root", own_node
    if not shutil.which("ip"):
        return "no program ip (iproute2)", own_node
    if not os.path.exists(TUN):
        return f"no {TUN}", own_node
    try:
        system_call("unshare", CLONE_NEWNET | CLONE_NEWNS)
    except OSError as error:
        return f"no namespaces of its own: {error.strerror}", own_node
    if mounts_are_private():
        own_node = make_node()
        try:
            mount("devpts", TERMINALS, "newinstance,ptmxmode=666,mode=600")
        except OSError:
            pass  # the machine's have to do
    return tap_obstacle(), own_node
