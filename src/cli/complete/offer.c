/* SPDX-License-Identifier: MIT */
/* Offers candidates from enumerations and from the objects of the lab. */
#include <ctype.h>
#include <string.h>

#include "cli/complete/completion.h"
#include "cli/lang/values.h"

/* With more hosts than this, only the names of hosts are offered, not their objects. */
#define HOSTS_LISTED_MAX 64u

#define MEANING_BYTES 160u

void offer_one(struct complete_request *c, const struct offer *o)
{
    char word[WORD_BYTES];
    struct text t = text_on(word, sizeof(word));
    struct offer whole = *o;

    if (strncmp(o->word, c->typed, strlen(c->typed)) != 0)
        return;
    c->n_offered++;
    text_addf(&t, "%s%s", c->kept, o->word);
    whole.word = word;
    if (!t.cut)
        c->each(c->ctx, &whole);
}

void offer_told(struct complete_request *c, const char *candidate, const char *meaning)
{
    offer_one(c, &(struct offer){.word = candidate, .meaning = meaning});
}

void offer(struct complete_request *c, const char *candidate)
{
    offer_told(c, candidate, "");
}

void offer_open(struct complete_request *c, const char *candidate, const char *meaning)
{
    offer_one(c, &(struct offer){.word = candidate, .meaning = meaning, .open = true});
}

void offer_words(struct complete_request *c, const struct enum_table *words)
{
    for (size_t i = 0; i < words->n_rows; i++) {
        char word[VALUE_WORD_BYTES], why[MEANING_BYTES];
        struct text t = text_on(why, sizeof(why));
        struct offer o = {.meaning = why};

        /* Offer each word in the case in which it was begun. */
        value_word_text(words, &words->rows[i], word);
        o.word = isupper((unsigned char)c->typed[0]) ? words->rows[i].name : word;
        bar_word(c, &words->rows[i], &t, &o.barred);
        if (!o.barred)
            o.meaning = words->rows[i].text;
        offer_one(c, &o);
    }
}

/* Returns true if the typed word is the beginning of @name. */
static bool may_become(const struct complete_request *c, const char *name)
{
    return strncmp(name, c->typed, strlen(c->typed)) == 0;
}

/* Offers an object by its path or, if that is enough, by its bare name, depending on the typed
 * text.
 */
static void offer_object(struct complete_request *c, const char *host, const char *key)
{
    const struct statement *st = c->st;
    const bool bare = strcmp(host, st->host) == 0 ||
                      (c->param && !(c->param->flags & P_OPERAND) && strcmp(host, st->home) == 0);
    char path[WORD_BYTES], meaning[MEANING_BYTES];
    struct text t = text_on(path, sizeof(path)), m = text_on(meaning, sizeof(meaning));
    struct offer o = {.word = path, .meaning = meaning};

    tree_join(&t, host, key);
    if (bare && may_become(c, key))
        o.word = key;
    if (!may_become(c, o.word))
        return;
    bar_object(c, path, &m, &o.barred);
    o.open = c->param && (c->param->kind == VAL_BYTES || c->param->kind == VAL_AT);
    offer_one(c, &o);
}

/* Offers @key below c->parent, or below the lab. */
static void offer_below(struct complete_request *c, const char *key, const char *meaning)
{
    char path[WORD_BYTES];
    struct text t = text_on(path, sizeof(path));

    tree_join(&t, c->parent, key);
    offer_told(c, path, meaning);
}

/* Offers a host, or says why the command would refuse it. */
static void offer_host(struct complete_request *c, const char *host)
{
    char meaning[MEANING_BYTES];
    struct text m = text_on(meaning, sizeof(meaning));
    struct offer o = {.word = host, .meaning = meaning};

    bar_object(c, host, &m, &o.barred);
    offer_one(c, &o);
}

/* Offers a child of the lab or of c->parent. */
static void offer_child(void *ctx, const char *key, const struct rdl_value *v)
{
    struct complete_request *c = ctx;

    if (c->kind == NODE_host && tree_value_is(v, NODE_host))
        offer_host(c, key);
    else if (c->kind == NODE_none || tree_value_is(v, c->kind))
        offer_below(c, key, v->type == RDL_NODE ? "" : leaf_rows[v->row].text);
}

/* Returns false if there is no node @parent. */
static bool offer_children(struct complete_request *c, const char *parent)
{
    struct text t = text_on(c->parent, sizeof(c->parent));
    size_t at;

    text_add(&t, parent);
    return rdl_inspect_list(c->s->lab, parent, offer_child, c, &at) == RDL_OK;
}

void offer_kinds(struct complete_request *c, const enum node_kind *kinds)
{
    for (; *kinds != NODE_none; kinds++) {
        c->kind = *kinds;
        (void)offer_children(c, "");
    }
    c->kind = NODE_none;
}

/* --- Objects of hosts ------------------------------------------------------------------------- */

static void object_of_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct complete_request *c = ctx;

    if (tree_value_is(v, c->kind))
        offer_object(c, c->parent, key);
}

/* Offers the work queues of a queue pair or a shared receive queue. */
static void queues_of_host(void *ctx, const char *key, const struct rdl_value *v)
{
    static const char *const ends[] = {".sq", ".rq"};
    struct complete_request *c = ctx;
    char queue[TREE_KEY_BYTES];

    for (size_t i = 0; tree_value_is(v, NODE_qp) && i < 2; i++) {
        struct text t = text_on(queue, sizeof(queue));

        text_addf(&t, "%s%s", key, ends[i]);
        offer_object(c, c->parent, queue);
    }
    if (tree_value_is(v, NODE_srq))
        offer_object(c, c->parent, key);
}

