/* SPDX-License-Identifier: MIT */
/* `why not` for an event that did not happen, and for a fault that hit nothing: finds the
 * conditions that nothing fulfilled.
 */
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

#define COMPLETIONS_MAX 65536u /* of a completion queue that are looked at */

/* Returns true if @e fulfils condition @i of @f. */
static bool fulfils(const struct ev_filter *f, size_t i, const struct ev *e)
{
    const struct ev_filter one = {f->kind, 1, &f->conditions[i]};

    return ev_filter_holds(&one, e);
}

/* Appends a condition: "host==h2". */
static void add_condition(struct text *t, const struct ev_condition *c)
{
    static const char *const ops[] = {
        [CMP_EQ] = "==", [CMP_NE] = "!=", [CMP_LT] = "<",
        [CMP_LE] = "<=", [CMP_GT] = ">",  [CMP_GE] = ">=",
    };

    text_addf(t, "%s %s ", c->field->name, ops[c->op]);
    if (c->text[0])
        text_add(t, c->text);
    else if (c->field->print == EVP_ENUM)
        text_add(t, enum_name(*c->field->words, (uint32_t)c->number));
    else if (c->field->print == EVP_EVENT)
        ev_add_id(t, c->number);
    else
        text_addf(t, "%llu", (unsigned long long)c->number);
}

struct nearest {
    const struct ev *all;  /* last event that fulfils all conditions */
    const struct ev *near; /* last of the events that fulfil the most conditions */
    size_t n_near;         /* number of conditions that @near fulfils */
    uint64_t n, n_all;
};

static struct nearest find_nearest(const struct why_not *w, const struct ev_filter *f)
{
    struct nearest ret = {NULL, NULL, 0, 0, 0};

    for (size_t i = 0; i < w->past->n; i++) {
        const struct ev *e = past_at(w->past, i);
        size_t n = 0;

        if (e->kind != f->kind)
            continue;
        ret.n++;
        for (size_t k = 0; k < f->n; k++)
            n += fulfils(f, k, e);
        if (n == f->n) {
            ret.all = e;
            ret.n_all++;
        }
        if (n >= ret.n_near) {
            ret.near = e;
            ret.n_near = n;
        }
    }
    return ret;
}

static void say_line(struct why_not *w, const struct ev *e)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    past_add_line(&t, w->past, e);
    show_wrap(w->out, w->indent + 2, buf);
}

/* Prints the conditions that the nearest event does not fulfil, and how many events fulfil each. */
static void say_conditions(struct why_not *w, const struct ev_filter *f, const struct nearest *near)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (size_t i = 0; i < f->n; i++) {
        uint64_t n = 0;

        for (size_t k = 0; k < w->past->n; k++)
            n += past_at(w->past, k)->kind == f->kind && fulfils(f, i, past_at(w->past, k));
        if (i)
            text_add(&t, i + 1 == f->n ? " and " : ", ");
        if (n == 0)
            text_add(&t, "none has ");
        else
            text_addf(&t, "%llu %s ", (unsigned long long)n, n == 1 ? "has" : "have");
        add_condition(&t, &f->conditions[i]);
    }
    why_not_say(w, "Of them %s.", buf);
    t = text_on(buf, sizeof(buf));
    for (size_t i = 0; i < f->n; i++) {
        if (fulfils(f, i, near->near))
            continue;
        text_addf(&t, t.len ? ", %s is " : "%s is ", f->conditions[i].field->name);
        ev_add_field(&t, near->near, f->conditions[i].field, w->past->names);
    }
    why_not_say(w, "The one that comes nearest is this; its %s:", buf);
    say_line(w, near->near);
}

bool why_not_say_lost_interrupt(struct why_not *w, const char *cq)
{
    char host[RDL_NAME_BYTES], id[64];
    struct text t = text_on(id, sizeof(id));
    const struct ev *lost;

    tree_host_of(cq, host);
    lost = past_lost_interrupt(w->past, ev_names_find_host(w->past->names, host),
                               (uint32_t)tree_number(w->lab, cq, LEAF_cq_cqn));
    if (!lost)
        return false;
    ev_add_id(&t, lost->id);
    why_not_say(w,
                "%s was armed and has raised an interrupt, but %s lost that in %s: the driver was "
                "not told.",
                cq, lost->u.device_fault.name.s, id);
    return true;
}

