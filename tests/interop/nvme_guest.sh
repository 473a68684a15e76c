# SPDX-License-Identifier: MIT
# The machine of linux_nvme_faults that uses the disk at TARGET, behind hostile_guest.sh and driver_nvme.sh.

connects_disk() {
    add_modules
    names_host
    echo "$IO_TIMEOUT_S" >/sys/module/nvme_core/parameters/io_timeout
    for _ in $(seq 60); do
        timeout 60 nvme connect -t rdma -n lab -a "$TARGET" -s 4420 -i 2 -c 1 -l 300 -k 5 >/dev/null 2>&1 && break
        sleep 1
    done
    waits_for_disk
    echo "= connected $(ls /dev/nvme0n1)"
}

parts_from_disk() {
    leaves_disk >/dev/null 2>&1
    said="left=$?"
}

# Writes new data, reads it, and waits until the connection is there again, if it was lost.
tries_disk() {
    local wrote same state
    makes_data 16
    writes_data 80
    wrote=$?
    reads_data 80 16 >/dev/null 2>&1
    same=$?
    for _ in $(seq 200); do
        state=$(cat /sys/class/nvme/nvme0/state)
        [ "$state" != live ] || break
        usleep 100000
    done
    said="wrote=$wrote same=$same state=$state"
}
