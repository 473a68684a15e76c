/* SPDX-License-Identifier: MIT */
/* A virtual machine as guest of a host.
 *
 *   QEMU's processor -> socket of a function -> rdl_vm_access() -> answer
 *   device -> regions of rdl_vm_memory(), which are the machine's memory itself
 *   device -> MSI-X message -> qtest -> QEMU's interrupt controller
 *
 * QEMU waits until an access is answered; the lab never waits for QEMU.  When the machine ends, for
 * whatever reason, its host is left as if it had been switched off.  It can be started again.
 */
#include "cli/live/live_vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/vm_memory.h"
#include "cli/live/vm_process.h"
#include "cli/live/vm_qtest.h"
#include "cli/live/vm_socket.h"

#define FUNCTIONS     2u
#define SERVE_AT_MOST 32u /* requests per function before the lab runs */

/* Value of $LAB: descriptors 3 and 4 are the functions, 5 is qtest. */
static const char lab_options[] =
    "-device x-pci-proxy-dev,id=lab0,fd=3,bus=pcie.0,addr=5.0,multifunction=on "
    "-device x-pci-proxy-dev,id=lab1,fd=4,bus=pcie.0,addr=5.1 "
    "-chardev socket,id=labq,fd=5 -object qtest,id=labirq,chardev=labq,log=/dev/null";

struct live_vm {
    struct live *live;
    struct live_vm *next;
    rdl_host host;
    char name[RDL_NAME_BYTES]; /* of the host */
    struct vm_socket functions[FUNCTIONS];
    struct vm_qtest qtest;
    struct vm_memory memory;
    struct vm_process process;
    enum { VM_RUNS, VM_ENDED, VM_FAILED } state;
    bool reported; /* its failure was reported */
    bool log_told; /* the early end of its log was reported */
    uint64_t accesses, maps;
    char wrong[LIVE_ERROR_BYTES];
};

static void on_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data)
{
    struct live_vm *vm = ctx;

    (void)function;
    vm_qtest_send(&vm->qtest, address, data);
}

/* --- Ending ----------------------------------------------------------------------------------- */

/* Switches the host off: no memory, no driver. */
static void switch_off(struct live_vm *vm)
{
    vm_memory_done(&vm->memory, vm->live->lab, vm->host);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        vm_socket_done(&vm->functions[i]);
        /* Cannot fail: the host has a virtual machine. */
        (void)!rdl_vm_reset(vm->live->lab, vm->host, i);
    }
    vm_qtest_done(&vm->qtest);
    (void)!rdl_vm_listen(vm->live->lab, vm->host, NULL, NULL);
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

/* Executes request @r of function @function; *@ret is the answer.  Returns NULL, or an error. */
static const char *carry_out(struct live_vm *vm, uint32_t function, const struct vm_request *r,
                             uint64_t *ret)
{
    const struct vm_socket *s = &vm->functions[function];
    const struct rdl_vm_access access = {
        .function = function,
        .config = r->cmd == VM_CFGREAD || r->cmd == VM_CFGWRITE,
        .write = r->cmd == VM_CFGWRITE || r->cmd == VM_BAR_WRITE,
        .bytes = r->bytes,
        .addr = r->addr,
        .value = r->value,
    };
    enum rdl_status st = RDL_OK;

    switch (r->cmd) {
    case VM_SYNC_SYSMEM:
        vm->maps++;
        return vm_memory_set(&vm->memory, vm->live->lab, vm->host, r->parts, s->fds, s->n_fds);
    case VM_SET_IRQFD:
        return NULL; /* only KVM uses it, and MSI-X needs none */
    case VM_DEVICE_RESET:
        st = rdl_vm_reset(vm->live->lab, vm->host, function);
        break;
    default:
        vm->accesses++;
        st = rdl_vm_access(vm->live->lab, vm->host, &access, ret);
        break;
    }
    return st == RDL_OK ? NULL : rdl_status_str(st);
}

