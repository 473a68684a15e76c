/* SPDX-License-Identifier: MIT */
/* Points calls of librdmacm at functions of this library.
 *
 * A shared library calls functions of others through slots, which the dynamic linker fills in when
 * it loads the library, or at the first call.  This code finds the slots of librdmacm by the names
 * of their functions, and fills them in itself.  Calls of the program and of other libraries stay
 * as they are, which LD_PRELOAD could not do.  [ELF gABI, "Dynamic Section"; System V ABI, "Global
 * Offset Table"]
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"
#include "program/ibverbs/redirect.h"
#include "program/on_host.h"

#define LIBRARY "librdmacm.so"

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_SLOT(type) false
#endif

/* C has no conversion of a pointer to a function into one to an object; POSIX demands one. */
#define ADDRESS(function) ((uintptr_t)(function))

struct redirection {
    const char *name;
    uintptr_t to;
};

/* Returns the address to which calls of @name go, or 0. */
static uintptr_t target(const char *name)
{
    const struct redirection redirections[] = {
        {"open", ADDRESS(rdma_cm_open)},
        {"open64", ADDRESS(rdma_cm_open)},
        {"fstat", ADDRESS(rdma_cm_fstat)},
        {"fstat64", ADDRESS(rdma_cm_fstat)},
        {"write", ADDRESS(rdma_cm_write)},
        {"close", ADDRESS(rdma_cm_close)},
        {"nl_connect", ADDRESS(rdma_cm_nl_connect)},
    };

    for (size_t i = 0; i < sizeof(redirections) / sizeof(redirections[0]); i++) {
        if (strcmp(name, redirections[i].name) == 0)
            return redirections[i].to;
    }
    return 0;
}

/* The slots are read-only once the library is loaded ("RELRO").  They stay writable. */
static void fill_in(uintptr_t *slot, uintptr_t to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)slot & ~(page - 1);

    if (*slot != to && mprotect((void *)from, page, PROT_READ | PROT_WRITE) == 0)
        *slot = to;
}

/* The contents of the dynamic section of a library. */
struct dynamic {
    const ElfW(Rela) * tables[2];
    size_t n[2];
    const ElfW(Sym) * symbols;
    const char *names;
};

static struct dynamic read_dynamic(const ElfW(Dyn) * d)
{
    struct dynamic ret = {.symbols = NULL};

    for (; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_JMPREL:
            ret.tables[0] = (const void *)d->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            ret.n[0] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            ret.tables[1] = (const void *)d->d_un.d_ptr;
            break;
        case DT_RELASZ:
            ret.n[1] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_SYMTAB:
            ret.symbols = (const void *)d->d_un.d_ptr;
            break;
        case DT_STRTAB:
            ret.names = (const void *)d->d_un.d_ptr;
            break;
        default:
            break;
        }
    }
    return ret;
}

static void redirect_slots(ElfW(Addr) base, const struct dynamic *d)
{
    if (!d->symbols || !d->names)
        return;
    for (unsigned t = 0; t < 2; t++) {
        for (size_t i = 0; d->tables[t] && i < d->n[t]; i++) {
            const ElfW(Rela) *r = &d->tables[t][i];
            const uintptr_t to = IS_SLOT(ELF64_R_TYPE(r->r_info))
                                     ? target(d->names + d->symbols[ELF64_R_SYM(r->r_info)].st_name)
                                     : 0;

            if (to)
                fill_in((uintptr_t *)(base + r->r_offset), to);
        }
    }
}

static int visit(struct dl_phdr_info *library, size_t bytes, void *unused)
{
    const char *slash = strrchr(library->dlpi_name, '/');
    const char *name = slash ? slash + 1 : library->dlpi_name;

    (void)bytes;
    (void)unused;
    if (strncmp(name, LIBRARY, sizeof(LIBRARY) - 1) != 0)
        return 0;
    for (size_t i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];

        if (segment->p_type == PT_DYNAMIC) {
            const struct dynamic d =
                read_dynamic((const void *)(library->dlpi_addr + segment->p_vaddr));

            redirect_slots(library->dlpi_addr, &d);
        }
    }
    return 0;
}

void redirect_librdmacm(void)
{
    if (is_on_host())
        dl_iterate_phdr(visit, NULL);
}

/* librdmacm that is loaded later calls ibv_get_device_list() before it opens the device. */
__attribute__((constructor)) static void at_start(void)
{
    redirect_librdmacm();
}

int (*redirect_nl_connect(void))(void *socket, int protocol)
{
    void *found = dlsym(RTLD_DEFAULT, "nl_connect");
    int (*ret)(void *socket, int protocol);

    memcpy(&ret, &found, sizeof(ret));
    return ret;
}
