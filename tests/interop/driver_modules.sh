# SPDX-License-Identifier: MIT
# Modules of the kernel that a case of driver_stage.py brings along, for the function add_modules.

add_modules() { # in their order; some are there already
    local module
    for module in /test/modules/*.ko; do
        case $module in
        *null_blk*) insmod "$module" queue_mode=2 gb=1 bs=4096 nr_devices=1 memory_backed=1 submit_queues=1 ;;
        *) insmod "$module" 2>/dev/null ;;
        esac
    done
}
