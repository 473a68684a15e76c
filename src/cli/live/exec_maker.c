/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_maker.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live/exec_elf.h"
#include "cli/live/exec_module.h"
#include "cli/live/exec_source.h"
#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/must.h"

#define MODULES_MAX 256u /* files of all programs; calls in further ones have no place */
#define LATE_MAX    2u   /* times that a line was looked for in vain for seconds */

/* A source line that was looked up. */
struct known_source {
    uint64_t offset;
    struct exec_source source;
};

struct module {
    struct exec_module file;
    struct known_source *found;
    size_t n_found, room;
};

/* Numbers of objects that a process has made, by their makers. */
struct made_tally {
    int pid;
    uint32_t rank;
    uint32_t n[PROGRAM_MAKER_COUNT];
};

struct exec_makers {
    struct module *modules;
    size_t n_modules, modules_room;
    struct made_tally *tallies;
    size_t n_tallies, tallies_room;
    unsigned n_late; /* lines that were not found in time; see LATE_MAX */
};

static const struct {
    enum program_op call;
    enum program_kind kind;
    const char *function;
} makers[PROGRAM_MAKER_COUNT] = {
#define PROGRAM_MAKER(NAME, CALL, KIND, function)                                                  \
    [PROGRAM_BY_##NAME] = {PROGRAM_##CALL, PROGRAM_##KIND, function},
    PROGRAM_MAKERS(PROGRAM_MAKER)
#undef PROGRAM_MAKER
};

/* --- Recording -------------------------------------------------------------------------------- */

static uint32_t count(struct exec_makers *m, const struct exec_client *c, uint32_t maker)
{
    struct made_tally *t;

    for (size_t i = 0; i < m->n_tallies; i++) {
        if (m->tallies[i].pid == c->pid && m->tallies[i].rank == c->rank)
            return ++m->tallies[i].n[maker];
    }
    m->tallies = must_grow(m->tallies, m->n_tallies, &m->tallies_room, sizeof(*m->tallies));
    t = &m->tallies[m->n_tallies++];
    *t = (struct made_tally){.pid = c->pid, .rank = c->rank};
    return ++t->n[maker];
}

/* Returns the number of the file @path of process @pid; 0 if there are too many. */
static uint32_t module_of(struct exec_makers *m, int pid, const char *path)
{
    struct exec_module file;
    size_t i = 0;

    while (i < m->n_modules && (strcmp(m->modules[i].file.path, path) != 0 ||
                                !exec_module_is_unchanged(&m->modules[i].file)))
        i++;
    if (i < m->n_modules)
        return (uint32_t)i + 1;
    if (i == MODULES_MAX || !exec_module_init(&file, pid, path))
        return 0;
    m->modules = must_grow(m->modules, m->n_modules, &m->modules_room, sizeof(*m->modules));
    m->modules[m->n_modules++] = (struct module){.file = file};
    return (uint32_t)m->n_modules;
}

/* Returns the code around @addr.  That of the program stays where it is, and is looked for once. */
static struct exec_range range_of(struct exec_client *c, uint64_t addr)
{
    struct exec_makers *m = c->server->makers;
    struct exec_range range = c->main;
    struct exec_code code;

    if (range.module && addr >= range.from && addr < range.to)
        return range;
    if (!exec_code_find(c->pid, addr, &code))
        return (struct exec_range){0};
    range = (struct exec_range){module_of(m, c->pid, code.path), code.from, code.to, code.offset};
    if (range.module && m->modules[range.module - 1].file.is_program)
        c->main = range;
    return range;
}

/* Keeps how the queue pair that @c made last was made, beyond its end. */
static void keep_qp(struct exec_client *c, const struct exec_made *made)
{
    struct exec_account *a = c->account;
    struct exec_made_qp *last = a && a->n_qps ? &a->qps[(a->n_qps - 1) % EXEC_MADE_QPS_MAX] : NULL;

    if (made->kind == PROGRAM_QP && last && last->made.handle == made->handle)
        last->made = *made;
}

/* Keeps how the region that @c made last was made, beyond its end. */
static void keep_mr(struct exec_client *c, const struct exec_made *made)
{
    struct exec_account *a = c->account;
    struct rdl_mr_info info;

    if (!a || made->kind != PROGRAM_MR ||
        rdl_mr_info(c->lab, (rdl_mr){made->handle}, &info) != RDL_OK)
        return;
    if (a->n_mrs < EXEC_MADE_MRS_MAX)
        a->mrs = must_grow(a->mrs, a->n_mrs, &a->mrs_room, sizeof(*a->mrs));
    a->mrs[a->n_mrs++ % EXEC_MADE_MRS_MAX] =
        (struct exec_made_mr){info.lkey, info.rkey, rdl_tick(c->lab), *made};
}

/* An inline function and its caller are in the same code. */
void exec_maker_record(struct exec_client *c, uint64_t handle)
{
    struct exec_makers *m = c->server->makers;
    const uint32_t maker = c->call.maker;
    void *array = c->made_objects;
    struct exec_range range;
    struct exec_made *made;

    if (maker == PROGRAM_BY_NONE || maker >= PROGRAM_MAKER_COUNT ||
        makers[maker].call != (enum program_op)c->call.op || handle == 0)
        return;
    made = exec_entry_for(&array, &c->n_made_objects, sizeof(*made));
    c->made_objects = array;
    if (!made)
        return;
    *made = (struct exec_made){
        handle, makers[maker].kind, count(m, c, maker), (enum program_maker)maker, {{0}}};
    range = range_of(c, c->call.callers[0]);
    for (unsigned i = 0; i < PROGRAM_CALLERS && range.module; i++) {
        const uint64_t addr = c->call.callers[i];

        if (addr >= range.from && addr < range.to)
            made->spots[i] = (struct exec_spot){range.module, range.offset + (addr - range.from)};
    }
    keep_qp(c, made);
    keep_mr(c, made);
}

void exec_maker_record_qp(struct exec_client *c, uint64_t handle, uint32_t qpn)
{
    struct exec_account *a = c->account;

    if (!a)
        return;
    if (a->n_qps < EXEC_MADE_QPS_MAX)
        a->qps = must_grow(a->qps, a->n_qps, &a->qps_room, sizeof(*a->qps));
    a->qps[a->n_qps++ % EXEC_MADE_QPS_MAX] =
        (struct exec_made_qp){qpn, rdl_tick(c->lab), {.handle = handle, .kind = PROGRAM_QP}};
}

void exec_maker_forget(struct exec_client *c, uint32_t kind, uint64_t handle)
{
    for (size_t i = 0; i < c->n_made_objects; i++) {
        if (c->made_objects[i].handle == handle && c->made_objects[i].kind == kind)
            c->made_objects[i] = (struct exec_made){0};
    }
}

struct exec_makers *exec_makers_new(void)
{
    struct exec_makers *m = must_malloc(sizeof(*m));

    *m = (struct exec_makers){0};
    return m;
}

void exec_makers_free(struct exec_makers *m)
{
    for (size_t i = 0; m && i < m->n_modules; i++) {
        free(m->modules[i].file.path);
        free(m->modules[i].found);
    }
    if (m) {
        free(m->modules);
        free(m->tallies);
    }
    free(m);
}

/* --- Looking up ------------------------------------------------------------------------------- */

static const struct exec_source *found_at(const struct module *m, uint64_t offset)
{
    for (size_t i = 0; i < m->n_found; i++) {
        if (m->found[i].offset == offset)
            return &m->found[i].source;
    }
    return NULL;
}

/* Places of one module that are to be looked up. */
struct wanted {
    uint32_t module;
    size_t n;
    uint64_t offset[EXEC_SOURCES_MAX], address[EXEC_SOURCES_MAX];
};

static void want(struct wanted *w, const struct module *m, const struct exec_elf *e,
                 uint64_t offset)
{
    uint64_t address;

    if (w->n == EXEC_SOURCES_MAX || found_at(m, offset) || !exec_elf_address(e, offset, &address))
        return;
    for (size_t i = 0; i < w->n; i++) {
        if (w->offset[i] == offset)
            return;
    }
    w->offset[w->n] = offset;
    w->address[w->n++] = address - 1; /* of the call: its return address may be another line */
}

/* Adds the places of all other objects of the file: a table of objects asks for them next. */
static void want_all(struct wanted *w, const struct exec_server *s, const struct module *m,
                     const struct exec_elf *e)
{
    for (const struct exec_client *c = s->clients; c; c = c->next) {
        for (size_t i = 0; i < c->n_made_objects; i++) {
            for (unsigned k = 0; k < PROGRAM_CALLERS; k++) {
                if (c->made_objects[i].spots[k].module == w->module)
                    want(w, m, e, c->made_objects[i].spots[k].offset);
            }
        }
    }
}

/* Without a line there is only the symbol before the place.  Of a stripped file that can be another
 * function, which the file exports.
 */
static void judge_function(struct exec_source *s, bool has_symbols)
{
    if (s->line[0] || has_symbols)
        return;
    s->function[0] = '\0';
    s->in_verbs = false;
}

/* Looks up @spot, and other places of the same file, in one run of addr2line. */
static void look_up(const struct exec_server *s, const struct exec_spot *spot)
{
    struct module *m = &s->makers->modules[spot->module - 1];
    struct exec_source sources[EXEC_SOURCES_MAX];
    struct wanted w = {.module = spot->module};
    const int fd = open(m->file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct exec_elf e;
    bool has_symbols;

    if (fd < 0)
        return;
    if (exec_elf_read(&e, fd)) {
        want(&w, m, &e, spot->offset);
        want_all(&w, s, m, &e);
    }
    has_symbols = w.n > 0 && exec_elf_has_symbols(&e);
    close(fd);
    if (w.n > 0 && !exec_source_find(m->file.path, w.address, w.n, sources))
        s->makers->n_late++;
    for (size_t i = 0; i < w.n; i++) {
        m->found = must_grow(m->found, m->n_found, &m->room, sizeof(*m->found));
        m->found[m->n_found] = (struct known_source){w.offset[i], sources[i]};
        judge_function(&m->found[m->n_found++].source, has_symbols);
    }
}

/* Finds the source of a place; NULL: unknown. */
static const struct exec_source *source_of(const struct exec_server *s,
                                           const struct exec_spot *spot)
{
    const struct module *m = spot->module ? &s->makers->modules[spot->module - 1] : NULL;

    if (!m || !exec_module_is_unchanged(&m->file))
        return NULL;
    if (!found_at(m, spot->offset) && s->makers->n_late < LATE_MAX)
        look_up(s, spot);
    return found_at(m, spot->offset);
}

/* Describes a place as well as it is known: "server.c:71", "main of server", "server+0x1189". */
static void describe(const struct exec_server *s, const struct exec_spot *spot,
                     const struct exec_source *source, char ret[LIVE_WHERE_BYTES])
{
    const struct module *m = &s->makers->modules[spot->module - 1];
    const char *base = strrchr(m->file.path, '/') + 1;
    const char *gone = strstr(base, " (deleted)");
    const int n = gone ? (int)(gone - base) : (int)strlen(base);
    uint64_t address = spot->offset;
    struct exec_elf e;
    int fd;

    if (source && source->line[0] && m->file.is_program) {
        snprintf(ret, LIVE_WHERE_BYTES, "%s", source->line);
    } else if (source && source->line[0]) {
        snprintf(ret, LIVE_WHERE_BYTES, "%s of %.*s", source->line, n, base);
    } else if (source && source->function[0]) {
        snprintf(ret, LIVE_WHERE_BYTES, "%s of %.*s", source->function, n, base);
    } else {
        fd = exec_module_is_unchanged(&m->file)
                 ? open(m->file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                 : -1;
        if (fd < 0 || !exec_elf_read(&e, fd) || !exec_elf_address(&e, spot->offset, &address))
            snprintf(ret, LIVE_WHERE_BYTES, "%.*s", n, base);
        else
            snprintf(ret, LIVE_WHERE_BYTES, "%.*s+0x%" PRIx64, n, base, address);
        if (fd >= 0)
            close(fd);
    }
}

static void add_where(const struct exec_server *s, const struct exec_made *o,
                      char ret[LIVE_WHERE_BYTES])
{
    const struct exec_spot *spot = &o->spots[0];
    const struct exec_source *source = source_of(s, spot);
    struct text t = text_on(ret, LIVE_WHERE_BYTES);
    char where[LIVE_WHERE_BYTES];

    /* A function of verbs.h that was not inlined: its caller is wanted. */
    if (source && source->in_verbs && strncmp(source->function, "ibv_", 4) == 0) {
        spot = o->spots[1].module ? &o->spots[1] : spot;
        source = spot == &o->spots[1] ? source_of(s, spot) : NULL;
    }
    where[0] = '\0';
    if (spot->module)
        describe(s, spot, source, where);
    utf8_add_printable(&t, where, false); /* a program may have any name */
}

bool exec_maker_find(const struct exec_server *s, uint32_t kind, uint64_t handle,
                     struct live_maker *ret, uint32_t *ret_rank)
{
    for (const struct exec_client *c = s->clients; c; c = c->next) {
        for (size_t i = 0; i < c->n_made_objects; i++) {
            const struct exec_made *o = &c->made_objects[i];

            if (o->handle != handle || o->kind != kind)
                continue;
            ret->call = makers[o->maker].function;
            ret->nth = o->nth;
            ret->pid = c->pid;
            *ret_rank = c->rank;
            add_where(s, o, ret->where);
            return true;
        }
    }
    return false;
}

bool exec_maker_qp_at(const struct exec_server *s, const struct exec_account *a, uint32_t k,
                      struct live_qp *ret, struct live_maker *ret_maker)
{
    const struct exec_made_qp *q;

    if (k >= a->n_qps || k >= EXEC_MADE_QPS_MAX)
        return false;
    q = &a->qps[k];
    *ret = (struct live_qp){.qpn = q->qpn, .tick = q->tick};
    if (!ret_maker)
        return true;
    *ret_maker = (struct live_maker){.program = ""};
    if (q->made.maker == PROGRAM_BY_NONE)
        return true;
    ret_maker->call = makers[q->made.maker].function;
    ret_maker->nth = q->made.nth;
    add_where(s, &q->made, ret_maker->where);
    return true;
}

bool exec_maker_mr_of(const struct exec_server *s, const struct exec_account *a, uint32_t key,
                      uint64_t before, struct live_maker *ret_maker)
{
    for (size_t i = a->n_mrs; i > 0 && i + EXEC_MADE_MRS_MAX > a->n_mrs; i--) {
        const struct exec_made_mr *m = &a->mrs[(i - 1) % EXEC_MADE_MRS_MAX];

        if ((m->lkey != key && m->rkey != key) || m->tick >= before)
            continue;
        *ret_maker = (struct live_maker){
            .program = "", .call = makers[m->made.maker].function, .nth = m->made.nth};
        add_where(s, &m->made, ret_maker->where);
        return true;
    }
    return false;
}