static void below_host(struct complete_request *c, const char *host, rdl_inspect_each *each)
{
    struct text t = text_on(c->parent, sizeof(c->parent));
    size_t at;

    text_add(&t, host);
    if (rdl_inspect_list(c->s->lab, host, each, c, &at) != RDL_OK)
        c->parent[0] = '\0';
}

struct hosts {
    struct complete_request *c;
    rdl_inspect_each *each;
    size_t n;
    bool count, named;
};

static void each_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct hosts *all = ctx;
    const size_t n = strcspn(all->c->typed, ".");
    const bool other = strncmp(key, all->c->typed, n) != 0;

    /* Skip a host if neither its path nor a bare name on it can match the typed text. */
    if (!tree_value_is(v, NODE_host) ||
        (other && strcmp(key, all->c->st->host) != 0 && strcmp(key, all->c->st->home) != 0))
        return;
    all->n++;
    if (all->count)
        return;
    if (all->named) {
        char stem[TREE_KEY_BYTES];
        struct text t = text_on(stem, sizeof(stem));

        text_addf(&t, "%s.", key);
        offer_open(all->c, stem, "");
    } else {
        below_host(all->c, key, all->each);
    }
}

/* Calls @each for the children of the hosts that may match.  An exact host name selects one host.
 */
static void each_of_hosts(struct complete_request *c, rdl_inspect_each *each)
{
    struct hosts all = {.c = c, .each = each, .count = true};
    const char *dot = strchr(c->typed, '.');
    char host[RDL_NAME_BYTES];
    struct text t = text_on(host, sizeof(host));
    size_t at;

    text_addn(&t, c->typed, dot ? (size_t)(dot - c->typed) : 0);
    if (dot && !t.cut && tree_is(c->s->lab, host, NODE_host)) {
        below_host(c, host, each);
        return;
    }
    if (rdl_inspect_list(c->s->lab, "", each_host, &all, &at) != RDL_OK)
        return;
    all.count = false;
    all.named = all.n > HOSTS_LISTED_MAX;
    if (all.named && c->st->home[0])
        below_host(c, c->st->home, each);
    if (all.named && c->st->host[0] && strcmp(c->st->host, c->st->home) != 0)
        below_host(c, c->st->host, each);
    if (rdl_inspect_list(c->s->lab, "", each_host, &all, &at) != RDL_OK)
        c->parent[0] = '\0';
}

void offer_objects(struct complete_request *c, enum node_kind kind)
{
    c->kind = kind;
    each_of_hosts(c, object_of_host);
    c->kind = NODE_none;
}

void offer_queues(struct complete_request *c)
{
    each_of_hosts(c, queues_of_host);
}

/* --- Paths ------------------------------------------------------------------------------------ */

static void offer_key(void *ctx, enum node_kind node, const char *key, const char *meaning)
{
    (void)node;
    offer_below(ctx, key, meaning);
}

/* Offers the keys of c->parent, which need not exist yet: h1.cq.wc[5] will always be a completion.
 */
static void offer_keys(struct complete_request *c)
{
    struct leaf_places places;
    size_t at;

    if (leaf_path_leads(c->parent, &places, &at) && !places.list &&
        (node_set_is_empty(&places.nodes) || node_set_only(&places.nodes) != NODE_none))
        leaf_each_key(&places, offer_key, c);
}

/* Offers a child of the host of bare names by its bare name. */
static void offer_bare(void *ctx, const char *key, const struct rdl_value *v)
{
    struct complete_request *c = ctx;
    char path[WORD_BYTES];
    struct text t = text_on(path, sizeof(path));
    const size_t n = strlen(c->st->host) + 1;

    tree_join(&t, c->parent, key);
    if (!t.cut && strlen(path) > n)
        offer_told(c, path + n, v->type == RDL_NODE ? "" : leaf_rows[v->row].text);
}

void offer_paths(struct complete_request *c, bool future)
{
    const char *dot = strrchr(c->typed, '.');
    char parent[WORD_BYTES];
    struct text t = text_on(parent, sizeof(parent));
    bool found;

    text_addn(&t, c->typed, dot ? (size_t)(dot - c->typed) : 0);
    c->kind = NODE_none;
    found = offer_children(c, parent);
    if (c->st->host[0]) {
        struct text p = text_on(c->parent, sizeof(c->parent));
        size_t at;

        text_addf(&p, "%s%s%s", c->st->host, parent[0] ? "." : "", parent);
        found |= rdl_inspect_list(c->s->lab, c->parent, offer_bare, c, &at) == RDL_OK;
        p = text_on(c->parent, sizeof(c->parent));
        text_add(&p, parent);
    }
    if (!found && future)
        offer_keys(c);
}

/* --- Future completions ----------------------------------------------------------------------- */

/* Offers the next completion of @key, a completion queue of host c->parent. */
static void next_completion(void *ctx, const char *key, const struct rdl_value *v)
{
    struct complete_request *c = ctx;
    char cq[WORD_BYTES], wc[WORD_BYTES];
    struct text t = text_on(cq, sizeof(cq)), w = text_on(wc, sizeof(wc));

    if (!tree_value_is(v, NODE_cq))
        return;
    tree_join(&t, c->parent, key);
    text_addf(&w, "%s.wc[%llu]", cq, (unsigned long long)tree_number(c->s->lab, cq, LEAF_cq_count));
    if (!t.cut && !w.cut)
        offer_told(c, wc, "the completion that comes next");
}

void offer_next_completions(struct complete_request *c)
{
    each_of_hosts(c, next_completion);
}
