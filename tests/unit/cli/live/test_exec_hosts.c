/* SPDX-License-Identifier: MIT */
/* Tests of the file that tells programs the hosts of the lab: it is whole, or as it was. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live/exec_hosts.h"
#include "cli/own_directory.h"
#include "program/protocol.h"
#include "rdmalab/lab.h"

static struct rdl_lab *new_lab(void)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config h1 = {.name = "h1"};
    struct rdl_lab *lab;
    rdl_host host;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &h1, &host), RDL_OK);
    return lab;
}

/* Returns true if the file of this name exists in the current directory. */
static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

static void each_address_is_a_line(void **state)
{
    struct rdl_lab *lab = new_lab();
    char text[200] = "";
    FILE *file;

    (void)state;
    assert_true(exec_hosts_write(lab, AT_FDCWD));
    file = fopen(PROGRAM_HOSTS_FILE, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "10.0.0.1 h1 127.77.0.1\nfe80::ff:fe00:1 h1 127.77.0.1\n");
    assert_int_equal(unlink(PROGRAM_HOSTS_FILE), 0);
    rdl_lab_free(lab);
}

static void a_name_that_is_taken_leaves_no_file(void **state)
{
    struct rdl_lab *lab = new_lab();

    (void)state;
    assert_int_equal(mkdir(PROGRAM_HOSTS_FILE, 0700), 0);
    assert_false(exec_hosts_write(lab, AT_FDCWD));
    assert_int_equal(errno, EISDIR);
    assert_false(exists(PROGRAM_HOSTS_FILE ".new"));
    assert_int_equal(rmdir(PROGRAM_HOSTS_FILE), 0);
    rdl_lab_free(lab);
}

/* The limit of a file's size stands for a full disk. */
static void a_full_disk_is_told(void **state)
{
    struct rdl_lab *lab = new_lab();
    struct rlimit before, none;
    int error;
    bool good;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    errno = 0;
    good = exec_hosts_write(lab, AT_FDCWD);
    error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(good);
    assert_int_equal(error, EFBIG);
    assert_false(exists(PROGRAM_HOSTS_FILE ".new"));
    assert_false(exists(PROGRAM_HOSTS_FILE));
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_address_is_a_line),
        cmocka_unit_test(a_name_that_is_taken_leaves_no_file),
        cmocka_unit_test(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, own_directory_leave);
}
