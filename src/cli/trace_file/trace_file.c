/* SPDX-License-Identifier: MIT */
/* Parses each field of a line according to its type in the event schema. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/json_scan.h"
#include "cli/lang/source.h"
#include "cli/trace_file/trace_file_internal.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "emu/trace/event.h"
#include "emu/wire/addr.h"
#include "print/utf8.h"
#include "rdmalab/trace.h"

#define TRACE_FILE_HEADER_MAX (16u << 20) /* bytes of the first line */
#define TRACE_FILE_LINE_MAX   (4u * EV_JSON_BYTES)
#define LINE_BYTES_FIRST      4096u

static const struct ev *event_at(const void *ctx, size_t i)
{
    return &((const struct trace_file *)ctx)->events[i];
}

static const uint8_t *frame_of(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    (void)ctx;
    (void)tx;
    (void)ret_bytes;
    return NULL;
}

/* Returns the words of the message in the frame of event @tx; NULL: it has none. */
static const char *lnet_of(const void *ctx, ev_id tx)
{
    const struct trace_file *s = ctx;
    size_t low = 0, high = s->n_lnet;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (s->lnet[mid].id < tx)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n_lnet && s->lnet[low].id == tx ? s->lnet[low].words : NULL;
}

static struct past_call call_at(const void *ctx, size_t i)
{
    return ((const struct trace_file *)ctx)->calls[i];
}

struct past trace_file_past(const struct trace_file *s)
{
    return (struct past){
        .ctx = s,
        .n = s->n,
        .forgotten = s->forgotten,
        .forgotten_frames = s->forgotten,
        .gap_from = s->gap_from,
        .gap_to = s->gap_to,
        .without_frames = true,
        .names = s->names,
        .at = event_at,
        .frame = frame_of,
        .lnet = lnet_of,
        .n_calls = s->n_calls,
        .call = call_at,
    };
}

const struct trace_file_info *trace_file_info(const struct trace_file *s)
{
    return &s->info;
}

bool trace_file_is_whole(const struct trace_file *s)
{
    const struct trace_file_info *i = &s->info;

    return i->has_header && s->forgotten == 0 && s->gap_from == 0 && !i->truncated &&
           i->unknown_words == 0 && i->missing_events == 0;
}

const struct ev_condition *trace_file_missing_field(const struct trace_file *s,
                                                    const struct ev_filter *f)
{
    const struct ev_field *fields = ev_schema(f->kind)->fields;

    for (size_t i = 0; i < f->n; i++) {
        if (s->missing[f->kind] >> (f->conditions[i].field - fields) & 1u)
            return &f->conditions[i];
    }
    return NULL;
}

static bool mentions(const struct ev *e, const char *name)
{
    const struct ev_schema *schema = ev_schema(e->kind);

    if (e->kind == EV_switch_up)
        return strcmp(e->u.switch_up.name.s, name) == 0;
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct ev_field *f = &schema->fields[i];

        if (strcmp(f->type, "part") == 0 && strcmp((const char *)e + f->offset, name) == 0)
            return true;
    }
    return false;
}

bool trace_file_has_part(const struct trace_file *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++) {
        if (mentions(&s->events[i], name))
            return true;
    }
    return strcmp(name, EV_CHANCE) == 0 || strcmp(name, EV_BURST) == 0;
}

void trace_file_free(struct trace_file *s)
{
    if (!s)
        return;
    free(s->events);
    free(s->hosts);
    free(s->calls);
    free(s->lnet);
    ev_names_free(s->names);
    free(s);
}

enum rdl_status trace_file_refuse(struct trace_file_reader *rd, const char *fmt, ...)
{
    struct text t = text_on(rd->err->text, sizeof(rd->err->text));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    return RDL_ERR_INVAL;
}

void trace_file_copy_text(char *to, size_t cap, const char *from)
{
    size_t n = strlen(from);

    if (n >= cap)
        n = cap - 1;
    while (n > 0 && ((unsigned char)from[n] & 0xc0u) == 0x80u)
        n--; /* do not cut inside a character */
    memcpy(to, from, n);
    to[n] = '\0';
    for (size_t i = 0, used = 1; i < n; i += used) {
        uint32_t c = 0;

        used = utf8_character(to + i, n - i, &c);
        if (used == 0 || utf8_controls(c)) {
            used += used == 0;
            memset(to + i, '?', used);
        } else if (utf8_begins_command(to + i, i == 0)) {
            to[i] = '?';
        }
    }
}

