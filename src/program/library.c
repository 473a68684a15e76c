/* SPDX-License-Identifier: MIT */
#include "program/library.h"

#include <stdint.h>

#include "program/library_path.h"

/* The assembler copies a file between two labels.  They are global, since optimization at link time
 * puts them and the functions into different files.
 */
#define CONTAIN(name, path)                                                                        \
    __asm__(".section .rodata\n"                                                                   \
            ".globl program_" name "_begin, program_" name "_end\n"                                \
            ".hidden program_" name "_begin, program_" name "_end\n"                               \
            ".balign 16\n"                                                                         \
            "program_" name "_begin:\n"                                                            \
            ".incbin \"" path "\"\n"                                                               \
            "program_" name "_end:\n"                                                              \
            ".byte 0\n"                                                                            \
            ".previous\n")
CONTAIN("ibverbs", PROGRAM_IBVERBS_PATH);
CONTAIN("files", PROGRAM_FILES_PATH);

extern const unsigned char program_ibverbs_begin[], program_ibverbs_end[];
extern const unsigned char program_files_begin[], program_files_end[];

struct program_library program_library(size_t i)
{
    if (i == 0)
        return (struct program_library){
            "libibverbs.so.1", program_ibverbs_begin,
            (size_t)((uintptr_t)program_ibverbs_end - (uintptr_t)program_ibverbs_begin)};
    return (struct program_library){
        PROGRAM_PRELOADED, program_files_begin,
        (size_t)((uintptr_t)program_files_end - (uintptr_t)program_files_begin)};
}
