/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* F_ADD_SEALS */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/vm_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "emu/base/assert.h"

_Static_assert(VM_PARTS_MAX <= RDL_VM_REGIONS_MAX, "a lab has room for every part");

_Static_assert(2 * VM_PARTS_MAX <= VM_FILES_MAX, "there is room for the old and the new map");

const char vm_memory_shrinks[] = "its memory is in a file that can be shortened, which would end "
                                 "the lab: QEMU needs memory-backend-memfd, without seal=off";

/* Makes sure that the file never becomes shorter: an access behind its end would end the lab.
 * QEMU's memory-backend-memfd has the seal, too.
 */
static bool seal(int fd)
{
    int seals;

    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK); /* fails for a file that takes no more seals */
    seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

struct vm_file *vm_memory_file(struct vm_memory *m, int fd)
{
    const bool sealed = seal(fd);
    struct stat st;
    struct vm_file *f;

    errno = EACCES;
    if (fstat(fd, &st) != 0 || st.st_size <= 0)
        return NULL;
    errno = EPERM;
    if (!sealed)
        return NULL;
    for (size_t i = 0; i < m->n_files; i++) {
        f = &m->files[i];
        if (f->dev == st.st_dev && f->ino == st.st_ino && f->bytes == (size_t)st.st_size)
            return f;
    }
    RDL_ASSERT(m->n_files < VM_FILES_MAX);
    f = &m->files[m->n_files];
    *f = (struct vm_file){.dev = st.st_dev, .ino = st.st_ino, .bytes = (size_t)st.st_size};
    f->at = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (f->at == MAP_FAILED) {
        errno = EACCES;
        return NULL;
    }
    m->n_files++;
    return f;
}

void vm_memory_unmap_unused(struct vm_memory *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_files; i++) {
        if (m->files[i].used)
            m->files[n++] = m->files[i];
        else
            munmap(m->files[i].at, m->files[i].bytes);
    }
    m->n_files = n;
}

/* Fills in a region for each part.  Returns NULL, or the error of the first invalid part. */
static const char *find_regions(struct vm_memory *m, const struct vm_part *parts, const int *fds,
                                unsigned n, struct rdl_vm_region *ret)
{
    for (unsigned i = 0; i < n; i++) {
        struct vm_file *f = vm_memory_file(m, fds[i]);
        const struct vm_part *p = &parts[i];

        if (!f)
            return errno == EPERM ? vm_memory_shrinks : "its memory cannot be mapped";
        if (p->bytes > f->bytes || p->offset > f->bytes - p->bytes)
            return "a part of its memory is longer than the file that it is in";
        f->used = true;
        ret[i] = (struct rdl_vm_region){p->gpa, p->bytes, (uint8_t *)f->at + p->offset, true};
    }
    return NULL;
}

const char *vm_memory_set(struct vm_memory *m, struct rdl_lab *lab, rdl_host host,
                          const struct vm_part *parts, const int *fds, unsigned n)
{
    struct rdl_vm_region regions[VM_PARTS_MAX];
    const char *wrong;

    for (size_t i = 0; i < m->n_files; i++)
        m->files[i].used = false;
    wrong = find_regions(m, parts, fds, n, regions);
    if (!wrong && rdl_vm_memory(lab, host, regions, n) != RDL_OK)
        wrong = "parts of its memory overlap, or are where none can be";
    if (wrong)
        vm_memory_done(m, lab, host);
    else
        vm_memory_unmap_unused(m);
    return wrong;
}

void vm_memory_done(struct vm_memory *m, struct rdl_lab *lab, rdl_host host)
{
    /* Fails only for a host without a virtual machine, which has no memory. */
    (void)!rdl_vm_memory(lab, host, NULL, 0);
    for (size_t i = 0; i < m->n_files; i++)
        m->files[i].used = false;
    vm_memory_unmap_unused(m);
}
