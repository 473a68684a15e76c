/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_elf.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/cursor.h"

#define SEGMENTS_MAX 128u
#define SECTIONS_MAX 4096u

bool exec_elf_read(struct exec_elf *e, int fd)
{
    uint8_t h[sizeof(Elf64_Ehdr)];

    *e = (struct exec_elf){.fd = fd};
    if (pread(fd, h, sizeof(h), 0) != (ssize_t)sizeof(h) || memcmp(h, ELFMAG, SELFMAG) != 0 ||
        h[EI_DATA] != ELFDATA2LSB)
        return false;
    e->class = h[EI_CLASS];
    if (e->class != ELFCLASS64)
        return true;
    e->segments_at = ld_le64(h + offsetof(Elf64_Ehdr, e_phoff));
    e->sections_at = ld_le64(h + offsetof(Elf64_Ehdr, e_shoff));
    if (ld_le16(h + offsetof(Elf64_Ehdr, e_phentsize)) == sizeof(Elf64_Phdr))
        e->n_segments = ld_le16(h + offsetof(Elf64_Ehdr, e_phnum));
    if (ld_le16(h + offsetof(Elf64_Ehdr, e_shentsize)) == sizeof(Elf64_Shdr))
        e->n_sections = ld_le16(h + offsetof(Elf64_Ehdr, e_shnum));
    return true;
}

/* Reads entry @i of a table. */
static bool read_entry(const struct exec_elf *e, uint64_t table, unsigned i, uint8_t *ret,
                       size_t bytes)
{
    return pread(e->fd, ret, bytes, (off_t)(table + (uint64_t)i * bytes)) == (ssize_t)bytes;
}

bool exec_elf_segment(const struct exec_elf *e, unsigned i, struct exec_segment *ret)
{
    uint8_t h[sizeof(Elf64_Phdr)];

    if (i >= e->n_segments || i >= SEGMENTS_MAX || !read_entry(e, e->segments_at, i, h, sizeof(h)))
        return false;
    ret->type = ld_le32(h + offsetof(Elf64_Phdr, p_type));
    ret->flags = ld_le32(h + offsetof(Elf64_Phdr, p_flags));
    ret->offset = ld_le64(h + offsetof(Elf64_Phdr, p_offset));
    ret->address = ld_le64(h + offsetof(Elf64_Phdr, p_vaddr));
    ret->n_file = ld_le64(h + offsetof(Elf64_Phdr, p_filesz));
    return true;
}

bool exec_elf_address(const struct exec_elf *e, uint64_t offset, uint64_t *ret)
{
    struct exec_segment s;

    for (unsigned i = 0; exec_elf_segment(e, i, &s); i++) {
        if (s.type != PT_LOAD || !(s.flags & PF_X) || offset < s.offset ||
            offset - s.offset >= s.n_file)
            continue;
        *ret = s.address + (offset - s.offset);
        return true;
    }
    return false;
}

bool exec_elf_has_symbols(const struct exec_elf *e)
{
    uint8_t h[sizeof(Elf64_Shdr)];

    for (unsigned i = 0;
         i < e->n_sections && i < SECTIONS_MAX && read_entry(e, e->sections_at, i, h, sizeof(h));
         i++) {
        if (ld_le32(h + offsetof(Elf64_Shdr, sh_type)) == SHT_SYMTAB)
            return true;
    }
    return false;
}