bool trace_file_number(const cJSON *j, uint64_t *ret)
{
    if (cJSON_IsString(j))
        return quantity_parse(QUANTITY_NUMBER, j->valuestring, ret) == NULL;
    if (!cJSON_IsNumber(j) || j->valuedouble < 0 || j->valuedouble > 9007199254740992.0)
        return false;
    *ret = (uint64_t)j->valuedouble;
    return (double)*ret == j->valuedouble;
}

bool trace_file_mac(const char *s, uint64_t *ret)
{
    uint8_t mac[MAC_BYTES];

    if (!mac_parse(s, mac))
        return false;
    *ret = 0;
    for (size_t i = 0; i < MAC_BYTES; i++)
        *ret = *ret << 8 | mac[i];
    return true;
}

const struct trace_file_host *trace_file_find_host(const struct trace_file *s, const char *name)
{
    for (size_t i = 0; i < s->n_hosts; i++) {
        if (strcmp(s->hosts[i].name.s, name) == 0)
            return &s->hosts[i];
    }
    return NULL;
}

bool trace_file_add_host(struct trace_file *s, const char *name, uint32_t number)
{
    struct trace_file_host *v;

    v = realloc(s->hosts, (s->n_hosts + 1) * sizeof(*v));
    if (!v)
        return false;
    s->hosts = v;
    v[s->n_hosts++] = (struct trace_file_host){ev_str(name), number};
    return true;
}

/* Returns the lowest number above those of all hosts (or ports). */
static uint32_t free_number(const struct trace_file *s, bool port)
{
    uint32_t number = port ? EV_PORT_FIRST : 0;

    for (size_t i = 0; i < s->n_hosts; i++) {
        if ((s->hosts[i].number >= EV_PORT_FIRST) == port && s->hosts[i].number >= number)
            number = s->hosts[i].number + 1;
    }
    return number;
}

/* Returns the number of the host called @word in an event of @kind.  A host that is mentioned for
 * the first time gets a number and this name.  Returns false if it cannot get one.
 */
static bool host_number(struct trace_file *s, enum ev_kind kind, const char *word, uint64_t *ret)
{
    const bool port = kind == EV_port_up;
    struct ev e = {.kind = EV_host_up};
    const struct trace_file_host *known;
    struct ev_str name;
    uint32_t number;

    if (strcmp(word, "none") == 0) {
        *ret = EV_HOST_NONE;
        return true;
    }
    trace_file_copy_text(name.s, sizeof(name.s), word);
    known = trace_file_find_host(s, name.s);
    if (known) {
        *ret = known->number;
        return true;
    }
    number = free_number(s, port);
    if (number >= (port ? EV_PORT_FIRST + EV_PORTS_MAX : EV_PORT_FIRST) ||
        !trace_file_add_host(s, name.s, number))
        return false;
    e.u.host_up.host = number;
    e.u.host_up.name = name;
    ev_names_learn(s->names, &e);
    *ret = number;
    return true;
}

/* Parses a field that is written as a word.  Returns false if the word is unknown. */
static bool parse_word(struct trace_file *s, enum ev_kind kind, const struct ev_field *f,
                       const char *word, uint64_t *ret)
{
    const struct enum_row *row;

    switch (f->print) {
    case EVP_HEX:
        return quantity_parse(QUANTITY_NUMBER, word, ret) == NULL;
    case EVP_HOST:
        return host_number(s, kind, word, ret);
    case EVP_EVENT:
        return ev_id_parse(word, ret);
    case EVP_MAC:
        return trace_file_mac(word, ret);
    case EVP_ENUM:
        row = enum_by_name(*f->words, word);
        if (row)
            *ret = row->value;
        return row != NULL;
    default:
        return false;
    }
}