bool why_not_say_event_waits(struct why_not *w, const char *cq)
{
    const unsigned long long ceq = tree_number(w->lab, cq, LEAF_cq_ceq);
    char host[RDL_NAME_BYTES];

    if (!tree_number(w->lab, cq, LEAF_cq_event_waits))
        return false;
    tree_host_of(cq, host);
    why_not_say(w,
                "An event of %s waits in the device: %s.ceq[%llu] has no buffer for it, or stands "
                "still.",
                cq, host, ceq);
    why_not_try(w, "show vq %s.ceq[%llu]", host, ceq);
    return true;
}

/* Explains why a completion queue has not raised an interrupt. */
static void say_cq(struct why_not *w, const char *cq)
{
    const uint64_t count = tree_number(w->lab, cq, LEAF_cq_count);
    struct rdl_value armed;
    char queue[TREE_PATH_BYTES];

    if (!tree_leaf(w->lab, cq, LEAF_cq_armed, &armed))
        return;
    if (why_not_say_event_waits(w, cq))
        return;
    if (strcmp(armed.text, "no") == 0) {
        if (why_not_say_lost_interrupt(w, cq))
            why_not_say(w, "It is not armed any more: later completions interrupt nobody.");
        else
            why_not_say(w, "%s is not armed: its completions, %llu so far, interrupt nobody.", cq,
                        (unsigned long long)count);
        if (count > tree_number(w->lab, cq, LEAF_cq_polled)) {
            why_not_say(w, "Arming looks forward only: arm it, then poll what is there already.");
            why_not_try(w, "req_notify_cq %s; poll_cq %s", cq, cq);
        } else {
            why_not_try(w, "req_notify_cq %s", cq);
        }
        return;
    }
    why_not_say(w, "%s is armed for %s completion, and none has come since. It has had %llu.", cq,
                strcmp(armed.text, "any") == 0 ? "any" : "a solicited", (unsigned long long)count);
    if (why_not_advise(w, cq, advice_armed))
        why_not_try(w, "poll_cq %s", cq);
    if (tree_child(w->lab, cq, CHILD_cq_queue, queue) &&
        (tree_number(w->lab, queue, LEAF_queue_flags) & 1u))
        why_not_say(w, "The driver wants no interrupts of its queue: avail.flags says so.");
    why_not_try(w, "why not %s.wc[%llu]", cq, (unsigned long long)count);
}

/* The completion queues of a channel. */
struct channel_search {
    struct why_not *w;
    const char *host, *channel; /* names */
    size_t n;
};

static void each_cq_of_channel(void *ctx, const char *key, const struct rdl_value *v)
{
    struct channel_search *of = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct rdl_value channel;

    if (!tree_value_is(v, NODE_cq))
        return;
    tree_join(&t, of->host, key);
    if (!tree_leaf(of->w->lab, path, LEAF_cq_channel, &channel) ||
        strcmp(channel.text, of->channel) != 0)
        return;
    of->n++;
    say_cq(of->w, path);
}

void why_not_channel(struct why_not *w, const char *channel)
{
    const unsigned long long pending = tree_number(w->lab, channel, LEAF_channel_pending);
    char host[RDL_NAME_BYTES];
    struct channel_search of = {.w = w, .host = host};
    size_t at;

    tree_host_of(channel, host);
    of.channel = channel + strlen(host) + 1;
    if (pending > 0) {
        w->never = true;
        why_not_say(w, "%s has %llu event%s that no program has taken.", channel, pending,
                    plural_s(pending));
        why_not_try(w, "get_cq_event %s", channel);
        return;
    }
    why_not_say(w, "%s has no event.", channel);
    if (rdl_inspect_list(w->lab, host, each_cq_of_channel, &of, &at) == RDL_OK && of.n == 0)
        why_not_say(w, "No completion queue was created with channel=%s.", of.channel);
}

