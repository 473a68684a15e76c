/* SPDX-License-Identifier: MIT */
#include "lnetd/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES    4096u
#define RESERVE_BYTES (UINT64_C(4) << 30)

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static bool reserve(struct memory_pool *m)
{
    void *p =
        mmap(NULL, RESERVE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return false;
    m->base = m->top = (uintptr_t)p;
    m->end = m->base + RESERVE_BYTES;
    return true;
}

uint64_t memory_take(struct memory_pool *m, uint64_t bytes)
{
    const uint64_t all = whole_pages(bytes);
    struct memory_free **at = &m->free, *f;
    uint64_t addr;

    if (bytes == 0 || (m->base == 0 && !reserve(m)))
        return 0;
    while (*at && (*at)->bytes != all)
        at = &(*at)->next;
    f = *at;
    if (f) {
        addr = f->addr;
        *at = f->next;
        free(f);
        memset((void *)(uintptr_t)addr, 0, all);
        return addr;
    }
    if (all > m->end - m->top || mprotect((void *)(uintptr_t)m->top, all, PROT_READ | PROT_WRITE))
        return 0;
    addr = m->top;
    m->top += all;
    return addr;
}

void memory_give(struct memory_pool *m, uint64_t addr, uint64_t bytes)
{
    struct memory_free *f = malloc(sizeof(*f));

    if (!f)
        return; /* the pages stay in use */
    *f = (struct memory_free){m->free, addr, whole_pages(bytes)};
    m->free = f;
}

void *memory_at(const struct memory_pool *m, uint64_t addr, uint64_t bytes)
{
    if (addr < m->base || bytes > m->top - m->base || addr > m->top - bytes)
        return NULL;
    return (void *)(uintptr_t)addr;
}

void memory_done(struct memory_pool *m)
{
    while (m->free) {
        struct memory_free *f = m->free;

        m->free = f->next;
        free(f);
    }
    if (m->base)
        munmap((void *)(uintptr_t)m->base, RESERVE_BYTES);
    *m = (struct memory_pool){0};
}
