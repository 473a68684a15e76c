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
static bool add_standard(struct session *s, const struct step *st, struct text *t)
{
    char kernel[PATH_MAX], initrd[PATH_MAX] = ""; /* "": none */
    const uint64_t mib = step_number_or(st, "memory", MEMORY_STANDARD) >> 20;

    if (!gate_path(s, st, "kernel", kernel) ||
        (step_has(st, "initrd") && !gate_path(s, st, "initrd", initrd)))
        return false;
    text_addf(t,
              "exec qemu-system-x86_64 -machine q35,memory-backend=mem -object "
              "memory-backend-memfd,id=mem,size=%lluM,share=on -m %lluM "
              "-accel tcg,thread=single -cpu max -nodefaults -display none -no-reboot "
              "-serial stdio -kernel ",
              (unsigned long long)mib, (unsigned long long)mib);
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

/* The command that is given, or made of what is given.  False: s->diag says what is missing. */
static bool read_command(struct session *s, const struct step *st, struct text *t)
{
    static const char *const parts[] = {"kernel", "initrd", "append", "memory"};

    for (size_t i = 0; step_has(st, "command") && i < ARRAY_LEN(parts); i++) {
        if (!step_has(st, parts[i]))
            continue;
        session_fail(s, step_span(st, parts[i], 0), "a command says itself what its %s is",
                     parts[i]);
        return diag_remedy(&s->diag, "leave one of the two out");
    }
    if (step_has(st, "command")) {
        text_add(t, step_text(st, "command"));
    } else if (step_has(st, "kernel")) {
        if (!add_standard(s, st, t))
            return false;
    } else {
        session_fail(s, st->at, "nothing says which machine that is");
        return diag_remedy(&s->diag, "kernel=FILE and initrd=FILE, or command=\"qemu-system-x86_64 "
                                     "... $LAB\"; \"help port\" tells more");
    }
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

bool port_vm(struct session *s, const struct step *st)
{
    char command[COMMAND_BYTES];
    struct text t = text_on(command, sizeof(command));
    struct live_vm_config c = {
        .host_name = step_text(st, "host"),
        .command = command,
    };
    struct live_error error;

    if (!read_host(s, st, &c.host) || !read_command(s, st, &t) || !outside_open(s, st))
        return false;
    if (step_has(st, "log") && !gate_log(s, st, "log", &c.log))
        return false;
    if (!s->config.live_ops->vm(s->outside.live, &c, &error))
        return outside_fail(s, st, &error);
    session_lift_limits(s);
    session_say(s,
                "%s: a virtual machine starts; the clock follows real time, and \"run\" runs "
                "until it ends\n",
                c.host_name);
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
