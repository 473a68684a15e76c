# SPDX-License-Identifier: MIT
# What the machine of linux_nvme_faults does, behind hostile_guest.sh and driver_nvme.sh: it uses the disk at TARGET.

connects_disk() {
    local id=1cb5d39e-37b6-4f33-b2a2-7ef9fb2a6d32
    add_modules
    echo "$IO_TIMEOUT_S" >/sys/module/nvme_core/parameters/io_timeout
    mkdir -p /etc/nvme
    echo "nqn.2014-08.org.nvmexpress:uuid:$id" >/etc/nvme/hostnqn
    echo $id >/etc/nvme/hostid
    for _ in $(seq 60); do
        timeout 60 nvme connect -t rdma -n lab -a "$TARGET" -s 4420 -i 2 -c 1 -l 300 -k 5 >/dev/null 2>&1 && break
        sleep 1
    done
    for _ in $(seq 50); do
        [ -b /dev/nvme0n1 ] && break
        usleep 100000
    done
    echo "= connected $(ls /dev/nvme0n1)"
}

# Writes new data, reads it, and waits until the connection is there again, if it was lost.
tries_disk() {
    local wrote same state
    dd if=/dev/urandom of=/tmp/data bs=64k count=16 2>/dev/null
    timeout 80 dd if=/tmp/data of=/dev/nvme0n1 bs=64k oflag=direct 2>/dev/null
    wrote=$?
    timeout 80 dd if=/dev/nvme0n1 bs=64k count=16 iflag=direct 2>/dev/null | cmp -s - /tmp/data
    same=$?
    for _ in $(seq 200); do
        state=$(cat /sys/class/nvme/nvme0/state)
        [ "$state" != live ] || break
        usleep 100000
    done
    said="wrote=$wrote same=$same state=$state"
}