/* Sets field @f of @e.  *@ret_known is false if it has a word of a newer rdmalab. */
static enum rdl_status read_field(struct trace_file_reader *rd, struct ev *e,
                                  const struct ev_field *f, const cJSON *j, bool *ret_known)
{
    uint64_t v = 0;
    bool good;

    if (f->print == EVP_STR) {
        if (!cJSON_IsString(j))
            return trace_file_refuse(rd, "\"%s\" must be a string", f->name);
        trace_file_copy_text((char *)e + f->offset, f->bytes, j->valuestring);
        return RDL_OK;
    }
    if (ev_field_takes_any(f) && cJSON_IsString(j) && strcmp(j->valuestring, "any") == 0) {
        ev_field_set(e, f, EV_ANY);
        return RDL_OK;
    }
    if (f->print == EVP_FLAG) {
        good = cJSON_IsBool(j);
        v = cJSON_IsTrue(j) ? 1 : 0;
    } else if (f->print == EVP_NUMBER || f->print == EVP_TIME) {
        good = trace_file_number(j, &v);
    } else {
        good = cJSON_IsString(j) && parse_word(rd->s, e->kind, f, j->valuestring, &v);
    }
    if (!good && f->print == EVP_ENUM && cJSON_IsString(j)) {
        *ret_known = false;
        return RDL_OK;
    }
    if (!good && f->print == EVP_HOST && cJSON_IsString(j))
        return trace_file_refuse(rd, "\"%s\": the trace has more hosts than a lab can have",
                                 f->name);
    if (!good || (f->bytes == sizeof(uint32_t) && v > UINT32_MAX))
        return trace_file_refuse(rd, "\"%s\" is no %s", f->name, f->type);
    ev_field_set(e, f, v);
    return RDL_OK;
}

/* Reads at_ns, id, cause and ev, which every event has.  An unknown kind becomes EV_COUNT. */
static enum rdl_status read_head(struct trace_file_reader *rd, struct ev *e, const cJSON *j)
{
    const cJSON *at = cJSON_GetObjectItemCaseSensitive(j, "at_ns");
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(j, "id"));
    const cJSON *cause = cJSON_GetObjectItemCaseSensitive(j, "cause");
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(j, "ev"));
    const struct trace_file *s = rd->s;

    if (!at || !trace_file_number(at, &e->at_ns))
        return trace_file_refuse(rd, "\"at_ns\" is missing or no number");
    if (!id || !ev_id_parse(id, &e->id) || ev_row(e->id) == 0)
        return trace_file_refuse(rd, "\"id\" is missing or not like \"#34.1\"");
    if (e->id <= s->last_id || e->at_ns < s->last_ns)
        return trace_file_refuse(rd, "%s is not later than the event before it", id);
    if (cause && !(cJSON_IsString(cause) && ev_id_parse(cause->valuestring, &e->cause)))
        return trace_file_refuse(rd, "\"cause\" is not like \"#34.1\"");
    if (!kind)
        return trace_file_refuse(rd, "\"ev\", the kind of event, is missing");
    e->kind = ev_kind_find(kind);
    return RDL_OK;
}

/* Number of fields that the schema of @kind does not have. */
static uint64_t unknown_fields(enum ev_kind kind, const cJSON *j)
{
    static const char *const head[] = {"at_ns", "id", "cause", "ev", "lnet"};
    const cJSON *field;
    uint64_t n = 0;

    cJSON_ArrayForEach(field, j)
    {
        bool known = ev_field_find(kind, field->string) != NULL;

        for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
            known = known || strcmp(field->string, head[i]) == 0;
        n += !known;
    }
    return n;
}

/* Returns true if an event has no word for field @f that is not set: it is left out then. */
static bool may_be_left_out(const struct ev_field *f)
{
    return f->print == EVP_ENUM && !ev_field_takes_any(f) && !enum_by_value(*f->words, 0);
}

/* Reads the fields of the event's kind.  *@ret_known: see read_field(). */
static enum rdl_status read_fields(struct trace_file_reader *rd, struct ev *e, const cJSON *j,
                                   bool *ret_known)
{
    const struct ev_schema *schema = ev_schema(e->kind);
    enum rdl_status st = RDL_OK;
    uint32_t missing = 0;

    RDL_ASSERT(schema->n_fields <= 32);
    for (size_t i = 0; i < schema->n_fields && st == RDL_OK; i++) {
        const struct ev_field *f = &schema->fields[i];
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, f->name);

        missing |= (uint32_t)(v == NULL && !may_be_left_out(f)) << i;
        if (v)
            st = read_field(rd, e, f, v, ret_known);
        else if (f->print == EVP_HOST)
            ev_field_set(e, f, EV_HOST_NONE);
    }
    if (st == RDL_OK && *ret_known) {
        rd->s->missing[e->kind] |= missing;
        for (; missing; missing &= missing - 1)
            rd->s->info.missing_fields++;
        rd->s->info.unknown_fields += unknown_fields(e->kind, j);
    }
    return st;
}