/* Executes waiting requests of @function.  Returns true if there were any. */
static bool serve_function(struct live_vm *vm, uint32_t function)
{
    struct vm_socket *s = &vm->functions[function];
    struct vm_request r;
    uint32_t n;

    for (n = 0; vm->state == VM_RUNS && s->fd >= 0 && n < SERVE_AT_MOST; n++) {
        const enum vm_got got = vm_socket_read(s, &r);
        const char *wrong;
        uint64_t value = 0;

        if (got == VM_NOTHING)
            break;
        if (got == VM_CLOSED) {
            vm_socket_done(s); /* the end of the process will tell the reason */
            continue;
        }
        live_move_clock(vm->live);
        wrong = got == VM_NONSENSE ? "it does not speak the protocol of QEMU 7.2's x-pci-proxy-dev"
                                   : carry_out(vm, function, &r, &value);
        if (wrong)
            fail(vm, wrong);
        else if (vm_wants_answer(r.cmd) && !vm_socket_answer(s, value))
            vm_socket_done(s);
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

    for (uint32_t i = 0; i < FUNCTIONS; i++)
        any |= serve_function(vm, i);
    if (vm->state != VM_RUNS)
        return any;
    wrong = vm_qtest_go(&vm->qtest);
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
        for (uint32_t i = 0; i < FUNCTIONS && vm->state == VM_RUNS; i++)
            ret[n++] = (struct pollfd){.fd = vm->functions[i].fd, .events = POLLIN};
        if (vm->state == VM_RUNS)
            ret[n++] = (struct pollfd){.fd = vm->qtest.fd, .events = POLLIN};
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

/* Creates socket pairs.  This process's ends are non-blocking and not inherited. */
static bool make_pairs(int ours[VM_FDS], int theirs[VM_FDS])
{
    for (unsigned i = 0; i < VM_FDS; i++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            while (i-- > 0) {
                close(ours[i]);
                close(theirs[i]);
            }
            return false;
        }
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    return true;
}

/* Starts its process.  @log receives its output and is closed at the end; it may be NULL. */
static bool start(struct live_vm *vm, const char *command, FILE *log, struct live_error *reterr)
{
    int ours[VM_FDS], theirs[VM_FDS];
    enum rdl_status st;
    bool started = false;

    if (!make_pairs(ours, theirs)) {
        live_error_set(reterr, "no sockets", strerror(errno),
                       "\"ulimit -n\" tells how many files there may be");
        return false;
    }
    vm->process = (struct vm_process){.loop = &vm->live->loop, .leash = -1};
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        vm_socket_init(&vm->functions[i], ours[i]);
    vm_qtest_init(&vm->qtest, ours[FUNCTIONS]);
    st = rdl_vm_listen(vm->live->lab, vm->host, on_interrupt, vm);
    if (st == RDL_OK)
        started = vm_process_start(&vm->process, command, lab_options, theirs, log, reterr);
    else
        live_error_set(reterr, vm->name, rdl_status_str(st), rdl_status_remedy(st));
    for (unsigned i = 0; i < VM_FDS; i++)
        close(theirs[i]);
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
        live_error_set(reterr, config->host_name, "a lab has at most 4 virtual machines",
                       "start another rdmalab");
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
    if (!vm || !start(vm, config->command, config->log, reterr)) {
        if (config->log)
            fclose(config->log);
        return false;
    }
    vm->state = VM_RUNS;
    vm->reported = vm->log_told = false;
    vm->accesses = vm->maps = 0;
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
                       vm->maps == 0 ? "it has not come to the lab's functions: the command needs "
                                       "$LAB, and QEMU 7.2 (help port)"
                                     : "the lab goes on without it; \"port vm\" starts it again");
        return true;
    }
    return false;
}

bool live_vm_at(const struct live *l, uint32_t i, struct live_vm_info *ret)
{
    const struct live_vm *vm = l->vms;

    while (vm && i-- > 0)
        vm = vm->next;
    if (!vm)
        return false;
    *ret = (struct live_vm_info){
        .runs = vm->state == VM_RUNS,
        .failed = vm->state == VM_FAILED,
        .pid = vm->state == VM_RUNS ? vm->process.process.pid : 0,
        .accesses = vm->accesses,
        .maps = vm->maps,
        .interrupts = vm->qtest.sent,
        .merged = vm->qtest.merged,
        .log_error = vm->process.log_error,
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
