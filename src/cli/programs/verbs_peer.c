/* SPDX-License-Identifier: MIT */
/* Executes the lines of the file one after the other. */
#include "cli/programs/verbs_peer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/assert.h"
#include "emu/facts/psn.h"

struct verbs_peer *verbs_peer_new(struct rdl_lab *lab, const struct verbs_peer_config *config,
                                  FILE *lines, FILE *out)
{
    struct verbs_peer *p = calloc(1, sizeof(*p));
    uint8_t mac[MAC_BYTES];

    if (!p)
        return NULL;
    p->lab = lab;
    p->config = *config;
    p->lines = lines;
    p->out = out;
    p->side = verbs_peer_is_server(config) ? 'a' : 'b';
    p->psn = config->psn & PSN_MASK;
    if (rdl_host_address(lab, config->host, config->gid_index, p->gid, mac) != RDL_OK)
        vp_fail(p, "%s has no GID %u", config->host_name, config->gid_index);
    return p;
}

void verbs_peer_free(struct verbs_peer *p)
{
    if (!p)
        return;
    fclose(p->lines);
    free(p);
}

void vp_fail(struct verbs_peer *p, const char *fmt, ...)
{
    struct text t;
    va_list args;

    if (vp_failed(p))
        return;
    t = text_on(p->error, sizeof(p->error));
    if (p->at_line)
        text_addf(&t, "line %u, %s: ", p->number, p->line.word[0]);
    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    p->state = VERBS_PEER_FAILED;
}

void verbs_peer_fail(struct verbs_peer *p, const char *why)
{
    vp_fail(p, "%s", why);
}

/* The error names that a call of libibverbs would return. */
static const struct {
    enum rdl_status st;
    const char *name;
} errnos[] = {
    {RDL_ERR_INVAL, "EINVAL"}, {RDL_ERR_STATE, "EINVAL"}, {RDL_ERR_DEVICE, "EINVAL"},
    {RDL_ERR_LIMIT, "ENOMEM"}, {RDL_ERR_NOMEM, "ENOMEM"}, {RDL_ERR_QUEUE_FULL, "ENOMEM"},
    {RDL_ERR_BUSY, "EBUSY"},   {RDL_ERR_FAULT, "EFAULT"}, {RDL_ERR_NO_ROUTE, "EHOSTUNREACH"},
};

bool vp_done(struct verbs_peer *p, enum rdl_status st)
{
    if (st == RDL_OK || vp_failed(p))
        return st == RDL_OK;
    for (size_t i = 0; i < ARRAY_LEN(errnos); i++) {
        if (errnos[i].st == st) {
            fprintf(p->out, "refused %s: %s\n", p->line.word[0], errnos[i].name);
            return false;
        }
    }
    vp_fail(p, st == RDL_ERR_UNSUPPORTED ? "the lab cannot do this: %s" : "%s", rdl_status_str(st));
    return false;
}

/* Reads the next line of this side.  Returns false if there is none, or if it is invalid. */
static bool next_line(struct verbs_peer *p)
{
    const enum peer_line_found found = peer_line_next(p->lines, p->side, &p->line, &p->number);

    if (found == PEER_LINE_TOO_LONG)
        vp_fail(p, "line %u is too long, or does not end", p->number);
    else if (found == PEER_LINE_TOO_MANY_WORDS)
        vp_fail(p, "line %u has too many words", p->number);
    else if (ferror(p->lines))
        vp_fail(p, "the lines cannot be read");
    return found == PEER_LINE_READ;
}

static void begin_line(struct verbs_peer *p)
{
    p->at_line = true;
    p->said = false;
    p->step = 0;
    p->n_taken = 0;
    p->fresh = NULL;
    p->since_ns = p->now_ns;
}

/* Continues with the requests of a line. */
static enum vp_end ask(struct verbs_peer *p, const struct vp_command *c)
{
    const unsigned n_asks = c->n_asks ? c->n_asks(p) : 1;
    struct rdl_response rsp;
    enum rdl_status st = rdl_answer(p->lab, p->config.host, &rsp);
    bool ok = true;

    if (st == RDL_ERR_BUSY)
        return VP_LATER;
    if (p->asked) {
        p->asked = false;
        ok = vp_done(p, st);
        p->step++;
    }
    if (ok && p->step < n_asks && !vp_failed(p)) {
        st = c->ask(p);
        p->asked = st == RDL_OK && !vp_failed(p);
        if (p->asked)
            return VP_LATER;
        ok = vp_done(p, st);
    }
    if (c->answered && !vp_failed(p))
        c->answered(p, ok);
    return VP_NEXT;
}

/* Executes or continues a line.  Returns false if there is nothing more to do now. */
static bool go_on(struct verbs_peer *p)
{
    const struct vp_command *c;

    if (!p->at_line) {
        if (!next_line(p)) {
            if (!vp_failed(p)) {
                fputs("end\n", p->out);
                p->state = VERBS_PEER_DONE;
            }
            return false;
        }
        begin_line(p);
    }
    c = vp_command_named(p->line.word[0]);
    if (!c) {
        vp_fail(p, "the lab has no such command");
        return false;
    }
    if ((c->run ? c->run(p) : ask(p, c)) == VP_LATER || vp_failed(p))
        return false;
    p->at_line = false;
    return true;
}

void verbs_peer_go(struct verbs_peer *p, uint64_t now_ns)
{
    if (!p->began)
        p->since_ns = now_ns;
    p->began = true;
    p->now_ns = now_ns;
    if (p->state == VERBS_PEER_HELLO)
        vp_hello(p);
    while (p->state == VERBS_PEER_RUN && go_on(p))
        ;
}

const char *verbs_peer_says(struct verbs_peer *p, size_t *ret_n)
{
    *ret_n = p->n_to;
    p->n_to = 0;
    return p->to;
}

void verbs_peer_hears(struct verbs_peer *p, const char *bytes, size_t n)
{
    if (n > sizeof(p->from) - p->n_from) {
        vp_fail(p, "the other side does not speak verbs_peer's protocol");
        return;
    }
    p->met = true;
    memcpy(p->from + p->n_from, bytes, n);
    p->n_from += n;
}

void verbs_peer_met(struct verbs_peer *p, uint64_t now_ns)
{
    p->met = true;
    p->since_ns = now_ns;
}

void verbs_peer_left(struct verbs_peer *p)
{
    p->alone = true;
}

bool verbs_peer_listens(const struct verbs_peer *p)
{
    return p->said;
}

enum verbs_peer_state verbs_peer_state(const struct verbs_peer *p)
{
    return p->state;
}

const struct verbs_peer_config *verbs_peer_config(const struct verbs_peer *p)
{
    return &p->config;
}

const char *verbs_peer_error(const struct verbs_peer *p)
{
    return p->error;
}

bool verbs_peer_waited(const struct verbs_peer *p)
{
    return p->waited;
}

bool verbs_peer_asks(const struct verbs_peer *p)
{
    return p->asked;
}

void verbs_peer_add_place(const struct verbs_peer *p, struct text *t)
{
    switch (p->state) {
    case VERBS_PEER_HELLO:
        text_add(t, "waiting for the other side");
        return;
    case VERBS_PEER_RUN:
        text_addf(t, "line %u: %s", p->number, p->at_line ? p->line.word[0] : "");
        return;
    case VERBS_PEER_DONE:
        text_add(t, "done");
        return;
    default:
        text_add(t, "failed");
    }
}
