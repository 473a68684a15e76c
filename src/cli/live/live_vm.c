/* SPDX-License-Identifier: MIT */
/* A virtual machine as guest of a host.
 *
 * Its process reaches the functions of the host through a transport (vm_transport.h).
 * QEMU waits until an access is answered; the lab never waits for QEMU.  When the machine ends, for
 * whatever reason, its host is left as if it had been switched off.  It can be started again.
 */
#include "cli/live/live_vm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live/vm_net.h"
#include "cli/live/vm_process.h"
#include "cli/live/vm_transport.h"
#include "rdmalab/port.h"
#include "rdmalab/vm.h"

_Static_assert(VM_FDS + 1 <= LIVE_VM_FDS,
               "all descriptors of a transport are waited for, and that of "
               "Ethernet frames");

#define SERVE_AT_MOST 32u /* requests per function, and frames, before the lab runs */

struct live_vm {
    struct live *live;
    struct live_vm *next;
    rdl_host host;
    char name[RDL_NAME_BYTES];      /* of the host */
    struct vm_transport *transport; /* NULL: the host is switched off */
    enum live_vm_transport kind;    /* of @transport, or of the last one */
    struct vm_net net;
    struct vm_process process;
    enum { VM_RUNS, VM_ENDED, VM_FAILED } state;
    bool reported;           /* its failure was reported */
    bool log_told;           /* the early end of its log was reported */
    struct vm_counts counts; /* of the last machine, when it has ended */
    char wrong[LIVE_ERROR_BYTES];
};

static void on_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data)
{
    struct live_vm *vm = ctx;

    vm->transport->ops->interrupt(vm->transport, function, address, data);
}

/* --- Ending ----------------------------------------------------------------------------------- */

/* Switches the host off: no memory, no driver. */
static void switch_off(struct live_vm *vm)
{
    if (!vm->transport)
        return;
    (void)!rdl_vm_listen(vm->live->lab, vm->host, NULL, NULL);
    vm->transport->ops->count(vm->transport, &vm->counts);
    vm->transport->ops->close(vm->transport);
    vm_net_close(&vm->net);
    vm->transport = NULL;
}

/* Stops the machine because of the error @why. */
static void fail(struct live_vm *vm, const char *why)
{
    snprintf(vm->wrong, sizeof(vm->wrong), "%s", why);
    vm->state = VM_FAILED;
    switch_off(vm);
    vm_process_stop(&vm->process);
}

