/* SPDX-License-Identifier: MIT */
/* The memory of a virtual machine, as this process has it mapped.
 *
 * The machine says anew what its memory is whenever that changes, which is often while it boots,
 * but it is the same files each time.  So a file is mapped once, as a whole, and stays mapped as
 * long as some part of it is memory.
 */
#ifndef CLI_LIVE_VM_MEMORY_H
#define CLI_LIVE_VM_MEMORY_H

#include <sys/types.h>

#include "cli/live/vm_wire.h"
#include "rdmalab/vm.h"

struct vm_file {
    dev_t dev;
    ino_t ino;
    void *at;
    size_t bytes;
    bool used; /* by the map that is being made */
};

struct vm_memory {
    struct vm_file files[2 * VM_PARTS_MAX]; /* those of two maps: the old one and the new one */
    size_t n_files;
};

/* The memory of @host in @lab is these parts from now on, of the files behind @fds, which stay the
 * caller's.  NULL, or what is wrong with them; then there is no memory.
 */
const char *vm_memory_set(struct vm_memory *m, struct rdl_lab *lab, rdl_host host,
                          const struct vm_part *parts, const int *fds, unsigned n);

/* There is no memory any more. */
void vm_memory_done(struct vm_memory *m, struct rdl_lab *lab, rdl_host host);

#endif
