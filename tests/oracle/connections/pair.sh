# SPDX-License-Identifier: MIT
# Two rxe devices of the virtual machine, whose network cards are joined by a wire, for rping.sh and losses.sh.
. ./guest.sh
interface eth0 02:00:00:00:0a:01 10.0.0.1/24 1500
interface eth1 02:00:00:00:0a:02 10.0.0.2/24 1500
join eth0 10.0.0.1 eth1 10.0.0.2
rxe rxe0 eth0
rxe rxe1 eth1
ip neigh replace 10.0.0.2 lladdr 02:00:00:00:0a:02 dev eth0 nud permanent
ip neigh replace 10.0.0.1 lladdr 02:00:00:00:0a:01 dev eth1 nud permanent

# lose INTERFACE SECONDS: loses all that it sends for a while.
lose() {
    tc qdisc add dev "$1" root netem loss 100%
    (sleep "$2" && tc qdisc del dev "$1" root) &
}

# ping N [OPTION...]: N pings of rping, from 10.0.0.1 to 10.0.0.2.
ping() {
    local n=$1
    shift
    timeout 30 rping -c -a 10.0.0.2 -I 10.0.0.1 -C "$n" -v "$@"
    echo "client: $?"
}

# serve PROGRAM...: starts a server and gives it time.
serve() {
    timeout 40 "$@" &
    sleep 2
}
