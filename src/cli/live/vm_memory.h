/* SPDX-License-Identifier: MIT */
/* The memory of a virtual machine, mapped into this process.
 *
 * QEMU sends a new memory map whenever it changes, which is often during boot, but the files behind
 * it stay the same.  So each file is mapped once, as a whole, and stays mapped while the current
 * map uses it.
 */
#ifndef CLI_LIVE_VM_MEMORY_H
#define CLI_LIVE_VM_MEMORY_H

#include <sys/types.h>

#include "cli/live/vm_wire.h"
#include "rdmalab/vm.h"

/* A mapped file. */
struct vm_file {
    dev_t dev; /* the file's identity */
    ino_t ino;
    void *at; /* where it is mapped, @bytes bytes */
    size_t bytes;
    bool used; /* the map that is being built uses the file */
};

#define VM_FILES_MAX 32u

struct vm_memory {
    struct vm_file files[VM_FILES_MAX]; /* files of the old and the new map */
    size_t n_files;
};

/* The error that a file can be shortened. */
extern const char vm_memory_shrinks[];

/* Returns the mapping of the file behind @fd, which the caller keeps.  The file is sealed, so that
 * nobody can shorten it.  Returns NULL on failure, with errno EPERM if the file cannot be sealed,
 * or EACCES if it cannot be mapped.  The mapping stays until a vm_memory_unmap_unused() at which it
 * is not `used`.
 */
struct vm_file *vm_memory_file(struct vm_memory *m, int fd);
void vm_memory_unmap_unused(struct vm_memory *m);

/* Replaces the memory of @host in @lab by the @n parts @parts, where part i is in the file behind
 * @fds[i].  The caller keeps @fds.  Returns NULL on success, otherwise the error in the map; then
 * the host has no memory.
 */
const char *vm_memory_set(struct vm_memory *m, struct rdl_lab *lab, rdl_host host,
                          const struct vm_part *parts, const int *fds, unsigned n);

/* Removes the memory of the host. */
void vm_memory_done(struct vm_memory *m, struct rdl_lab *lab, rdl_host host);

#endif