struct cqs {
    struct why_not *w;
    const char *host;
    bool interrupts; /* explain interrupts; false: suggest commands about completions */
};

/* Suggests the command about the first failed completion of @cq.  Returns false if there is none.
 */
static bool try_failed(struct why_not *w, const char *cq)
{
    const uint64_t count = tree_number(w->lab, cq, LEAF_cq_count);
    struct rdl_value status;
    char wc[TREE_PATH_BYTES];

    for (uint64_t i = 0; i < count && i < COMPLETIONS_MAX; i++) {
        if (!tree_element(w->lab, cq, CHILD_cq_wc, i, wc) ||
            !tree_leaf(w->lab, wc, LEAF_wc_status, &status) ||
            strcmp(status.text, enum_name(&enum_wc_status, WCS_SUCCESS)) == 0)
            continue;
        why_not_try(w, "why %s", wc);
        return true;
    }
    return false;
}

static void each_cq(void *ctx, const char *key, const struct rdl_value *v)
{
    const struct cqs *of = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    if (!tree_value_is(v, NODE_cq))
        return;
    tree_join(&t, of->host, key);
    if (of->interrupts)
        say_cq(of->w, path);
    else if (!try_failed(of->w, path))
        why_not_try(of->w, "why not %s.wc[%llu]", path,
                    (unsigned long long)tree_number(of->w->lab, path, LEAF_cq_count));
}

/* The host that the conditions require.  Returns "" if they require none. */
static const char *host_of(const struct why_not *w, const struct ev_filter *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct ev_condition *c = &f->conditions[i];

        if (c->field->print == EVP_HOST && c->op == CMP_EQ && strcmp(c->field->name, "host") == 0 &&
            tree_is(w->lab, c->text, NODE_host))
            return c->text;
    }
    return "";
}

/* Adds what the completion queues of the host have to do with the event. */
static void say_cqs(struct why_not *w, const struct ev_filter *f)
{
    struct cqs of = {w, host_of(w, f), f->kind == EV_irq || f->kind == EV_cq_event};
    size_t at;

    if (!of.host[0] || (!of.interrupts && f->kind != EV_cqe))
        return;
    if (rdl_inspect_list(w->lab, of.host, each_cq, &of, &at) != RDL_OK)
        return;
}

/* Interrupts may come from the control queue too: returns true if the conditions select a queue. */
static bool names_queue(const struct ev_filter *f)
{
    for (size_t i = 0; i < f->n; i++) {
        if (strcmp(f->conditions[i].field->name, "queue") == 0)
            return true;
    }
    return false;
}

/* Prints how often the event happened, and the last time.  Without conditions, the lab has a total.
 */
static void say_happened(struct why_not *w, const struct ev_filter *f, const struct nearest *near)
{
    const bool all = f->n == 0 || !why_not_forgot(w, 0);
    const uint64_t n = f->n == 0 ? rdl_total(w->lab, f->kind) : near->n_all;

    why_not_say(w, "It did happen, %s%llu time%s%s; the last %swas:", all ? "" : "at least ",
                (unsigned long long)n, plural_s(n), all ? "" : ", as far as it is recorded",
                why_not_forgot(w, near->all->id) ? "that is recorded " : "");
    say_line(w, near->all);
}

