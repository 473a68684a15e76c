/* SPDX-License-Identifier: MIT */
#include "cli/explain/see_here.h"

#include <ctype.h>
#include <string.h>

#include "emu/base/assert.h"
#include "rdmalab/inspect.h"

#define MADE_MAX   4u  /* names that commands of one line may give to objects */
#define NAME_BYTES 64u /* more than the longest name in such a line */

/* The commands of one line while they are adapted. */
struct adapting {
    const struct rdl_lab *lab;
    char host[NAME_BYTES]; /* host of the command's first path, for names without a host */
    char made[MADE_MAX][NAME_BYTES];
    size_t n_made;
};

struct nth_of_kind {
    const char *kind; /* of node */
    unsigned left;    /* nodes of this kind to pass over */
    char *name;       /* has NAME_BYTES; the one that was found, or the last before it */
};

static void keep_nth(void *ctx, const char *key, const struct rdl_value *v)
{
    struct nth_of_kind *f = ctx;
    struct text t;

    if (v->type != RDL_NODE || strcmp(v->text, f->kind) != 0 || f->left == 0)
        return;
    f->left--;
    t = text_on(f->name, NAME_BYTES);
    text_add(&t, key);
}

/* Finds the @n-th child of @path, from 1, that is a node of @kind; the last one if there are fewer.
 * Returns false if there is none.
 */
static bool find_nth(const struct rdl_lab *lab, const char *path, const char *kind, unsigned n,
                     char *name)
{
    struct nth_of_kind f = {kind, n, name};
    size_t at;

    name[0] = '\0';
    return rdl_inspect_list(lab, path, keep_nth, &f, &at) == RDL_OK && name[0] != '\0';
}

bool see_is_empty(const struct rdl_lab *lab)
{
    char name[NAME_BYTES];

    return !lab || !find_nth(lab, "", "host", 1, name);
}

static bool exists(const struct rdl_lab *lab, const char *path)
{
    struct rdl_value v;
    size_t at;

    return rdl_inspect(lab, path, &v, &at) == RDL_OK;
}

/* Returns the length of the name at @s: letters, digits and underscores. */
static size_t name_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

/* Returns true if @s begins with the name of a host: h1, h2. */
static bool is_host(const char *s, size_t n)
{
    return n >= 2 && s[0] == 'h' && isdigit((unsigned char)s[1]);
}

static bool is_made(const struct adapting *a, const char *name)
{
    for (size_t i = 0; i < a->n_made; i++) {
        if (strcmp(a->made[i], name) == 0)
            return true;
    }
    return false;
}

/* Appends the object @name of the host of @a, or the first one of the kind that its name begins
 * with.  Returns false if there is none.
 */
static bool add_object(struct text *t, const struct adapting *a, const char *name)
{
    char path[RDL_PATH_BYTES], kind[NAME_BYTES], other[NAME_BYTES];
    struct text p = text_on(path, sizeof(path)), k = text_on(kind, sizeof(kind));

    text_addf(&p, "%s.%s", a->host, name);
    if (exists(a->lab, path) || is_made(a, name)) {
        text_add(t, name);
        return true;
    }
    for (const char *c = name; isalpha((unsigned char)*c); c++)
        text_addn(&k, c, 1);
    if (!find_nth(a->lab, a->host, kind, 1, other))
        return false;
    text_add(t, other);
    return true;
}

/* Appends the path at @s, with names of @a's lab: a host, and perhaps an object.  Sets *@ret_n to
 * the length of the path in @s.
 */
static bool add_path(struct text *t, struct adapting *a, const char *s, size_t *ret_n)
{
    const size_t n = name_length(s), m = s[n] == '.' ? name_length(s + n + 1) : 0;
    char host[NAME_BYTES], name[NAME_BYTES];
    struct text h = text_on(host, sizeof(host)), o = text_on(name, sizeof(name));

    text_addn(&h, s, n);
    if (!exists(a->lab, host) && !find_nth(a->lab, "", "host", (unsigned)(s[1] - '0'), host))
        return false;
    memcpy(a->host, host, sizeof(host));
    text_add(t, host);
    *ret_n = n;
    if (m == 0)
        return true;
    text_add(t, ".");
    text_addn(&o, s + n + 1, m);
    *ret_n = n + 1 + m;
    return add_object(t, a, name);
}

