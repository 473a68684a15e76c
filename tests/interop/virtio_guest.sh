# SPDX-License-Identifier: MIT
# What the virtual machine of tests/interop/virtio does: its first function is the lab's virtio-net, and
# once for each set of features that the lab offers it tries what a network is for.  Each line that it
# prints for the test begins with "=".  The variables before come from the test.

PEER=10.0.0.9 # behind the lab's tap device
LAB=10.0.0.2  # a host of the lab

# What is on the bus: address, vendor, device, class, driver.
for d in /sys/bus/pci/devices/0000:00:05.*; do
    driver=$(basename "$(readlink "$d/driver")")
    echo "= pci ${d##*:} $(cat "$d/vendor") $(cat "$d/device") $(cat "$d/class") ${driver:-none}"
done
for d in /sys/bus/virtio/devices/*; do
    [ -e "$d/driver" ] && driver=$(basename "$(readlink "$d/driver")") || driver=none
    echo "= virtio $(cat "$d/device") $(cat "$d/status") $driver"
    [ "$driver" != virtio_net ] || net=${d##*/}
done

head -c $((4 << 20)) /dev/urandom >/tmp/4m
head -c $((256 << 10)) /tmp/4m >/tmp/256k

# A network interface that is driven by the lab's function; false: it does not come.
await_interface() {
    local tries=0
    until interface=$(ls "/sys/bus/virtio/devices/$net/net" 2>/dev/null) && [ -n "$interface" ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || return 1
        usleep 100000
    done
}

# say ROUND WHAT COMMAND...: prints whether it succeeds, and what it printed last if not.
say() {
    local round=$1 what=$2
    shift 2
    if "$@" >/tmp/out 2>&1; then
        echo "= round $round $what ok"
    else
        echo "= round $round $what FAILED: $(tail -n 1 /tmp/out)"
    fi
}

# Sends a file to the peer, which sends back what it got.
through_tcp() {
    timeout 60 nc "$PEER" "$1" <"$2" >/tmp/back && cmp "$2" /tmp/back
}

# round NUMBER PORT FILE
round() {
    await_interface || {
        echo "= round $1 interface FAILED: there is none"
        return
    }
    echo "= round $1 features $(cat "/sys/bus/virtio/devices/$net/features") mtu $(cat "/sys/class/net/$interface/mtu")"
    ip address add 10.0.0.1/24 dev "$interface"
    ip link set "$interface" up
    say "$1" ping ping -c 3 -A -W 10 "$LAB"
    say "$1" large_ping ping -c 2 -A -W 10 -s 4000 "$LAB"
    [ -z "$TAP" ] || say "$1" tcp through_tcp "$2" "$3"
    say "$1" errors test "$(cat "/sys/class/net/$interface/statistics/rx_errors")$(cat "/sys/class/net/$interface/statistics/tx_errors")" = 00
}

n=1
round 1 5001 /tmp/4m
while [ $n -lt "$ROUNDS" ]; do
    n=$((n + 1))
    echo "$net" >/sys/bus/virtio/drivers/virtio_net/unbind
    sleep 1 # the lab offers other features meanwhile
    echo "$net" >/sys/bus/virtio/drivers/virtio_net/bind
    round $n 5002 /tmp/256k
done
grep virtio /proc/interrupts | sed 's/^/= interrupts /'
dmesg | grep -E 'BUG:|WARNING:|Oops|virtio.*(fail|error|bad)' | sed 's|^|= complaint |'