void why_not_event(struct why_not *w, struct ev_filter *f)
{
    const char *kind = ev_schema(f->kind)->name;
    const struct ev_condition *unknown = ev_filter_look_up(f, w->past->names);
    const struct nearest near = find_nearest(w, f);
    char id[64];
    struct text t = text_on(id, sizeof(id));

    if (near.all) {
        ev_add_id(&t, near.all->id);
        w->never = true;
        say_happened(w, f, &near);
        if (f->kind == EV_irq && !names_queue(f))
            say_cqs(w, f);
        why_not_try(w, "why %s", id);
        return;
    }
    if (unknown)
        why_not_say(w, "Nothing in the lab is called %s.", unknown->text);
    if (near.n == 0) {
        why_not_say(w,
                    rdl_total(w->lab, f->kind)
                        ? "There were %s events, but none is recorded (any more)."
                        : "There was no %s event since the lab began.",
                    kind);
    } else {
        why_not_say(w, "%llu %s event%s recorded.", (unsigned long long)near.n, kind,
                    near.n == 1 ? " is" : "s are");
        say_conditions(w, f, &near);
    }
    if (why_not_forgot(w, 0))
        why_not_say_forgotten(w);
    say_cqs(w, f);
    if (f->kind != EV_cm_event || !why_not_cm_ids(w, host_of(w, f)))
        why_not_waits(w, host_of(w, f));
}

/* ---- Faults ---- */

/* A criterion of a fault, and the field of the tx event that it is compared with. */
static const struct {
    enum leaf_id leaf;
    const char *field;
} criteria[] = {
    {LEAF_fault_from, "host"}, {LEAF_fault_opcode, "opcode"},     {LEAF_fault_syndrome, "syndrome"},
    {LEAF_fault_psn, "psn"},   {LEAF_fault_dest_qpn, "dest_qpn"}, {LEAF_fault_cm, "cm"},
};

/* Returns true if @e, a sent frame, fulfils criterion @i, whose value is @v. */
static bool meets(const struct why_not *w, const struct ev *e, size_t i, const struct rdl_value *v)
{
    const struct ev_field *f = ev_field_find(e->kind, criteria[i].field);
    uint64_t number = v->number;

    if (strcmp(v->text, "any") == 0)
        return true;
    if (criteria[i].leaf == LEAF_fault_from)
        number = ev_names_find_host(w->past->names, v->text);
    return f && ev_field_number(e, f) == number;
}

/* Number of frames since event @since that fulfil the first @n criteria; with @copied, of messages
 * that took the shortcut of a machine instead.
 */
static uint64_t count_frames(const struct why_not *w, const char *fault, ev_id since, size_t n,
                             bool copied)
{
    uint64_t ret = 0;

    for (size_t i = past_lower_bound(w->past, since); i < w->past->n; i++) {
        const struct ev *e = past_at(w->past, i);
        bool all = (e->kind == EV_tx || e->kind == EV_eth_tx) && past_is_copied(e) == copied;

        for (size_t k = 0; k < n && all; k++) {
            struct rdl_value v;

            all = !tree_leaf(w->lab, fault, criteria[k].leaf, &v) || meets(w, e, k, &v);
        }
        ret += all;
    }
    return ret;
}

/* Prints how many frames fulfil the criteria, adding one criterion after the other. */
static void say_criteria(struct why_not *w, const char *fault, ev_id since)
{
    uint64_t n = count_frames(w, fault, since, 0, false);
    struct rdl_value about;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s has looked at %llu frame%s that hosts sent since it was made", fault,
              (unsigned long long)n, plural_s(n));
    for (size_t i = 0; i < ARRAY_LEN(criteria) && n > 0; i++) {
        struct rdl_value v;

        if (!tree_leaf(w->lab, fault, criteria[i].leaf, &v) || strcmp(v.text, "any") == 0)
            continue;
        n = count_frames(w, fault, since, i + 1, false);
        if (n == 0)
            text_add(&t, "; none of them");
        else
            text_addf(&t, "; %llu of them", (unsigned long long)n);
        text_add(&t, n > 1 ? " are" : " is");
        text_addf(&t, criteria[i].leaf == LEAF_fault_from ? " %s " : " with %s=",
                  leaf_rows[criteria[i].leaf].key);
        tree_add_value(&t, &v);
    }
    why_not_say(w, "%s.", buf);
    if (n > 0 && tree_leaf(w->lab, fault, LEAF_fault_about, &about) && about.text[0])
        why_not_say(w, "None of them is all that was asked for: it %s.", about.text);
}