/* Handles the end of its process. */
static void end(struct live_vm *vm)
{
    const struct vm_process *p = &vm->process;

    vm->state = p->status == 0 ? VM_ENDED : VM_FAILED;
    if (p->status > 128)
        snprintf(vm->wrong, sizeof(vm->wrong), "the virtual machine was ended by signal %lld%s%s",
                 (long long)p->status - 128, p->line[0] ? "; its last line: " : "", p->line);
    else if (p->status != 0)
        snprintf(vm->wrong, sizeof(vm->wrong), "the virtual machine ended with status %lld%s%s",
                 (long long)p->status, p->line[0] ? ": " : "", p->line);
    else
        fprintf(vm->live->out, "%s: the virtual machine has ended\n", vm->name);
    switch_off(vm);
    vm_process_stop(&vm->process);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Executes waiting requests of @function.  Returns true if there were any. */
static bool serve_function(struct live_vm *vm, uint32_t function)
{
    uint32_t n;

    for (n = 0; vm->state == VM_RUNS && n < SERVE_AT_MOST; n++) {
        struct vm_transport *t = vm->transport;
        const enum vm_got got = t->ops->receive(t, function);
        const char *wrong;

        if (got == VM_NOTHING)
            break;
        if (got == VM_CLOSED) {
            t->ops->disconnect(t, function); /* the end of the process will tell the reason */
            continue;
        }
        if (got == VM_NONSENSE) {
            char text[LIVE_ERROR_BYTES];

            snprintf(text, sizeof(text), "it does not speak %s", t->ops->speaks);
            fail(vm, text);
            continue;
        }
        live_move_clock(vm->live);
        wrong = t->ops->execute(t, function);
        if (wrong)
            fail(vm, wrong);
    }
    return n > 0;
}

/* Passes waiting Ethernet frames of the machine to the lab.  Returns true if there were any. */
static bool serve_net(struct live_vm *vm)
{
    uint8_t frame[RDL_PORT_FRAME_BYTES_MAX];
    uint32_t n;

    for (n = 0; vm->state == VM_RUNS && n < SERVE_AT_MOST; n++) {
        const size_t bytes = vm_net_read(&vm->net, frame, sizeof(frame));

        if (bytes == 0)
            break;
        live_move_clock(vm->live);
        vm_net_send(&vm->net, frame, bytes);
    }
    return n > 0;
}

static void report_log_error(struct live_vm *vm)
{
    if (vm->log_told || vm->process.log_error == 0)
        return;
    vm->log_told = true;
    fprintf(
        vm->live->out,
        "%s: what it prints can no longer be written into its log: %s; \"show live\" has the last "
        "line\n",
        vm->name, strerror(vm->process.log_error));
}

static bool serve(struct live_vm *vm)
{
    const char *wrong;
    bool any = false;

    for (uint32_t i = 0; i < VM_FUNCTIONS; i++)
        any |= serve_function(vm, i);
    any |= serve_net(vm);
    if (vm->state != VM_RUNS)
        return any;
    wrong = vm->transport->ops->flush(vm->transport);
    if (wrong)
        fail(vm, wrong);
    else if (vm->process.over)
        end(vm);
    return any;
}

bool live_vms_serve(struct live *l)
{
    bool any = false;

    for (struct live_vm *vm = l->vms; vm; vm = vm->next) {
        report_log_error(vm); /* also after its end: its last output may be missing */
        if (vm->state == VM_RUNS)
            any |= serve(vm);
    }
    return any;
}

unsigned live_vms_fds(const struct live *l, struct pollfd *ret)
{
    unsigned n = 0;

    for (const struct live_vm *vm = l->vms; vm; vm = vm->next) {
        if (vm->state == VM_RUNS)
            n += vm->transport->ops->fds(vm->transport, ret + n);
        if (vm->state == VM_RUNS && vm->net.fd >= 0)
            ret[n++] = (struct pollfd){.fd = vm->net.fd, .events = POLLIN};
    }
    return n;
}

/* --- Starting --------------------------------------------------------------------------------- */

static struct live_vm *vm_of(const struct live *l, const char *name)
{
    struct live_vm *vm = l->vms;

    while (vm && strcmp(vm->name, name) != 0)
        vm = vm->next;
    return vm;
}

static const struct vm_transport_ops *ops_of(enum live_vm_transport transport)
{
    return transport == LIVE_VM_VFIO_USER ? &vm_vfu_ops : &vm_proxy_ops;
}

void vm_transport_init(struct vm_transport *t, const struct vm_transport_ops *ops,
                       struct rdl_lab *lab, rdl_host host)
{
    *t = (struct vm_transport){.ops = ops, .lab = lab, .host = host};
    for (uint32_t i = 0; i < VM_FUNCTIONS; i++)
        t->functions[i].exists = rdl_vm_function(lab, host, i, &t->functions[i].is) == RDL_OK;
}

/* Starts its process, whose output goes to config->log.  On failure that stays open. */
static bool start(struct live_vm *vm, const struct live_vm_config *config,
                  struct live_error *reterr)
{
    const struct vm_transport_ops *ops = ops_of(config->transport);
    struct vm_launch launch = {.n_fds = 0};
    enum rdl_status st;
    bool started = false, has_net;

    vm->kind = config->transport;
    vm->transport = ops->prepare(vm->live->lab, vm->host, &launch, reterr);
    if (!vm->transport)
        return false;
    vm->process = (struct vm_process){.loop = &vm->live->loop, .leash = -1};
    has_net = vm_net_open(&vm->net, vm->live->lab, vm->host, &launch, reterr);
    st = rdl_vm_listen(vm->live->lab, vm->host, on_interrupt, vm);
    if (st == RDL_OK)
        started = has_net &&
                  vm_process_start(&vm->process, config->command, &launch, config->log, reterr);
    else
        live_error_set(reterr, vm->name, rdl_status_str(st), rdl_status_remedy(st));
    for (unsigned i = 0; i < launch.n_fds; i++)
        close(launch.fds[i]);
    if (started)
        return true;
    switch_off(vm);
    return false;
}

/* Returns an entry for the machine of a host, which must have no running one.  Returns NULL, with
 * the reason in @reterr, on failure.
 */
static struct live_vm *place_for(struct live *l, const struct live_vm_config *config,
                                 struct live_error *reterr)
{
    struct live_vm *vm = vm_of(l, config->host_name), **last = &l->vms;
    char why[LIVE_ERROR_BYTES];
    unsigned n = 0;

    if (vm && vm->state == VM_RUNS) {
        live_error_set(reterr, vm->name, "its virtual machine runs already",
                       "\"show live\" tells of it");
        return NULL;
    }
    if (vm)
        return vm;
    for (; *last; last = &(*last)->next)
        n++;
    if (n == LIVE_VMS_MAX) {
        snprintf(why, sizeof(why), "a lab has at most %u virtual machines", LIVE_VMS_MAX);
        live_error_set(reterr, config->host_name, why, "start another rdmalab");
        return NULL;
    }
    vm = calloc(1, sizeof(*vm));
    if (!vm) {
        live_error_set(reterr, config->host_name, rdl_status_str(RDL_ERR_NOMEM),
                       rdl_status_remedy(RDL_ERR_NOMEM));
        return NULL;
    }
    vm->live = l;
    vm->host = config->host;
    snprintf(vm->name, sizeof(vm->name), "%s", config->host_name);
    vm->state = VM_ENDED;
    *last = vm;
    return vm;
}

bool live_vm_start(struct live *l, const struct live_vm_config *config, struct live_error *reterr)
{
    struct live_vm *vm = place_for(l, config, reterr);

    /* It fails for a device or pipe, which has nothing to empty. */
    if (vm && config->log)
        (void)!ftruncate(fileno(config->log), 0);
    if (!vm || !start(vm, config, reterr)) {
        if (config->log)
            fclose(config->log);
        return false;
    }
    vm->state = VM_RUNS;
    vm->reported = vm->log_told = false;
    live_attach(l);
    return true;
}

/* --- Reports ---------------------------------------------------------------------------------- */

bool live_vms_run(const struct live *l)
{
    for (const struct live_vm *vm = l->vms; vm; vm = vm->next) {
        if (vm->state == VM_RUNS)
            return true;
    }
    return false;
}

bool live_vms_failed(struct live *l, struct live_error *reterr)
{
    for (struct live_vm *vm = l->vms; vm; vm = vm->next) {
        if (vm->state != VM_FAILED || vm->reported)
            continue;
        vm->reported = true;
        live_error_set(reterr, vm->name, vm->wrong,
                       vm->counts.maps == 0
                           ? "it has not come to the lab's functions: the command needs $LAB, and "
                             "a QEMU that fits transport= (help port)"
                           : "the lab goes on without it; \"port vm\" starts it again");
        return true;
    }
    return false;
}

bool live_vm_at(const struct live *l, uint32_t i, struct live_vm_info *ret)
{
    const struct live_vm *vm = l->vms;
    struct vm_counts counts;

    while (vm && i-- > 0)
        vm = vm->next;
    if (!vm)
        return false;
    counts = vm->counts;
    if (vm->transport)
        vm->transport->ops->count(vm->transport, &counts);
    *ret = (struct live_vm_info){
        .runs = vm->state == VM_RUNS,
        .failed = vm->state == VM_FAILED,
        .transport = vm->kind,
        .pid = vm->state == VM_RUNS ? vm->process.process.pid : 0,
        .accesses = counts.accesses,
        .maps = counts.maps,
        .interrupts = counts.interrupts,
        .merged = counts.merged,
        .log_error = vm->process.log_error,
        .has_ethernet = vm->net.exists,
        .in_frames = vm->net.in_frames,
        .out_frames = vm->net.out_frames,
        .in_dropped = vm->net.in_dropped,
        .out_dropped = vm->net.out_dropped,
    };
    snprintf(ret->host, sizeof(ret->host), "%s", vm->name);
    snprintf(ret->line, sizeof(ret->line), "%s", vm->process.line);
    return true;
}

void live_vms_stop(struct live *l)
{
    for (struct live_vm *vm = l->vms; vm; vm = vm->next) {
        if (vm->state != VM_RUNS)
            continue;
        vm->state = VM_ENDED;
        switch_off(vm); /* first, since the process may wait for an answer */
        vm_process_stop(&vm->process);
    }
}

void live_vms_free(struct live *l)
{
    while (l->vms) {
        struct live_vm *vm = l->vms;

        l->vms = vm->next;
        free(vm);
    }
}
