/* SPDX-License-Identifier: MIT */
/* Tests of what leads from an address of a program to a source line: lines of /proc/PID/maps, and
 * the output of addr2line.
 */
#include "testing.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live/exec_elf.h"
#include "cli/live/exec_module.h"
#include "cli/live/exec_source.h"
#include "emu/base/assert.h"

static void a_line_of_maps_is_code_of_a_file(void **state)
{
    static const struct {
        const char *line;
        uint64_t addr;
        const char *path; /* NULL: it is no code of a file there */
        uint64_t offset;
    } rows[] = {
        {"55d4c7a01000-55d4c7a02000 r-xp 00001000 fe:00 1234567                    "
         "/home/a/server\n",
         0x55d4c7a01189, "/home/a/server", 0x1189},
        {"00401000-00402000 r-xp 00001000 00:2a 7 /a b (deleted)\n", 0x401000, "/a b (deleted)",
         0x1000},
        {"00401000-00402000 r-xp 00001000 00:2a 7 /a\n", 0x401fff, "/a", 0x1fff},
        {"00401000-00402000 r-xp 00001000 00:2a 7 /a\n", 0x402000, NULL, 0}, /* behind it */
        {"00401000-00402000 r-xp 00001000 00:2a 7 /a\n", 0x400fff, NULL, 0},
        {"00401000-00402000 rw-p 00001000 00:2a 7 /a\n", 0x401000, NULL, 0}, /* data */
        {"00401000-00402000 rwxp 00000000 00:00 0 \n", 0x401000, NULL, 0},   /* of no file */
        {"7ffc0f5fe000-7ffc0f600000 r-xp 00000000 00:00 0                          [vdso]\n",
         0x7ffc0f5fe000, NULL, 0},
        {"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n", UINT64_MAX, NULL,
         0},
        {"", 0, NULL, 0},
        {"nonsense\n", 0, NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct exec_code p = {.path = "unchanged", .offset = 5};

        assert_int_equal(exec_maps_line(rows[i].line, rows[i].addr, &p), rows[i].path != NULL);
        assert_string_equal(p.path, rows[i].path ? rows[i].path : "unchanged");
        assert_int_equal(p.offset + (rows[i].path ? rows[i].addr - p.from : 0),
                         rows[i].path ? rows[i].offset : 5);
        assert_true(!rows[i].path || (rows[i].addr >= p.from && rows[i].addr < p.to));
    }
}

static void code_of_this_process_is_found(void **state)
{
    const uint64_t here = (uint64_t)(uintptr_t)code_of_this_process_is_found;
    struct exec_code p;
    struct exec_module m;
    struct exec_elf e;
    uint64_t address;
    int fd;

    (void)state;
    assert_false(exec_code_find((int)getpid(), 0, &p));
    assert_false(exec_code_find((int)getpid(), (uint64_t)(uintptr_t)&p, &p));
    assert_true(exec_code_find((int)getpid(), here, &p));
    assert_true(exec_module_init(&m, (int)getpid(), p.path));
    assert_true(m.is_program && m.is_here && exec_module_is_unchanged(&m));
    fd = open(p.path, O_RDONLY | O_CLOEXEC);
    assert_true(exec_elf_read(&e, fd));
    assert_true(exec_elf_address(&e, p.offset + (here - p.from), &address));
    assert_int_equal(address % 4096, here % 4096);
    assert_false(exec_elf_address(&e, UINT64_MAX, &address));
    assert_true(exec_elf_has_symbols(&e));
    close(fd);
    free(m.path);
}

/* Output of addr2line of binutils, and of LLVM, for several addresses. */
static void output_of_addr2line_is_read(void **state)
{
    static const char *const lines[] = {
        "0x0000000000001189",
        "main",
        "/home/me/src/server.c:71 (discriminator 2)", /* plain */
        "0x1200",
        "__ibv_reg_mr",
        "/usr/include/infiniband/verbs.h:2540",
        "setup",
        "/home/me/server.c:80",
        "main",
        "/home/me/server.c:99", /* inlined twice */
        "0x1300",
        "ibv_alloc_mw",
        "/usr/include/infiniband/verbs.h:2626", /* not inlined */
        "0x1300",
        "ibv_alloc_mw",
        "/home/me/server.c:2626", /* the wrong file */
        "0x1300",
        "main",
        "/usr/include/infiniband/verbs.h:2626", /* the chain is missing */
        "0x1400",
        "main",
        "??:?", /* no debug information */
        "0x1500",
        "??",
        "??:0",
        "0x1600",
        "f(int, char)",
        "a:b.cpp:7",
        "0x1700",
        "main",
        "/home/me/server.c:?",
        "0x1800",
        "evil\033[2J",
        "/tmp/\033[2J.c:3",
        "0x1900",
        "too",
        "many.c:1"};
    static const struct exec_source wanted[] = {
        {"server.c:71", "main", false},
        {"server.c:80", "setup", false},
        {"", "ibv_alloc_mw", true},
        {"", "ibv_alloc_mw", true},
        {"", "main", true},
        {"", "main", false},
        {"", "", false},
        {"a:b.cpp:7", "f(int, char)", false},
        {"", "main", false},
        {"?[2J.c:3", "evil?[2J", false},
    };
    struct exec_source got[ARRAY_LEN(wanted)] = {{{0}, {0}, false}};
    struct exec_source_reader r = {.v = got, .n = ARRAY_LEN(got)};

    (void)state;
    exec_source_read(&r, "before the first address");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        exec_source_read(&r, lines[i]);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_string_equal(got[i].line, wanted[i].line);
        assert_string_equal(got[i].function, wanted[i].function);
        assert_int_equal(got[i].in_verbs, wanted[i].in_verbs);
    }
}

static void a_damaged_file_has_no_code(void **state)
{
    uint8_t h[sizeof(Elf64_Ehdr)] = ELFMAG;
    char path[] = "/tmp/rdmalab-test-XXXXXX";
    const int fd = mkstemp(path);
    struct exec_elf e;
    uint64_t address;

    (void)state;
    assert_true(fd >= 0);
    unlink(path);
    assert_false(exec_elf_read(&e, fd)); /* it is empty */
    h[EI_DATA] = ELFDATA2LSB;
    h[EI_CLASS] = ELFCLASS64;
    memset(h + EI_CLASS + 12, 0xff, sizeof(h) - EI_CLASS - 12);
    h[offsetof(Elf64_Ehdr, e_phentsize)] = sizeof(Elf64_Phdr);
    h[offsetof(Elf64_Ehdr, e_phentsize) + 1] = 0;
    h[offsetof(Elf64_Ehdr, e_shentsize)] = sizeof(Elf64_Shdr);
    h[offsetof(Elf64_Ehdr, e_shentsize) + 1] = 0;
    assert_int_equal(write(fd, h, sizeof(h)), sizeof(h));
    assert_true(exec_elf_read(&e, fd));
    assert_int_equal(e.n_segments, 0xffff);
    assert_false(exec_elf_address(&e, 0x1000, &address));
    assert_false(exec_elf_has_symbols(&e));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_maps_is_code_of_a_file),
        cmocka_unit_test(code_of_this_process_is_found),
        cmocka_unit_test(output_of_addr2line_is_read),
        cmocka_unit_test(a_damaged_file_has_no_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