/* Prints how many messages it would have met if they had not taken a shortcut. */
static void say_copied(struct why_not *w, const char *fault, ev_id since)
{
    const uint64_t n = count_frames(w, fault, since, ARRAY_LEN(criteria), true);

    if (n == 0)
        return;
    why_not_say(w,
                "%llu message%s took the shortcut of a machine: in no frame, so that no fault "
                "of frames meets %s.",
                (unsigned long long)n, plural_s(n), n == 1 ? "it" : "them");
    why_not_try(w, "explain shortcut");
}

static ev_id made_in(const struct why_not *w, const char *fault)
{
    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind == EV_fault_made && strcmp(e->u.fault_made.name.s, fault) == 0)
            return e->id;
    }
    return 0;
}

/* Returns the last event in which the fault hit.  An earlier fault may have had the same name:
 * events before @made are ignored.
 */
static const struct ev *last_hit(const struct why_not *w, const char *fault, ev_id made)
{
    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->id < made)
            break;

        if ((e->kind == EV_device_fault && strcmp(e->u.device_fault.name.s, fault) == 0) ||
            (e->kind == EV_lost && strcmp(e->u.lost.name.s, fault) == 0) ||
            (e->kind == EV_fault && strcmp(e->u.fault.name.s, fault) == 0))
            return e;
    }
    return NULL;
}

/* Explains what a device fault waits for that has hit nothing. */
static void say_occasions(struct why_not *w, const char *fault, uint64_t seen, uint64_t nth)
{
    const unsigned long long missed =
        (seen - nth) / tree_number(w->lab, fault, LEAF_fault_every) + 1;
    struct rdl_value about;

    why_not_say(w, "%s has hit nothing so far.", fault);
    if (seen >= nth)
        why_not_say(w, "There %s %llu that it could have hit: chance has decided.",
                    seen == 1 ? "was" : "were", missed);
    else if (seen > 0)
        why_not_say(w, "%llu of what it is about happened; it begins with number %llu (nth).",
                    (unsigned long long)seen, (unsigned long long)nth);
    else if (tree_leaf(w->lab, fault, LEAF_fault_about, &about))
        why_not_say(w, "What it is about has not happened since it was made: it %s.", about.text);
    why_not_try(w, "show %s", fault);
}

void why_not_fault(struct why_not *w, const char *fault)
{
    const uint64_t hits = tree_number(w->lab, fault, LEAF_fault_hits);
    const uint64_t seen = tree_number(w->lab, fault, LEAF_fault_seen);
    const uint64_t nth = tree_number(w->lab, fault, LEAF_fault_nth);
    const ev_id made = made_in(w, fault);
    const struct ev *last = last_hit(w, fault, made);
    struct rdl_value left, queue;

    if (hits > 0) {
        why_not_say(w, "%s did hit, %llu time%s%s", fault, (unsigned long long)hits, plural_s(hits),
                    !last                         ? "."
                    : why_not_forgot(w, last->id) ? "; the last that is recorded was:"
                                                  : "; the last was:");
        if (last)
            say_line(w, last);
        if (tree_leaf(w->lab, fault, LEAF_fault_left, &left) && left.number == 0 &&
            strcmp(left.text, "any") != 0) {
            w->never = true;
            why_not_say(w, "It is used up, and hits nothing more: its count has been reached.");
        }
        why_not_try(w, "why %s", fault);
        return;
    }
    if (tree_leaf(w->lab, fault, LEAF_fault_queue, &queue)) {
        say_occasions(w, fault, seen, nth);
        return;
    }
    why_not_say(w, "%s has hit no frame so far.", fault);
    if (seen > 0) {
        why_not_say(w, "%llu frame%s matched it, but it begins with number %llu of those (nth).",
                    (unsigned long long)seen, seen == 1 ? " has" : "s have",
                    (unsigned long long)nth);
    } else if (made && !why_not_forgot(w, made)) {
        say_criteria(w, fault, made);
        say_copied(w, fault, made);
    } else {
        why_not_say(w, "No frame has matched it. What was sent since it was made is not recorded "
                       "(any more).");
    }
    why_not_try(w, "show %s", fault);
}
