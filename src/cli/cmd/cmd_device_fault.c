/* SPDX-License-Identifier: MIT */
/* Faults of devices at their queues: lose, postpone, stall, invent, falsify. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/fault_counts.h"
#include "cli/cmd/limit.h"
#include "cli/session/resolve.h"
#include "cli/session/unmet.h"
#include "cli/show/show_vq.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/leaf.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/trace/kind.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

#define SAID_BYTES 512u /* a condition may be long */

/* Returns the name of one occasion, as the device calls it. */
static const char *noun_of(uint32_t kind, bool pvrdma)
{
    static const char *const nouns[] = {
        [FLT_LOST_KICK] = "kick",      [FLT_LOST_INTERRUPT] = "interrupt",
        [FLT_LATE_DATA] = "buffer",    [FLT_STUCK_QUEUE] = "buffer",
        [FLT_SPURIOUS] = "completion", [FLT_LOST_CQE] = "completion",
        [FLT_FALSE_DATA] = "buffer",   [FLT_FALSE_LENGTH] = "buffer",
        [FLT_FALSE_READ] = "read",
    };

    if (pvrdma && kind == FLT_LOST_KICK)
        return "doorbell";
    return pvrdma && kind == FLT_LATE_DATA ? "answer" : nouns[kind];
}

/* "the 2nd kick of h1.qp.sq", "the next 3 buffers of h1", "every interrupt of h1.cq" */
static void add_which(struct text *t, const struct rdl_device_fault_config *f, bool pvrdma,
                      const char *queue)
{
    text_add_which(t, f->nth, f->every, f->count);
    text_addf(t, " %s%s of %s", noun_of(f->kind, pvrdma),
              f->count > 1 && f->count != RDL_ANY && f->every < 2 ? "s" : "", queue);
    if (f->nth > 1 && f->count != 1 && f->nth != f->every)
        text_addf(t, ", from number %u on", f->nth);
    if (f->every > 1 && f->count != RDL_ANY)
        text_addf(t, ", %u time%s", f->count, plural_s(f->count));
}

/* "loses the 2nd kick of h1.qp.sq" */
static void add_about(struct text *t, const struct step *st,
                      const struct rdl_device_fault_config *f, bool pvrdma, const char *queue)
{
    static const char *const does[] = {
        [FLT_LOST_KICK] = "loses ",
        [FLT_LOST_INTERRUPT] = "loses ",
        [FLT_LATE_DATA] = "gives back ",
        [FLT_STUCK_QUEUE] = "stops at ",
        [FLT_SPURIOUS] = "invents a completion behind ",
        [FLT_LOST_CQE] = "loses ",
        [FLT_FALSE_DATA] = "writes something wrong to ",
        [FLT_FALSE_LENGTH] = "tells a wrong length of ",
        [FLT_FALSE_READ] = "gives a wrong answer to ",
    };

    text_add(t, pvrdma && f->kind == FLT_LATE_DATA ? "delays " : does[f->kind]);
    add_which(t, f, pvrdma, queue);
    if (f->kind == FLT_LATE_DATA)
        text_add(t, pvrdma ? " by " : " before its bytes are there, ");
    if (f->kind == FLT_STUCK_QUEUE)
        text_add(t, f->time_ns ? ", for " : ", until it is cleared");
    if (f->time_ns)
        quantity_add_time_short(t, f->time_ns);
    if (f->kind == FLT_LATE_DATA && !pvrdma)
        text_add(t, " later");
    if (f->kind == FLT_SPURIOUS && f->id != RDL_ANY)
        text_addf(t, ", desc %u", f->id);
    if (f->kind == FLT_FALSE_DATA && f->at != RDL_ANY)
        text_addf(t, ", byte %u", f->at);
    if (f->kind >= FLT_FALSE_DATA && f->flip != RDL_ANY)
        text_addf(t, ", bits 0x%x", f->flip);
    if (f->chance_ppm) {
        text_add(t, ", by chance: ");
        quantity_add(t, QUANTITY_CHANCE, f->chance_ppm);
    }
    if (f->where)
        text_addf(t, ", where %s", step_text(st, "where"));
}

