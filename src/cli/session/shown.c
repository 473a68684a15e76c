/* SPDX-License-Identifier: MIT */
#include "cli/session/shown.h"

#include <stdlib.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/opcode.h"
#include "emu/past/fold.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"
#include "viz/event_colour.h"

#define INDENT_MORE 10u  /* of the rest of a long line */
#define SHOWN_MAX   200u /* all of them are in `show events` */
#define HELD_MAX    32u  /* events of a tick, from that of a frame on; more print them at once */

/* Returns true if one more line may be printed. */
static bool has_room(struct shown *sh, uint64_t n_events)
{
    if (sh->n_lines < SHOWN_MAX) {
        sh->n_lines++;
        return true;
    }
    sh->n_left += n_events;
    return false;
}

static void print_line(struct shown *sh, const struct ev *e)
{
    const struct past past = past_of_lab(sh->lab);
    const char *on = sh->colour ? event_colour(e, past.names) : NULL;
    char line[EV_TEXT_BYTES];
    struct text t = text_on(line, sizeof(line));

    past_add_line(&t, &past, e);
    fputs(on ? on : "", sh->out);
    show_long(sh->out, INDENT_MORE, line);
    fprintf(sh->out, "%s\n", on ? EVENT_COLOUR_END : "");
}

static void print_held(struct shown *sh)
{
    for (uint32_t i = 0; i < sh->n_held; i++)
        print_line(sh, &sh->held[i]);
    sh->n_held = 0;
}

/* Returns true if the line of @e may name a message that is in its frame. */
static bool may_name_a_message(const struct ev *e)
{
    return e->kind == EV_tx && (e->u.tx.cm || (e->u.tx.opcode <= UINT8_MAX &&
                                               op_info((uint8_t)e->u.tx.opcode)->kind == OPK_SEND));
}

static void print_event(void *ctx, const struct ev *e)
{
    struct shown *sh = ctx;

    if (sh->n_held == HELD_MAX || (sh->n_held && ev_tick(sh->held[0].id) != ev_tick(e->id)))
        print_held(sh);
    if (!has_room(sh, 1))
        return;
    if (sh->n_held || may_name_a_message(e))
        sh->held[sh->n_held++] = *e;
    else
        print_line(sh, e);
}

static void print_folded(void *ctx, const struct folded *f)
{
    struct shown *sh = ctx;
    char line[EV_TEXT_BYTES];
    struct text t = text_on(line, sizeof(line));

    print_held(sh);
    if (!has_room(sh, f->n_rounds * f->n_lines))
        return;
    fold_add(&t, f);
    fputs("... ", sh->out);
    show_long(sh->out, INDENT_MORE, line);
    fputc('\n', sh->out);
}

static void take_event(void *ctx, const struct ev *e)
{
    struct shown *sh = ctx;

    sh->n_taken++;
    fold_put(sh->fold, e);
    /* After the last line they are only counted, for a hint to where they all are.  If they are
     * nowhere, let them cost nothing.
     */
    if (sh->n_left && rdl_record_gap(sh->lab).to == RDL_NEVER)
        rdl_hear(sh->lab, sh->listener, &ev_set_none);
}

enum rdl_status shown_init(struct shown *sh, struct rdl_lab *lab, FILE *out, bool colour,
                           enum shown_share share)
{
    const struct fold_sink sink = {print_event, print_folded, sh};
    enum rdl_status st;

    *sh = (struct shown){.lab = lab, .share = share, .out = out, .colour = colour};
    sh->fold = fold_new(&sink);
    sh->held = calloc(HELD_MAX, sizeof(*sh->held));
    if (!sh->fold || !sh->held)
        return RDL_ERR_NOMEM;
    st = rdl_listen(lab, take_event, sh, &sh->listener);
    if (st == RDL_OK)
        rdl_hear(lab, sh->listener, &ev_set_none);
    return st;
}

void shown_done(struct shown *sh)
{
    if (sh->listener)
        rdl_unlisten(sh->lab, sh->listener);
    sh->listener = NULL;
    fold_free(sh->fold);
    free(sh->held);
    sh->fold = NULL;
    sh->held = NULL;
}

struct ev_set shown_of_connections(void)
{
    static const enum ev_kind kinds[] = {EV_cm_sent, EV_cm_received, EV_cm_event, EV_qp_state,
                                         EV_lost,    EV_drop,        EV_fault};
    struct ev_set set = ev_set_none;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        ev_set_add(&set, kinds[i]);
    return set;
}

void shown_begin(struct shown *sh)
{
    const struct ev_set kinds =
        sh->connections || sh->connects ? shown_of_connections() : ev_set_for(EV_FOR_STORY);

    if (!sh->full)
        rdl_hear(sh->lab, sh->listener, &kinds);
}

void shown_flush(struct shown *sh)
{
    if (sh->fold)
        fold_flush(sh->fold);
    print_held(sh);
}

void shown_end(struct shown *sh)
{
    shown_flush(sh);
    if (sh->share == SHOWN_OF_ALL) {
        if (sh->n_left && !sh->full)
            fprintf(sh->out,
                    "... and more: --events FILE has all that happens, --ladder FILE draws "
                    "it\n");
        sh->full = sh->n_left > 0;
    } else if (sh->n_left && rdl_record_gap(sh->lab).to == RDL_NEVER)
        fprintf(sh->out, "... and more, which nothing records\n");
    else if (sh->n_left)
        fprintf(sh->out, "... and %llu more; \"show events\" has %s\n",
                (unsigned long long)sh->n_left,
                rdl_record_forgotten(sh->lab) ? "the latest" : "them all");
    if (sh->share == SHOWN_OF_STEP)
        sh->n_lines = sh->n_left = 0;
    if (sh->listener) /* there is none when no lab could be made */
        rdl_hear(sh->lab, sh->listener, &ev_set_none);
}
