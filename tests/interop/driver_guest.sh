# SPDX-License-Identifier: MIT
# The script of a machine with a driver of ours or of PVRDMA (see driver_stage.py).  Before this: DRIVER and DEVICE, names of
# the module and the RDMA device; NET, the module of its network interface; ADDRESS; and PAUSE, seconds for the lab to look.
# After it: the script of the case, which may set SHARED: another machine has the same MAC.

load() {
    modprobe "$NET"
    insmod "/test/$DRIVER.ko"
    [ -z "$SHARED" ] || echo 1 >/proc/sys/net/ipv6/conf/eth0/addr_gen_mode # no address from the MAC
    ip link set eth0 up
    ip address add "$ADDRESS/16" dev eth0
    local tries=0
    until is_ready; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || break
        usleep 50000
    done
}

# gid_of ADDRESS: succeeds if entry 1 of the GID table, behind the link-local one, is that IPv4 address.
gid_of() {
    local IFS=.
    # shellcheck disable=SC2086
    grep -q "$(printf 'ffff:%02x%02x:%02x%02x' $1)" "/sys/class/infiniband/$DEVICE/ports/1/gids/1"
}

# Succeeds if the port is up and has the machine's address.
is_ready() { grep -q ACTIVE "/sys/class/infiniband/$DEVICE/ports/1/state" && gid_of "$ADDRESS"; } 2>/dev/null

gids() { echo "= gids $1 $(grep -hv '^0000:0000:0000:0000:0000:0000:0000:0000$' "/sys/class/infiniband/$DEVICE/ports/1/gids"/* | tr '\n' ' ')"; }

# Addresses come and go: the lab waits for each of them.
changes_addresses() {
    ip address add 10.0.7.7/16 dev eth0
    ip address add 10.0.8.8/16 dev eth0
    sleep "$PAUSE"
    gids two
    ip address del 10.0.7.7/16 dev eth0
    sleep "$PAUSE"
    gids one
    ip address del 10.0.8.8/16 dev eth0
}

# Removes the driver, for the lab to look whether anything of it is left.
removes_driver() {
    rmmod "$DRIVER"
    echo "= removed $?"
    sleep "$PAUSE"
}

unloads() {
    removes_driver
    insmod "/test/$DRIVER.ko"
}

# Loads the driver again and again, and removes it while Linux may still be busy with what a load has begun.
loads_again() {
    for _ in 1 2 3; do
        rmmod "$DRIVER"
        insmod "/test/$DRIVER.ko"
    done
    rmmod "$DRIVER"
    rmmod "$NET"
    sleep "$PAUSE"
    load
    ibv_rc_pingpong -d "$DEVICE" -g 1 -c -n 20 >/tmp/server 2>&1 &
    sleep 1
    ibv_rc_pingpong -d "$DEVICE" -g 1 -c -n 20 127.0.0.1 >/tmp/client 2>&1
    echo "= again $?"
    wait
}

asks_device() {
    ibv_devinfo -d "$DEVICE" >/tmp/devinfo
    echo "= devinfo $? $(sed -n 's/^[[:space:]]*\(state\|active_mtu\|link_layer\):[[:space:]]*//p' /tmp/devinfo | tr '\n' ' ')"
}

# The tests of pyverbs: each prints "NAME (...) ... ok".
tests_of_pyverbs() {
    PYTHONPATH=/usr/lib/python3/dist-packages:/test python3 /test/tests/run_tests.py --dev "$DEVICE" -v >/tmp/pyverbs 2>&1
    sed 's/^/pyverbs: /' /tmp/pyverbs
}

# Puts complaints into the kernel's log, and prints them as "= planted ": the judge must find them.
plants_complaints() {
    echo "<4>$DRIVER 0000:00:05.1: a planted message of the driver" >/dev/kmsg
    echo '<4>WARNING: a planted one of the kernel' >/dev/kmsg
    complaints | sed -n 's/^= kernel /= planted /p'
    dmesg -c >/dev/null
}

# The kernel's messages, but for two that any module of ours brings about.
complaints() {
    dmesg | grep -E "$DRIVER|$NET|BUG|WARNING|Call Trace|Oops|infiniband|general protection|refcount_t|blocked for more than|allocation failure" |
        grep -vE 'loading out-of-tree module|module verification failed' | sed 's/^[^]]*] /= kernel /'
    echo "= log"
}