static enum rdl_status keep(struct trace_file_reader *rd, const struct ev *e)
{
    struct trace_file *s = rd->s;

    if (s->n == s->cap) {
        const size_t cap = s->cap ? 2 * s->cap : 256;
        struct ev *v;

        if (cap > RDL_RECORD_EVENTS_MAX) {
            (void)trace_file_refuse(rd, "the trace has more than %llu events, which no lab records",
                                    (unsigned long long)RDL_RECORD_EVENTS_MAX);
            return RDL_ERR_LIMIT;
        }
        v = realloc(s->events, cap * sizeof(*v));
        if (!v)
            return RDL_ERR_NOMEM;
        s->events = v;
        s->cap = cap;
    }
    s->events[s->n++] = *e;
    if (!s->names_given)
        ev_names_learn(s->names, e);
    return RDL_OK;
}

/* Keeps the words of the message in the frame that @e has put on the wire.  Other events of this
 * frame repeat them.
 */
static enum rdl_status keep_lnet(struct trace_file_reader *rd, const struct ev *e, const cJSON *j)
{
    const cJSON *words = cJSON_GetObjectItemCaseSensitive(j, "lnet");
    struct trace_file *s = rd->s;

    if (!words || (e->kind != EV_tx && e->kind != EV_fault))
        return RDL_OK;
    if (!cJSON_IsString(words))
        return trace_file_refuse(rd, "\"lnet\" must be a string");
    if (s->n_lnet == s->lnet_cap) {
        const size_t cap = s->lnet_cap ? 2 * s->lnet_cap : 64;
        struct trace_file_lnet *v = realloc(s->lnet, cap * sizeof(*v));

        if (!v)
            return RDL_ERR_NOMEM;
        s->lnet = v;
        s->lnet_cap = cap;
    }
    s->lnet[s->n_lnet].id = e->id;
    trace_file_copy_text(s->lnet[s->n_lnet].words, PAST_LNET_BYTES, words->valuestring);
    s->n_lnet++;
    return RDL_OK;
}

/* An event that adds a host or a port names it twice.  Two different names would be two hosts, one
 * of which could not be queried.
 */
static enum rdl_status check_names(struct trace_file_reader *rd, const struct ev *e)
{
    const bool port = e->kind == EV_port_up;
    const uint32_t number = port ? e->u.port_up.host : e->u.host_up.host;
    const char *name = port ? e->u.port_up.name.s : e->u.host_up.name.s;
    const struct trace_file_host *known;

    if ((!port && e->kind != EV_host_up) || rd->s->names_given || number == EV_HOST_NONE)
        return RDL_OK;
    known = trace_file_find_host(rd->s, name);
    if (known && known->number == number)
        return RDL_OK;
    return trace_file_refuse(rd, "\"host\" and \"name\" of %s must be the same, and are not",
                             ev_schema(e->kind)->name);
}

static enum rdl_status read_event(struct trace_file_reader *rd, const cJSON *j)
{
    struct trace_file *s = rd->s;
    bool known = true;
    struct ev e;
    enum rdl_status st;

    memset(&e, 0, sizeof(e));
    if (trace_file_is_header(j))
        return trace_file_refuse(rd, "a second header: a file holds one trace");
    st = read_head(rd, &e, j);
    if (st != RDL_OK)
        return st;
    s->last_id = e.id;
    s->last_ns = e.at_ns;
    if (e.kind == EV_COUNT) {
        s->info.unknown_kinds++;
        return RDL_OK;
    }
    st = read_fields(rd, &e, j, &known);
    if (st != RDL_OK)
        return st;
    s->info.unknown_words += !known;
    if (known)
        st = check_names(rd, &e);
    if (known && st == RDL_OK)
        st = keep_lnet(rd, &e, j);
    return known && st == RDL_OK ? keep(rd, &e) : st;
}

