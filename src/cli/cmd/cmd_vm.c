/* SPDX-License-Identifier: MIT */
/* Virtual machines as hosts: port vm. */
#include "cli/cmd/commands.h"
#include "cli/cmd/outside.h"
#include "cli/live/live.h"
#include "cli/session/gate.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "rdmalab/vm.h"

#define COMMAND_BYTES   4096u
#define VFIO_USER_NEEDS "QEMU 10.1 and later have its device vfio-user-pci"
#define MEMORY_STANDARD ((uint64_t)512 << 20)

/* @word as one word of a shell. */
static void add_quoted(struct text *t, const char *word)
{
    text_add(t, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(t, "'\\'");
        text_addn(t, word, 1);
    }
    text_add(t, "'");
}

/* QEMU without anything but a processor, memory, a serial line, and what the lab gives it.  False:
 * a file cannot be read, and s->diag says why.
 */
static bool add_standard(struct session *s, const struct step *st, enum live_vm_transport transport,
                         struct text *t)
{
    /* By x-pci-proxy, one thread must be all processors. */
    const char *processors = transport == LIVE_VM_PROXY ? "single" : "multi -smp 2";
    char kernel[PATH_MAX], initrd[PATH_MAX] = ""; /* "": none */
    const uint64_t mib = step_number_or(st, "memory", MEMORY_STANDARD) >> 20;

    if (!gate_path(s, st, "kernel", kernel) ||
        (step_has(st, "initrd") && !gate_path(s, st, "initrd", initrd)))
        return false;
    text_addf(t,
              "exec qemu-system-x86_64 -machine q35,memory-backend=mem -object "
              "memory-backend-memfd,id=mem,size=%lluM,share=on -m %lluM "
              "-accel tcg,thread=%s -cpu max -nodefaults -display none -no-reboot "
              "-serial stdio -kernel ",
              (unsigned long long)mib, (unsigned long long)mib, processors);
    add_quoted(t, kernel);
    if (initrd[0]) {
        text_add(t, " -initrd ");
        add_quoted(t, initrd);
    }
    text_add(t, " -append 'console=ttyS0 panic=-1 '");
    if (step_has(st, "append"))
        add_quoted(t, step_text(st, "append")); /* behind the quote it is the same word */
    text_add(t, " $LAB");
    return true;
}

/* Checks that the step says which machine it is, once.  False: s->diag says what is missing. */
static bool check_parts(struct session *s, const struct step *st)
{
    static const char *const parts[] = {"kernel", "initrd", "append", "memory"};

    for (size_t i = 0; step_has(st, "command") && i < ARRAY_LEN(parts); i++) {
        if (!step_has(st, parts[i]))
            continue;
        session_fail(s, step_span(st, parts[i], 0), "a command says itself what its %s is",
                     parts[i]);
        return diag_remedy(&s->diag, "leave one of the two out");
    }
    if (step_has(st, "command") || step_has(st, "kernel"))
        return true;
    session_fail(s, st->at, "nothing says which machine that is");
    return diag_remedy(&s->diag, "kernel=FILE and initrd=FILE, or command=\"qemu-system-x86_64 ... "
                                 "$LAB\"; \"help port\" tells more");
}

/* The command that is given, or made of what is given.  False: s->diag says why not. */
static bool read_command(struct session *s, const struct step *st, enum live_vm_transport transport,
                         struct text *t)
{
    if (step_has(st, "command"))
        text_add(t, step_text(st, "command"));
    else if (!add_standard(s, st, transport, t))
        return false;
    if (!t->cut)
        return true;
    session_fail(s, st->at, "the command is longer than %u bytes", COMMAND_BYTES);
    return diag_remedy(&s->diag, "put it into a file, and let the command run that: sh FILE $LAB");
}

/* The host of a virtual machine: one without a guest of the lab's. */
static bool read_host(struct session *s, const struct step *st, rdl_host *ret)
{
    const struct scope in = session_scope(s);
    const char *name = step_text(st, "host");

    if (!resolve_host(&in, st, "host", ret, &s->diag))
        return false;
    if (rdl_vm_is_guest(s->lab, *ret))
        return true;
    session_fail(s, step_span(st, "host", 0), "%s has a guest of the lab's", name);
    return diag_remedy(&s->diag, "\"host NAME vm\" makes a host for a virtual machine");
}

/* Returns true if the lab has no Ethernet function of @host.  QEMU must then have one beside the
 * functions of the lab in the same slot, which only vfio-user allows.
 */
static bool needs_vfio_user(const struct session *s, rdl_host host)
{
    struct rdl_vm_function function;

    return rdl_vm_function(s->lab, host, 0, &function) != RDL_OK;
}

/* Chooses the way of the machine to the lab.  A command may start a QEMU that only it knows: its
 * transport= is not doubted, and without one it is assumed to be new.
 */
static bool read_transport(struct session *s, const struct step *st, rdl_host host,
                           struct live_vm_choice *ret)
{
    enum live_vm_transport wanted =
        (enum live_vm_transport)step_number_or(st, "transport", LIVE_VM_EITHER);
    struct live_error error;

    if (needs_vfio_user(s, host)) {
        if (wanted == LIVE_VM_PROXY) {
            session_fail(s, step_span(st, "transport", 0), "%s has PVRDMA, which needs vfio-user",
                         step_text(st, "host"));
            return diag_remedy(&s->diag, "leave transport= out; " VFIO_USER_NEEDS);
        }
        wanted = LIVE_VM_VFIO_USER;
    }
    if (step_has(st, "command") && wanted != LIVE_VM_EITHER) {
        *ret = (struct live_vm_choice){.transport = wanted};
        return true;
    }
    if (s->config.live_ops->vm_find(wanted, ret, &error))
        return true;
    if (!step_has(st, "command")) {
        if (needs_vfio_user(s, host))
            snprintf(error.remedy, sizeof(error.remedy),
                     "PVRDMA needs vfio-user: " VFIO_USER_NEEDS);
        return outside_fail(s, st, &error);
    }
    *ret = (struct live_vm_choice){.transport = LIVE_VM_VFIO_USER};
    snprintf(ret->text, sizeof(ret->text), "by vfio-user (%.200s)", error.message);
    return true;
}

bool port_vm(struct session *s, const struct step *st)
{
    struct live_vm_choice choice;
    char command[COMMAND_BYTES];
    struct text t = text_on(command, sizeof(command));
    struct live_vm_config c = {
        .host_name = step_text(st, "host"),
        .command = command,
    };
    struct live_error error;

    if (!read_host(s, st, &c.host) || !check_parts(s, st) || !outside_open(s, st) ||
        !read_transport(s, st, c.host, &choice) || !read_command(s, st, choice.transport, &t))
        return false;
    c.transport = choice.transport;
    if (step_has(st, "log") && !gate_log(s, st, "log", &c.log))
        return false;
    if (!s->config.live_ops->vm(s->outside.live, &c, &error))
        return outside_fail(s, st, &error);
    session_lift_limits(s);
    session_say(s,
                "%s: a virtual machine starts%s%s; the clock follows real time, and \"run\" runs "
                "until it ends\n",
                c.host_name, choice.text[0] ? ", " : "", choice.text);
    return true;
}

bool run_offer(struct session *s, const struct step *st)
{
    enum rdl_status status;
    rdl_host host;

    if (!read_host(s, st, &host))
        return false;
    status = rdl_vm_offer(s->lab, host, step_bits(st, "features_off"),
                          step_bits(st, "net_features_off"));
    return status == RDL_OK || session_fail_status(s, st->at, step_text(st, "host"), status);
}