static bool which_queue(struct session *s, const struct step *st, const char *path)
{
    session_fail(s, step_span(st, "queue", 0), "%s has more than one virtqueue, or none", path);
    return diag_remedy(&s->diag,
                       "say which: h1.qp.sq, h1.qp.rq, h1.cq, h1.srq.rq, h1.ctrl, "
                       "h1.async.queue, h1.ceq[0], h1.net.rx, h1.net.tx; h1 or h1.net: all "
                       "of them");
}

/* Finds the number of the ring of PVRDMA at @path, whose value is @v: the ring of an object, or the
 * commands of a shared region.  Returns false if there is none.
 */
static bool find_ring(struct session *s, const char *path, const struct rdl_value *v, uint32_t *ret)
{
    char ring[TREE_PATH_BYTES];

    if (tree_value_is(v, NODE_dsr)) {
        *ret = PV_QUEUE_COMMANDS;
        return true;
    }
    if (tree_value_is(v, NODE_ring))
        *ret = (uint32_t)tree_number(s->lab, path, LEAF_ring_number);
    else if (tree_value_is(v, NODE_cq) && tree_child(s->lab, path, CHILD_cq_ring, ring))
        *ret = (uint32_t)tree_number(s->lab, ring, LEAF_ring_number);
    else
        return false;
    return true;
}

/* Finds the queue, its owner, and its path. */
static bool resolve_queue(struct session *s, const struct step *st,
                          struct rdl_device_fault_config *f, char path[SESSION_PATH_BYTES])
{
    const struct scope in = session_scope(s);
    char host[RDL_NAME_BYTES], queue[TREE_PATH_BYTES];
    struct rdl_value v;
    size_t at = 0;

    resolve_path(&in, step_text(st, "queue"), path);
    if (rdl_inspect(s->lab, path, &v, &at) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "queue", 0), path, "nothing", &s->diag);
    resolve_host_name(path, host);
    if (rdl_find_host(s->lab, host, &f->host) != RDL_OK)
        return which_queue(s, st, path);
    (void)tree_child(s->lab, host, CHILD_host_net, queue);
    f->net = strncmp(path, queue, strlen(queue)) == 0;
    f->queue = RDL_ANY;
    if (tree_value_is(&v, NODE_host) || tree_value_is(&v, NODE_net))
        return true;
    if (find_ring(s, path, &v, &f->queue))
        return true;
    if (!tree_value_is(&v, NODE_queue) &&
        (tree_value_is(&v, NODE_qp) || vq_find(s->lab, path, queue, &at) != RDL_OK))
        return which_queue(s, st, path);
    f->queue = (uint32_t)tree_number(s->lab, tree_value_is(&v, NODE_queue) ? path : queue,
                                     LEAF_queue_number);
    return true;
}

static bool resolve_where(struct session *s, const struct step *st,
                          struct rdl_device_fault_config *f)
{
    if (!step_has(st, "where"))
        return true;
    f->where_ctx =
        condition_of(s, EV_device_fault, step_text(st, "where"), step_span(st, "where", 0));
    f->where = condition_holds_of;
    return f->where_ctx;
}

