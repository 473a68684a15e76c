/* SPDX-License-Identifier: MIT */
/* The text that the two sides exchange.
 *
 * The other side may be one sync ahead of this one, where it waits.  Its text is read only when
 * this side reaches the sync too.  Until then the names of its objects have their meaning of the
 * previous sync.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/quantity.h"

#define HELLO   "verbs_peer"
#define VERSION "1"

/* Fails if the other side should have said @what long ago. */
static void look_at_clock(struct verbs_peer *p, const char *what)
{
    const struct patience *c = &p->config.patience;
    const uint64_t most_ns = p->met ? c->silence_ns : c->client_ns;
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    if (!patience_is_over(most_ns, p->since_ns, p->now_ns))
        return;
    quantity_add(&t, QUANTITY_TIME, most_ns);
    p->waited = true;
    if (p->met)
        vp_fail(p, "the other side is silent: for %s it has not said %s", buf, what);
    else
        vp_fail(p, "no client came within %s", buf);
}

/* Takes the next line of the other side and splits it into words.  Returns false if it is
 * incomplete or invalid.
 */
static bool take_line(struct verbs_peer *p, struct peer_line *ret)
{
    const char *end = memchr(p->from, '\n', p->n_from);
    const size_t n = end ? (size_t)(end - p->from) : 0;

    if (!end && p->n_from < sizeof(p->from)) {
        if (p->alone)
            vp_fail(p, "the other side has left");
        return false;
    }
    if (!end || n >= sizeof(ret->text)) {
        vp_fail(p, "the other side does not speak verbs_peer's protocol");
        return false;
    }
    memcpy(ret->text, p->from, n);
    ret->text[n] = '\0';
    p->n_from -= n + 1;
    memmove(p->from, end + 1, p->n_from);
    if (peer_line_cut(ret) && ret->words > 0)
        return true;
    vp_fail(p, "the other side does not speak verbs_peer's protocol");
    return false;
}

/* The buffer for more text to the other side. */
static struct text say(struct verbs_peer *p)
{
    return text_on(p->to + p->n_to, sizeof(p->to) - p->n_to);
}

static void said(struct verbs_peer *p, const struct text *t)
{
    p->n_to += t->len;
    if (t->cut)
        vp_fail(p, "there is too much to be told to the other side");
}

static void say_hello(struct verbs_peer *p)
{
    struct text t = say(p);

    text_addf(&t, HELLO " " VERSION " side=%c gid=%s", p->side,
              gid_is_ipv4(p->gid) ? "::ffff:" : "");
    addr_add(&t, p->gid);
    text_addf(&t, " psn=0x%06" PRIx32 "\n", p->psn);
    said(p, &t);
    p->said = true;
}

void vp_hello(struct verbs_peer *p)
{
    struct peer_line l;
    const char *gid, *side;
    uint64_t psn = 0;

    if (!p->said)
        say_hello(p);
    if (!take_line(p, &l)) {
        look_at_clock(p, "who it is");
        return;
    }
    gid = peer_line_value(&l, "gid");
    side = peer_line_value(&l, "side");
    if (l.words < 2 || strcmp(l.word[0], HELLO) != 0 || strcmp(l.word[1], VERSION) != 0 || !gid ||
        !side || !peer_line_number(&l, "psn", &psn) || !addr_parse(gid, p->peer_gid)) {
        vp_fail(p, "the other side does not speak verbs_peer's protocol");
        return;
    }
    p->peer_psn = (uint32_t)psn;
    if (side[0] == p->side)
        vp_fail(p, "the other side is %c, too", p->side);
    else
        p->state = VERBS_PEER_RUN;
}

static void forget(struct verbs_peer *p, const char *name)
{
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        if (strcmp(p->remote[i].name, name) == 0)
            p->remote[i].name[0] = '\0';
    }
}

/* Parses "qp NAME qpn=N", "mr NAME rkey=N addr=N len=N", or the same with "mw". */
static bool read_remote(const struct peer_line *l, struct vp_remote *ret)
{
    struct text name = text_on(ret->name, sizeof(ret->name));
    uint64_t number;

    if (l->words < 2)
        return false;
    text_add(&name, l->word[1]);
    ret->is_qp = strcmp(l->word[0], "qp") == 0;
    if (!ret->is_qp && strcmp(l->word[0], "mr") != 0 && strcmp(l->word[0], "mw") != 0)
        return false;
    if (!peer_line_number(l, ret->is_qp ? "qpn" : "rkey", &number) ||
        (!ret->is_qp && !peer_line_number(l, "addr", &ret->addr)))
        return false;
    ret->number = (uint32_t)number;
    return !name.cut;
}

/* Processes a line about an object of the other side. */
static void remember(struct verbs_peer *p, const struct peer_line *l)
{
    struct vp_remote r = {.addr = 0};

    if (l->words == 2 && strcmp(l->word[0], "gone") == 0) {
        forget(p, l->word[1]);
        return;
    }
    if (!read_remote(l, &r)) {
        vp_fail(p, "the other side says: %s", l->word[0]);
        return;
    }
    forget(p, r.name);
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        if (!p->remote[i].name[0]) {
            p->remote[i] = r;
            return;
        }
    }
    vp_fail(p, "the other side has too many objects");
}

static void announce(struct text *t, const struct vp_object *o)
{
    if (o->kind == VP_QP)
        text_addf(t, "qp %s qpn=0x%06" PRIx32 "\n", o->name, o->number);
    else
        text_addf(t, "%s %s rkey=0x%08" PRIx32 " addr=0x%" PRIx64 " len=%" PRIu64 "\n",
                  o->kind == VP_MR ? "mr" : "mw", o->name, o->number, o->addr, o->length);
}

/* Writes what has changed, and that this side has reached the sync @name. */
static void say_news(struct verbs_peer *p, const char *name)
{
    struct text t = say(p);

    for (size_t i = 0; i < p->n_gone; i++)
        text_addf(&t, "gone %s\n", p->gone[i]);
    p->n_gone = 0;
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        struct vp_object *o = &p->object[i];

        if (o->kind == VP_NOTHING || !o->news)
            continue;
        announce(&t, o);
        o->news = false;
    }
    text_addf(&t, "sync %s\n", name);
    said(p, &t);
    p->said = true;
}

/* sync NAME: waits until the peer has reached the same line. */
enum vp_end vp_sync(struct verbs_peer *p)
{
    const char *name = vp_operand(p, 0);
    struct peer_line l;

    if (!p->said)
        say_news(p, name);
    while (take_line(p, &l)) {
        if (l.words != 2 || strcmp(l.word[0], "sync") != 0) {
            remember(p, &l);
            continue;
        }
        if (strcmp(l.word[1], name) != 0)
            vp_fail(p, "the other side waits at %s", l.word[1]);
        return VP_NEXT;
    }
    look_at_clock(p, "that it is here, too");
    return VP_LATER;
}