/* Parses @line as JSON.  Returns NULL on success, otherwise the kind of error. */
static const char *parse(const struct source *line, cJSON **ret)
{
    size_t at;
    const char *end = NULL, *why = source_check_text(line, &at);

    if (why)
        return why;
    *ret = cJSON_ParseWithLengthOpts(line->text, line->len + 1, &end, true);
    if (!*ret && end && json_is_too_deep(line, (size_t)(end - line->text)))
        return "nested too deeply: at most 1000 deep";
    if (!*ret)
        return "not JSON";
    if (cJSON_IsObject(*ret))
        return NULL;
    cJSON_Delete(*ret);
    return "not a JSON object";
}

/* @whole: the line has a line end. */
static enum rdl_status read_line(struct trace_file_reader *rd, const struct source *line,
                                 bool whole)
{
    struct trace_file *s = rd->s;
    const char *why;
    cJSON *j = NULL;
    enum rdl_status st;

    if (line->text[strspn(line->text, " \t\r\n")] == '\0' && strlen(line->text) == line->len)
        return RDL_OK;
    why = parse(line, &j);
    if (why && !whole) {
        s->info.truncated = true;
        return RDL_OK;
    }
    if (why)
        return trace_file_refuse(rd, "%s; each line of a trace is a JSON object", why);
    st = !s->begun && trace_file_is_header(j) ? trace_file_read_header(rd, j) : read_event(rd, j);
    s->begun = true;
    cJSON_Delete(j);
    return st;
}

/* A growing buffer for a line. */
struct trace_line {
    char *text;
    size_t n, cap;
};

/* Reads up to the next line end, which is not stored.  Returns RDL_ERR_LIMIT if there is none in
 * @max bytes.
 */
static enum rdl_status take_line(FILE *in, size_t max, struct trace_line *l, int *ret_end)
{
    int c;

    l->n = 0;
    for (;;) {
        if (l->n + 1 >= l->cap) {
            const size_t cap = l->cap ? 2 * l->cap : LINE_BYTES_FIRST;
            char *v = realloc(l->text, cap);

            if (!v)
                return RDL_ERR_NOMEM;
            l->text = v;
            l->cap = cap;
        }
        c = getc_unlocked(in);
        if (c == EOF || c == '\n')
            break;
        if (l->n == max)
            return RDL_ERR_LIMIT;
        l->text[l->n++] = (char)c;
    }
    l->text[l->n] = '\0';
    *ret_end = c;
    return RDL_OK;
}

/* Computes the number of missing events from the header. */
static void count_missing(struct trace_file *s)
{
    const uint64_t seen = s->n + s->info.unknown_kinds + s->info.unknown_words;

    s->info.missing_events = s->info.events > seen ? s->info.events - seen : 0;
}

static enum rdl_status read_lines(FILE *in, struct trace_file_reader *rd)
{
    struct trace_line l = {NULL, 0, 0};
    enum rdl_status st = RDL_OK;
    int end = '\n';

    while (st == RDL_OK && end == '\n') {
        st = take_line(in, rd->s->begun ? TRACE_FILE_LINE_MAX : TRACE_FILE_HEADER_MAX, &l, &end);
        rd->err->line++;
        if (st == RDL_ERR_LIMIT)
            (void)trace_file_refuse(rd, "the line is longer than any event");
        else if (st == RDL_OK && ferror(in))
            st = trace_file_refuse(rd, "it cannot be read: %s", strerror(errno));
        else if (st == RDL_OK)
            st = read_line(rd, &(struct source){.text = l.text, .len = l.n}, end == '\n');
    }
    free(l.text);
    count_missing(rd->s);
    return st;
}

enum rdl_status trace_file_read(FILE *in, struct trace_file **ret, struct trace_file_error *reterr)
{
    struct trace_file *s = calloc(1, sizeof(*s));
    struct trace_file_reader rd = {s, reterr};
    enum rdl_status st = RDL_ERR_NOMEM;

    *reterr = (struct trace_file_error){0};
    if (!s)
        goto out;
    s->names = ev_names_new();
    if (!s->names)
        goto out;
    st = read_lines(in, &rd);
    if (st == RDL_OK && !s->begun) {
        reterr->line = 0;
        st = trace_file_refuse(&rd, "there is no whole line of a trace in it");
    }
    if (st != RDL_OK)
        goto out;
    *ret = s;
    s = NULL; /* owned by the caller now */
out:
    if (st == RDL_ERR_NOMEM)
        (void)trace_file_refuse(&rd, "out of memory");
    trace_file_free(s);
    return st;
}
