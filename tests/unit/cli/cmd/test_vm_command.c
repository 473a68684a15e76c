/* SPDX-License-Identifier: MIT */
/* Tests of the shell commands that `port vm` runs, as seen by a simulated outside world. */
#include "cli/lab_session.h"

#include <stdio.h>
#include <string.h>

#include "cli/live/live.h"

static char started[8192];               /* the command that was to be started last */
static enum live_vm_transport transport; /* and its way to the lab */

static struct live *open_live(struct rdl_lab *lab, bool is_virtual)
{
    (void)is_virtual;
    return (struct live *)lab; /* never dereferenced */
}

static void close_live(struct live *l)
{
    (void)l;
}

static bool nothing_attached(const struct live *l)
{
    (void)l;
    return false;
}

/* A machine whose QEMU can do either, and which has vfio-user first. */
static bool find(enum live_vm_transport wanted, struct live_vm_choice *ret,
                 struct live_error *reterr)
{
    (void)reterr;
    *ret =
        (struct live_vm_choice){.transport = wanted == LIVE_VM_PROXY ? wanted : LIVE_VM_VFIO_USER,
                                .text = "QEMU by one of them"};
    return true;
}

static bool find_nothing(enum live_vm_transport wanted, struct live_vm_choice *ret,
                         struct live_error *reterr)
{
    (void)wanted;
    (void)ret;
    *reterr = (struct live_error){.message = "no QEMU here", .remedy = "install it"};
    return false;
}

static bool start_vm(struct live *l, const struct live_vm_config *config, struct live_error *reterr)
{
    (void)l;
    (void)reterr;
    snprintf(started, sizeof(started), "%s", config->command);
    transport = config->transport;
    return true;
}

static void expect_part(const char *part)
{
    if (!strstr(started, part))
        fail_msg("%s has no %s", started, part);
}

static const struct live_ops ops = {.open = open_live,
                                    .close = close_live,
                                    .vm_find = find,
                                    .vm = start_vm,
                                    .attached = nothing_attached};

static void words_reach_the_kernel_whole(void **state)
{
    char line[8192], many[3001];
    struct lab l;

    (void)state;
    memset(many, 'x', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    lab_open(&l, false);
    l.s->config.live_ops = &ops;
    lab_run(&l, "host h1 vm; port vm h1 kernel=\"a b\"");
    expect_part(" -kernel 'a b' ");
    expect_part("console=ttyS0 panic=-1");
    assert_null(strstr(started, "-initrd"));
    lab_run(&l, "port vm h1 kernel=k initrd=i append=\"it's x=1\"");
    expect_part(" -initrd 'i' ");
    expect_part("it'\\''s x=1' $LAB");
    snprintf(line, sizeof(line), "port vm h1 kernel=k append=\"%s quiet\"", many);
    lab_run(&l, line);
    expect_part("x quiet'");
    snprintf(line, sizeof(line), "port vm h1 kernel=k append=\"%s%s\"", many, many);
    started[0] = '\0';
    assert_false(lab_try(&l, line)); /* a command that is too long is reported, not truncated */
    assert_string_equal(started, "");
    lab_close(&l);
}

/* A machine by vfio-user has two processors; one by x-pci-proxy is a single thread. */
static void the_transport_decides_the_processors(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    l.s->config.live_ops = &ops;
    lab_run(&l, "host h1 vm; port vm h1 kernel=k");
    expect_part("thread=multi -smp 2 ");
    assert_int_equal(transport, LIVE_VM_VFIO_USER);
    lab_run(&l, "port vm h1 kernel=k transport=x_pci_proxy");
    expect_part("thread=single ");
    assert_int_equal(transport, LIVE_VM_PROXY);
    lab_close(&l);
}

/* A command may know a QEMU that is not in the PATH. */
static void a_command_needs_no_qemu_here(void **state)
{
    struct live_ops none = ops;
    struct lab l;

    (void)state;
    none.vm_find = find_nothing;
    lab_open(&l, false);
    l.s->config.live_ops = &none;
    lab_run(&l, "host h1 vm; port vm h1 command=\"./mine $LAB\" transport=x_pci_proxy");
    assert_string_equal(started, "./mine $LAB");
    assert_int_equal(transport, LIVE_VM_PROXY);
    lab_run(&l, "port vm h1 command=\"./other $LAB\"");
    assert_string_equal(started, "./other $LAB");
    assert_int_equal(transport, LIVE_VM_VFIO_USER);
    started[0] = '\0';
    assert_false(lab_try(&l, "port vm h1 kernel=k transport=vfio_user"));
    assert_string_equal(started, "");
    lab_close(&l);
}

/* PVRDMA has its Ethernet function from QEMU, which only vfio-user allows. */
static void pvrdma_needs_vfio_user(void **state)
{
    struct live_ops none = ops;
    struct lab l;

    (void)state;
    none.vm_find = find_nothing;
    lab_open(&l, false);
    l.s->config.live_ops = &ops;
    lab_run(&l, "host h1 vm device=pvrdma; port vm h1 kernel=k");
    assert_int_equal(transport, LIVE_VM_VFIO_USER);
    started[0] = '\0';
    assert_false(lab_try(&l, "port vm h1 kernel=k transport=x_pci_proxy"));
    assert_false(lab_try(&l, "port vm h1 command=c transport=x_pci_proxy"));
    l.s->config.live_ops = &none;
    assert_false(lab_try(&l, "port vm h1 kernel=k"));
    assert_non_null(strstr(l.s->diag.remedy, "QEMU 10.1"));
    assert_string_equal(started, "");
    lab_run(&l, "port vm h1 command=\"./other $LAB\"");
    assert_int_equal(transport, LIVE_VM_VFIO_USER);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pvrdma_needs_vfio_user),
        cmocka_unit_test(words_reach_the_kernel_whole),
        cmocka_unit_test(the_transport_decides_the_processors),
        cmocka_unit_test(a_command_needs_no_qemu_here),
    };

    return cmocka_run_group_tests_name("vm_command", tests, NULL, NULL);
}
