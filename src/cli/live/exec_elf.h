/* SPDX-License-Identifier: MIT */
/* Segments and sections of ELF files of 64 bits, little-endian.
 * [System V ABI, ELF Header, Program Header, Sections]
 */
#ifndef CLI_LIVE_EXEC_ELF_H
#define CLI_LIVE_EXEC_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct exec_elf {
    int fd;
    uint8_t class; /* ELFCLASS64; another class has no segments and sections here */
    uint64_t segments_at, sections_at;
    unsigned n_segments, n_sections;
};

struct exec_segment {
    uint32_t type, flags;             /* PT_LOAD, PF_X */
    uint64_t offset, address, n_file; /* bytes of the file, and their address */
};

/* Reads the header of the open file @fd.  Returns false if it is no little-endian ELF file. */
bool exec_elf_read(struct exec_elf *e, int fd);

/* Reads segment @i.  Returns false if there is none. */
bool exec_elf_segment(const struct exec_elf *e, unsigned i, struct exec_segment *ret);

/* Sets *@ret to the address of the code at @offset of the file.  Returns false if no code is there.
 */
bool exec_elf_address(const struct exec_elf *e, uint64_t offset, uint64_t *ret);

/* Returns true if the file has a table of all symbols: it was not stripped. */
bool exec_elf_has_symbols(const struct exec_elf *e);

#endif
