/* SPDX-License-Identifier: MIT */
/* Interprets the schema the other way round: each field of a line is read by its type. */
#include "cli/saved.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/show_events.h"
#include "emu/base/quantity.h"
#include "emu/wire/addr.h"

#define SAVED_LINE_MAX   (4u * EV_JSON_BYTES)
#define SAVED_EVENTS_MAX ((size_t)1 << 24)
#define SAVED_HOSTS_MAX  4096u

struct saved {
    struct ev *events;
    size_t n, cap;
    struct ev_names *names;
    struct ev_str *hosts; /* by number, in the order of their appearance */
    uint32_t n_hosts;
};

struct reader {
    struct saved *s;
    struct saved_error *err;
};

static const struct ev *saved_at(const void *ctx, size_t i)
{
    return &((const struct saved *)ctx)->events[i];
}

static const uint8_t *saved_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    (void)ctx;
    (void)tx;
    (void)ret_bytes;
    return NULL;
}

struct past saved_past(const struct saved *s)
{
    return (struct past){
        .ctx = s,
        .n = s->n,
        .names = s->names,
        .at = saved_at,
        .frame = saved_frame,
    };
}

void saved_free(struct saved *s)
{
    if (!s)
        return;
    free(s->events);
    free(s->hosts);
    ev_names_free(s->names);
    free(s);
}

static enum rdl_status refuse(struct reader *rd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static enum rdl_status refuse(struct reader *rd, const char *fmt, ...)
{
    struct text t = text_on(rd->err->text, sizeof(rd->err->text));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    return RDL_ERR_INVAL;
}

/* A JSON number, or a string for what a double cannot hold. */
static bool parse_number(const cJSON *j, uint64_t *ret)
{
    if (cJSON_IsString(j))
        return quantity_parse(QUANTITY_NUMBER, j->valuestring, ret) == NULL;
    if (!cJSON_IsNumber(j) || j->valuedouble < 0 || j->valuedouble > 9007199254740992.0)
        return false;
    *ret = (uint64_t)j->valuedouble;
    return (double)*ret == j->valuedouble;
}

static bool parse_mac(const char *s, uint64_t *ret)
{
    uint8_t mac[MAC_BYTES];

    if (!mac_parse(s, mac))
        return false;
    *ret = 0;
    for (size_t i = 0; i < MAC_BYTES; i++)
        *ret = *ret << 8 | mac[i];
    return true;
}

/* The number of the host called @name, a new one if the trace has not spoken of it. */
static bool host_number(struct saved *s, const char *name, uint64_t *ret)
{
    struct ev_str *v;

    if (strcmp(name, "none") == 0) {
        *ret = EV_HOST_NONE;
        return true;
    }
    for (*ret = 0; *ret < s->n_hosts; (*ret)++) {
        if (strcmp(s->hosts[*ret].s, name) == 0)
            return true;
    }
    if (s->n_hosts == SAVED_HOSTS_MAX)
        return false;
    v = realloc(s->hosts, (s->n_hosts + 1) * sizeof(*v));
    if (!v)
        return false;
    s->hosts = v;
    s->hosts[s->n_hosts++] = ev_str(name);
    return true;
}

/* A field that is written as a string. */
static bool parse_word(struct saved *s, const struct ev_field *f, const char *word, uint64_t *ret)
{
    const struct enum_row *row;

    switch (f->print) {
    case EVP_HEX:
        return quantity_parse(QUANTITY_NUMBER, word, ret) == NULL;
    case EVP_HOST:
        return host_number(s, word, ret);
    case EVP_EVENT:
        return event_id_parse(word, ret);
    case EVP_MAC:
        return parse_mac(word, ret);
    case EVP_ENUM:
        row = enum_by_name(*f->words, word);
        if (row)
            *ret = row->value;
        return row != NULL;
    default:
        return false;
    }
}

static enum rdl_status read_field(struct reader *rd, struct ev *e, const struct ev_field *f,
                                  const cJSON *j)
{
    uint64_t v = 0;
    bool good;

    if (f->print == EVP_STR) {
        struct text t = text_on((char *)e + f->offset, f->bytes);

        if (!cJSON_IsString(j))
            return refuse(rd, "\"%s\" must be a string", f->name);
        text_add(&t, j->valuestring);
        return RDL_OK;
    }
    if (f->print == EVP_FLAG) {
        good = cJSON_IsBool(j);
        v = cJSON_IsTrue(j) ? 1 : 0;
    } else if (f->print == EVP_NUMBER || f->print == EVP_TIME) {
        good = parse_number(j, &v);
    } else {
        good = cJSON_IsString(j) && parse_word(rd->s, f, j->valuestring, &v);
    }
    if (!good || (f->bytes == sizeof(uint32_t) && v > UINT32_MAX))
        return refuse(rd, "\"%s\" is no %s", f->name, f->type);
    ev_field_set(e, f, v);
    return RDL_OK;
}

/* at_ns, id, cause and ev, which every event has. */
static enum rdl_status read_head(struct reader *rd, struct ev *e, const cJSON *j)
{
    const cJSON *at = cJSON_GetObjectItemCaseSensitive(j, "at_ns");
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(j, "id"));
    const cJSON *cause = cJSON_GetObjectItemCaseSensitive(j, "cause");
    const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(j, "ev"));
    const struct saved *s = rd->s;

    if (!at || !parse_number(at, &e->at_ns))
        return refuse(rd, "\"at_ns\" is missing or no number");
    if (!id || !event_id_parse(id, &e->id) || ev_row(e->id) == 0)
        return refuse(rd, "\"id\" is missing or not like \"#34.1\"");
    if (s->n && (s->events[s->n - 1].id >= e->id || s->events[s->n - 1].at_ns > e->at_ns))
        return refuse(rd, "%s is not later than the line before it", id);
    if (cause && !(cJSON_IsString(cause) && event_id_parse(cause->valuestring, &e->cause)))
        return refuse(rd, "\"cause\" is not like \"#34.1\"");
    e->kind = kind ? ev_kind_find(kind) : EV_COUNT;
    if (e->kind == EV_COUNT)
        return refuse(rd, "\"ev\" is no kind of event: %s", kind ? kind : "missing");
    return RDL_OK;
}