/* Appends the link at @s, "h1-h2", if the lab has it. */
static bool add_link(struct text *t, const struct adapting *a, const char *s, size_t *ret_n)
{
    const size_t n = name_length(s), m = name_length(s + n + 1);
    char name[NAME_BYTES];
    struct text l = text_on(name, sizeof(name));

    *ret_n = n + 1 + m;
    text_addn(&l, s, *ret_n);
    text_add(t, name);
    return exists(a->lab, name);
}

/* Returns true if the name at @s is that of an object of the command's host: "mr" of sge=mr[0:64],
 * "cq" of send_cq=cq.
 */
static bool is_object(const char *begin, const char *s, size_t n)
{
    static const char *const names[] = {"mr", "cq"};

    if (s == begin || (s[-1] != '=' && s[-1] != ','))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (n == strlen(names[i]) && strncmp(s, names[i], n) == 0)
            return s[n] == '[' || s[n] == ' ' || s[n] == '\0';
    }
    return false;
}

/* Remembers the name behind " as " of a command. */
static void note_made(struct adapting *a, const char *command)
{
    const char *as = strstr(command, " as ");
    struct text t;

    if (!as || a->n_made == MADE_MAX)
        return;
    t = text_on(a->made[a->n_made], NAME_BYTES);
    text_addn(&t, as + 4, name_length(as + 4));
    a->n_made++;
}

/* Appends @command with names of the lab.  Returns false if it has no such object. */
static bool add_adapted(struct text *t, struct adapting *a, const char *command)
{
    const char *s = command;

    note_made(a, command);
    while (*s) {
        size_t n = name_length(s);

        if (n == 0) {
            text_addn(t, s, 1);
            s++;
        } else if (is_host(s, n) && s[n] == '-') { /* a link */
            if (!add_link(t, a, s, &n))
                return false;
            s += n;
        } else if (is_host(s, n)) {
            if (!add_path(t, a, s, &n))
                return false;
            s += n;
        } else if (is_object(command, s, n)) {
            char name[NAME_BYTES];
            struct text o = text_on(name, sizeof(name));

            text_addn(&o, s, n);
            if (!add_object(t, a, name))
                return false;
            s += n;
        } else {
            text_addn(t, s, n);
            s += n;
        }
    }
    return true;
}

struct sending {
    const struct rdl_lab *lab;
    bool any;
};

static void look_for_frames(void *ctx, const char *key, const struct rdl_value *v)
{
    struct sending *s = ctx;
    char path[RDL_PATH_BYTES];
    struct text p = text_on(path, sizeof(path));
    struct rdl_value sent;
    size_t at;

    (void)v;
    text_addf(&p, "%s.port.sent_frames", key);
    s->any = s->any || (rdl_inspect(s->lab, path, &sent, &at) == RDL_OK && sent.number > 0);
}

/* Returns true unless @command shows a packet and no host has sent one. */
static bool has_packets(const struct rdl_lab *lab, const char *command)
{
    struct sending s = {lab, false};
    size_t at;

    if (strncmp(command, "show packet", strlen("show packet")) != 0)
        return true;
    return rdl_inspect_list(lab, "", look_for_frames, &s, &at) == RDL_OK && s.any;
}

/* Returns true if @command needs no lab. */
static bool works_anywhere(const char *command)
{
    static const char *const words[] = {"explain", "help", "scenarios", "apropos", "tour"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const size_t n = strlen(words[i]);

        if (strncmp(command, words[i], n) == 0 && (command[n] == ' ' || !command[n]))
            return true;
    }
    return false;
}

void see_here(struct text *t, const struct rdl_lab *lab, const char *see)
{
    const bool empty = see_is_empty(lab);
    struct adapting a = {.lab = lab};

    for (const char *at = see; *at;) {
        const char *end = strstr(at, "; ");
        const size_t n = end ? (size_t)(end - at) : strlen(at);
        char command[SEE_HERE_BYTES], adapted[SEE_HERE_BYTES];
        struct text c = text_on(command, sizeof(command)), d = text_on(adapted, sizeof(adapted));

        text_addn(&c, at, n);
        if (works_anywhere(command))
            text_addf(t, "%s%s", t->len ? "; " : "", command);
        else if (!empty && has_packets(lab, command) && add_adapted(&d, &a, command))
            text_addf(t, "%s%s", t->len ? "; " : "", adapted);
        at += n + (end ? 2 : 0);
    }
}
