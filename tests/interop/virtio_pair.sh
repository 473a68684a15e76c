# SPDX-License-Identifier: MIT
# Two virtual machines of one lab: SIDE a sends to SIDE b, a hundred megabytes and then four, while the lab
# loses frames.  Each line for the test begins with "=".  SIDE comes from the test.

A=10.0.0.1 B=10.0.0.3
head -c $((4 << 20)) /dev/zero | tr '\0' "$SIDE" >/tmp/4m

# What is sent: $1 times 4 MiB.
stream() {
    local i=0
    while [ $i -lt "$1" ]; do
        cat /tmp/4m
        i=$((i + 1))
    done
}

interface=$(ls /sys/bus/virtio/devices/virtio0/net)
ip link set "$interface" up
if [ "$SIDE" = b ]; then
    ip address add $B/24 dev "$interface"
    for port in 5003 5004; do
        echo "= took $port $(timeout 500 nc -l -p $port | md5sum | cut -d' ' -f1)"
    done
else
    ip address add $A/24 dev "$interface"
    until ping -c 1 -W 2 $B >/dev/null; do
        usleep 200000
    done
    sleep 1 # the other side listens
    for row in "5003 25" "5004 1"; do
        port=${row% *} times=${row#* }
        echo "= sent $port $(stream "$times" | md5sum | cut -d' ' -f1)"
        stream "$times" | timeout 500 nc $B "$port"
        sleep 4 # the lab loses frames from here on; the other side listens again
    done
    echo "= retransmissions $(awk '/^Tcp: [0-9]/ { print $13 }' /proc/net/snmp)"
fi
echo "= errors $(cat "/sys/class/net/$interface/statistics/rx_errors") $(cat "/sys/class/net/$interface/statistics/tx_errors")"