static enum rdl_status read_event(struct reader *rd, struct ev *e, const cJSON *j)
{
    enum rdl_status st;
    const struct ev_schema *schema;

    if (!cJSON_IsObject(j))
        return refuse(rd, "not a JSON object");
    st = read_head(rd, e, j);
    if (st != RDL_OK)
        return st;
    schema = ev_schema(e->kind);
    for (size_t i = 0; i < schema->n_fields && st == RDL_OK; i++) {
        const struct ev_field *f = &schema->fields[i];
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, f->name);

        if (!v)
            return refuse(rd, "%s needs \"%s\"", schema->name, f->name);
        st = read_field(rd, e, f, v);
    }
    return st;
}

/* A trace written while the lab ran calls a host "host5" until it is up. */
static void learn_name(struct ev_str *known, const struct ev_str *name)
{
    const size_t n = strlen("host");

    if (strncmp(known->s, "host", n) == 0 && known->s[n] &&
        known->s[n + strspn(known->s + n, "0123456789")] == '\0')
        *known = *name;
}

static enum rdl_status keep(struct saved *s, const struct ev *e)
{
    if (s->n == s->cap) {
        const size_t cap = s->cap ? 2 * s->cap : 256;
        struct ev *v;

        if (cap > SAVED_EVENTS_MAX)
            return RDL_ERR_LIMIT;
        v = realloc(s->events, cap * sizeof(*v));
        if (!v)
            return RDL_ERR_NOMEM;
        s->events = v;
        s->cap = cap;
    }
    s->events[s->n++] = *e;
    ev_names_learn(s->names, e);
    if (e->kind == EV_host_up && e->u.host_up.host < s->n_hosts)
        learn_name(&s->hosts[e->u.host_up.host], &e->u.host_up.name);
    if (e->kind == EV_port_up && e->u.port_up.host < s->n_hosts)
        learn_name(&s->hosts[e->u.port_up.host], &e->u.port_up.name);
    return RDL_OK;
}

static enum rdl_status read_line(struct reader *rd, const char *line)
{
    cJSON *j = cJSON_Parse(line);
    struct ev e;
    enum rdl_status st;

    memset(&e, 0, sizeof(e));
    st = j ? read_event(rd, &e, j) : refuse(rd, "not JSON");
    cJSON_Delete(j);
    return st == RDL_OK ? keep(rd->s, &e) : st;
}

enum rdl_status saved_read(FILE *in, struct saved **ret, struct saved_error *reterr)
{
    char line[SAVED_LINE_MAX];
    struct saved *s = calloc(1, sizeof(*s));
    struct reader rd = {s, reterr};
    enum rdl_status st = RDL_ERR_NOMEM;

    *reterr = (struct saved_error){0};
    if (!s)
        goto out;
    s->names = ev_names_new();
    if (!s->names)
        goto out;
    st = RDL_OK;
    while (st == RDL_OK && fgets(line, sizeof(line), in)) {
        reterr->line++;
        if (!strchr(line, '\n') && !feof(in)) {
            (void)refuse(&rd, "the line is longer than any event");
            st = RDL_ERR_LIMIT;
        } else if (line[strspn(line, " \t\r\n")]) {
            st = read_line(&rd, line);
        }
    }
    if (st != RDL_OK)
        goto out;
    *ret = s;
    s = NULL; /* now the caller's */
out:
    saved_free(s);
    return st;
}
