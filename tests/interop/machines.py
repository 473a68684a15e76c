# SPDX-License-Identifier: MIT
"""Virtual machines that are hosts of a lab ("port vm"), for the stages virtio and pvrdma."""
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
CACHE = HERE.parent.parent / "build/interop"
QEMU_11 = CACHE.with_name("interop-qemu-11.1") / "bin"
KERNELS = ["6.1", "6.12", "7.3"]
DEBUGGING = "7.3-debug"  # that of debug-kernel
SKIPPED = 77  # exit status


class Machine:
    """A QEMU and a kernel: "vfio_user/7.3"."""

    def __init__(self, name):
        self.name, (self.transport, self.linux) = name, name.split("/")
        self.cache = CACHE if self.linux == "6.1" else CACHE.with_name(f"interop-{self.linux}")
        path = os.environ["PATH"]
        self.environment = dict(os.environ, PATH=f"{QEMU_11}:{path}" if self.transport == "vfio_user" else path)

    def build(self, command, **variables):
        """Brings a part up to date, with @variables of the environment.  Returns the reason if it cannot be had here, or None.  Any
        other failure, as of a compiler, ends the stage."""
        more = variables | ({} if self.linux == "6.1" else {"LINUX": self.linux})
        done = subprocess.run(command, env=dict(os.environ, **more), stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == SKIPPED:
            return done.stdout.splitlines()[-1]
        if done.returncode:
            print(done.stdout[-3000:], f"FAILED: {command[0].name} ended with status {done.returncode}", "0 passed, 1 failed, 0 skipped", sep="\n")
            raise SystemExit(1)
        return None

    def obstacle(self):
        """Returns the reason if it cannot be had, or None."""
        if why := self.build([HERE / "vm-build"]):
            return why
        if self.transport == "vfio_user":
            return self.build([HERE / "qemu-build"])
        devices = subprocess.run(["qemu-system-x86_64", "-device", "help"], capture_output=True, text=True, check=False)
        return None if "x-pci-proxy-dev" in devices.stdout else "skipped: this QEMU has no device x-pci-proxy-dev"


def archive_of(directory):
    """The directory as the kernel unpacks it."""
    return subprocess.run("find . | cpio -o -H newc -R 0:0 --quiet | gzip -1", shell=True, check=True, cwd=directory,
                          capture_output=True).stdout


def initramfs(machine, directory, variables, script, files=(), archives=()):
    """That of vm-build, behind it what the guest does: @script and @files, {path: bytes}; and @archives."""
    root = directory / "root"
    (root / "test").mkdir(parents=True)
    (root / "test/script").write_text(variables + "".join((HERE / part).read_text() for part in script))
    for path, data in dict(files).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        (root / path).chmod(0o755)
    parts = [(machine.cache / "initramfs.gz").read_bytes(), archive_of(root), *archives]
    (directory / "initramfs").write_bytes(b"".join(parts))


def port_vm(machine, host, directory):
    more, memory = (" kasan_multi_shot", " memory=1g") if machine.linux == DEBUGGING else ("", "")
    return (f'port vm {host} transport={machine.transport} kernel="{machine.cache}/vmlinuz" initrd="{directory}/initramfs"{memory} '
            f'append="loglevel=1 mitigations=off tsc=reliable{more}" log="{directory}/console"')


def run(options, machine, directory, lines, seconds, command=("run",)):
    """Returns the output of the lab, and its exit status.  Without a @command it is a script, which prints what happens."""
    (directory / "guest.lab").write_text("".join(line + "\n" for line in lines))
    return run_words(machine, [options.rdmalab, *command, "--no-sandbox", directory / "guest.lab"], seconds)


def run_words(machine, words, seconds):
    """The same of a command."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, env=machine.environment, check=False)
    except subprocess.TimeoutExpired as late:
        return f"{late.stdout or ''}\nno end after {seconds} s", 1
    return done.stdout + done.stderr, done.returncode


def console_of(directory):
    """Returns the output of a guest, and the lines of it that are for the test."""
    console = directory / "console"
    text = console.read_text(errors="replace") if console.exists() else ""
    return text, [line.strip("\r") for line in text.splitlines() if line.startswith("= ")]


def tell(name, found, printed, *texts):
    """Prints what was found, and if not all of it is right what was printed.  Returns how much was wrong."""
    for passed, what in found:
        print(f"{'ok' if passed else 'FAILED'}: {name}: {what}", flush=True)
    n_failed = sum(not passed for passed, _ in found)
    if n_failed:
        print("\n--- the lab:", printed[-3000:], *[f"--- a guest:\n{text[-3000:]}" for text in texts], sep="\n")
    return n_failed


def processors(text):
    found = re.search(r", (\d+) processors", text)
    return int(found[1]) if found else None
