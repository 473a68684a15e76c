/* SPDX-License-Identifier: MIT */
#include "program/library.h"

#include "program/library_path.h"

/* The assembler copies the file between the two labels.  They are global, since optimization at
 * link time puts them and the functions into different files.
 */
__asm__(".section .rodata\n"
        ".globl program_library_begin, program_library_end\n"
        ".hidden program_library_begin, program_library_end\n"
        ".balign 16\n"
        "program_library_begin:\n"
        ".incbin \"" PROGRAM_LIBRARY_PATH "\"\n"
        "program_library_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const unsigned char program_library_begin[], program_library_end[];

const unsigned char *program_library(void)
{
    return program_library_begin;
}

size_t program_library_bytes(void)
{
    return (size_t)(program_library_end - program_library_begin);
}