/* Fails because the lab refused the fault. */
static bool refused(struct session *s, const struct step *st,
                    const struct rdl_device_fault_config *f, const char *path,
                    enum rdl_status status)
{
    if (status == RDL_ERR_EXISTS)
        return session_fail(s, st->as.at, "something is called \"%s\" already", st->as.text);
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, step_span(st, "queue", 0), "the device of %s has no such faults", path);
        return diag_remedy(&s->diag, "virtio has lose kick and interrupt, postpone, stall, invent "
                                     "and falsify; PVRDMA has lose doorbell, irq and cqe, and "
                                     "postpone");
    }
    if (status == RDL_ERR_INVAL && tree_has_pvrdma(s->lab, path)) {
        session_fail(s, step_span(st, "queue", 0), "nothing of that kind happens at %s", path);
        return diag_remedy(&s->diag, "doorbells are those of work queues and completion queues, "
                                     "completions those of completion queues, interrupts those of "
                                     "completion queues, h1.dsr and h1.dsr.events, and what can be "
                                     "postponed are the answers of h1.dsr");
    }
    if (status == RDL_ERR_INVAL && st->cmd == &cmd_table[CMD_stall]) {
        session_fail(s, step_span(st, "queue", 0), "%s is a completion queue", path);
        return diag_remedy(&s->diag, "a device that finds no buffer there has no place for a "
                                     "completion: the queue overflows at once");
    }
    if (status == RDL_ERR_INVAL && f->kind == FLT_FALSE_READ) {
        session_fail(s, step_span(st, "queue", 0), "registers are those of a device, not of %s",
                     path);
        return diag_remedy(&s->diag, "say the host, or its virtio-net device: h1, h1.net");
    }
    if (status == RDL_ERR_INVAL && f->kind == FLT_FALSE_DATA && f->net) {
        session_fail(s, step_span(st, "queue", 0), "what %s has are frames of the wire", path);
        return diag_remedy(&s->diag, "corrupt and forge change frames on their way");
    }
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "queue", 0), "a device only reads the buffers of %s", path);
        return diag_remedy(&s->diag, "it writes to those of completion queues, of h1.ctrl, "
                                     "h1.async.queue, h1.ceq[0] and h1.net.rx");
    }
    return limit_fail(s, st->at, LIMIT_FAULTS, st->cmd->name, status);
}

static bool add_fault(struct session *s, const struct step *st, struct rdl_device_fault_config *f)
{
    char name[RDL_VALUE_BYTES], about[SAID_BYTES], path[SESSION_PATH_BYTES];
    const struct fault_counts counts = fault_counts_of(st);
    struct text t = text_on(about, sizeof(about));
    enum rdl_status status;
    rdl_fault made;

    f->name = st->as.text;
    f->nth = counts.nth;
    f->every = counts.every;
    f->count = counts.count;
    f->chance_ppm = (uint32_t)step_number_or(st, "chance", 0);
    if (!resolve_queue(s, st, f, path) || !resolve_where(s, st, f))
        return false;
    add_about(&t, st, f, tree_has_pvrdma(s->lab, path) && !f->net, path);
    f->about = about;
    status = rdl_device_fault_add(s->lab, f, &made);
    if (status != RDL_OK)
        return refused(s, st, f, path, status);
    unmet_made(s, st, made);
    rdl_path_of(s->lab, OBJ_FAULT, made.raw, name);
    session_say(s, "%s: %s\n", name, about);
    return true;
}

bool run_lose(struct session *s, const struct step *st)
{
    struct rdl_device_fault_config f = {.kind = (uint32_t)step_number(st, "what"), .id = RDL_ANY};

    return add_fault(s, st, &f);
}

bool run_postpone(struct session *s, const struct step *st)
{
    struct rdl_device_fault_config f = {
        .kind = FLT_LATE_DATA, .time_ns = step_number(st, "by"), .id = RDL_ANY};

    return add_fault(s, st, &f);
}

bool run_stall(struct session *s, const struct step *st)
{
    struct rdl_device_fault_config f = {
        .kind = FLT_STUCK_QUEUE, .time_ns = step_number_or(st, "for", 0), .id = RDL_ANY};

    return add_fault(s, st, &f);
}

bool run_invent(struct session *s, const struct step *st)
{
    struct rdl_device_fault_config f = {.kind = FLT_SPURIOUS,
                                        .id = (uint32_t)step_number_or(st, "id", RDL_ANY)};

    return add_fault(s, st, &f);
}

bool run_falsify(struct session *s, const struct step *st)
{
    struct rdl_device_fault_config f = {.kind =
                                            (uint32_t)step_number_or(st, "what", FLT_FALSE_DATA),
                                        .at = (uint32_t)step_number_or(st, "byte", RDL_ANY),
                                        .flip = (uint32_t)step_number_or(st, "flip", RDL_ANY),
                                        .id = RDL_ANY};

    return add_fault(s, st, &f);
}
