/* SPDX-License-Identifier: MIT */
#include "cli/trace_file/trace_file_header.h"

#include <stdlib.h>
#include <string.h>

#include "cli/trace_file/trace_file_internal.h"
#include "emu/base/assert.h"
#include "emu/base/json.h"
#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum_table.h"
#include "emu/trace/event.h"
#include "print/print_json.h"
#include "print/version.h"
#include "rdmalab/lab.h"

/* --- Writing --- */

/* The add functions return false if there is no memory. */
static bool add_number(cJSON *to, const char *name, uint64_t v)
{
    char digits[24];
    struct text t = text_on(digits, sizeof(digits));

    if (v <= JSON_EXACT_MAX)
        return cJSON_AddNumberToObject(to, name, (double)v) != NULL;
    text_addf(&t, "%llu", (unsigned long long)v);
    return cJSON_AddStringToObject(to, name, digits) != NULL;
}

/* Adds one field of an event.  The number of a host is called @host. */
static bool add_field(cJSON *to, const struct ev *e, const struct ev_field *f, const char *host)
{
    char word[EV_ADDR_BYTES];
    struct text t = text_on(word, sizeof(word));

    if (f->print == EVP_HOST)
        return add_number(to, host, ev_field_number(e, f));
    if (f->print == EVP_NUMBER)
        return add_number(to, f->name, ev_field_number(e, f));
    ev_add_field(&t, e, f, NULL);
    return cJSON_AddStringToObject(to, f->name, word) != NULL;
}

/* Adds an entry for a named object to the list for its kind. */
static bool add_named(cJSON *header, const struct ev *e)
{
    static const struct {
        enum ev_kind kind;
        const char *list, *host;
    } rows[] = {
        {EV_host_up, "hosts", "number"},
        {EV_port_up, "ports", "number"},
        {EV_named, "objects", "host"},
    };
    const struct ev_schema *schema = ev_schema(e->kind);
    cJSON *o = cJSON_CreateObject();
    size_t row = 0;
    bool ok = o != NULL;

    while (row + 1 < ARRAY_LEN(rows) && rows[row].kind != e->kind)
        row++;
    for (size_t i = 0; i < schema->n_fields && ok; i++)
        ok = add_field(o, e, &schema->fields[i], rows[row].host);
    if (ok && cJSON_AddItemToArray(cJSON_GetObjectItem(header, rows[row].list), o))
        return true;
    cJSON_Delete(o);
    return false;
}

static bool add_gap(cJSON *header, const struct past *p)
{
    cJSON *gap;

    if (!p->gap_from)
        return true;
    gap = cJSON_AddObjectToObject(header, "gap");
    return gap && add_number(gap, "from", p->gap_from) &&
           (p->gap_to == RDL_NEVER || add_number(gap, "to", p->gap_to));
}

static bool add_call(cJSON *calls, const struct past_call *c)
{
    const bool takes = c->call == CM_CALL_rdma_get_cm_event;
    char tick[32];
    struct text t = text_on(tick, sizeof(tick));
    cJSON *o = cJSON_CreateObject();

    ev_add_id(&t, ev_id_of(ev_tick(c->id), 0));
    if (o && cJSON_AddStringToObject(o, ev_row(c->id) ? "behind" : "before", tick) &&
        add_number(o, "at_ns", c->at_ns) &&
        cJSON_AddStringToObject(o, "call", enum_name(&enum_cm_call, c->call)) &&
        add_number(o, "host", c->host) && add_number(o, "cm_id", c->cm_id) &&
        (!takes || cJSON_AddStringToObject(o, "event", enum_name(&enum_rdma_cm_event, c->event))) &&
        (!c->error || add_number(o, "error", (uint64_t)c->error)) && cJSON_AddItemToArray(calls, o))
        return true;
    cJSON_Delete(o);
    return false;
}

static bool add_calls(cJSON *header, const struct past *p)
{
    cJSON *calls = p->n_calls ? cJSON_AddArrayToObject(header, "calls") : NULL;
    bool ok = calls || !p->n_calls;

    for (size_t i = 0; ok && i < p->n_calls; i++) {
        const struct past_call c = p->call(p->ctx, i);

        ok = add_call(calls, &c);
    }
    return ok;
}

static bool add_all(cJSON *header, const struct past *p, const struct past_about *about)
{
    struct ev e;
    bool ok;

    ok = cJSON_AddStringToObject(header, "format", TRACE_FILE_FORMAT) &&
         add_number(header, "version", TRACE_FILE_FORMAT_VERSION) &&
         cJSON_AddStringToObject(header, "rdmalab", RDMALAB_VERSION) &&
         add_number(header, "seed", about->seed);
    if (ok && about->title && about->title[0])
        ok = cJSON_AddStringToObject(header, "title", about->title) != NULL;
    ok = ok && add_number(header, "events", p->n) &&
         add_number(header, "forgotten", p->forgotten) && add_gap(header, p) &&
         cJSON_AddArrayToObject(header, "hosts") && cJSON_AddArrayToObject(header, "ports") &&
         cJSON_AddArrayToObject(header, "objects");
    for (size_t at = 0; ok && ev_names_next(p->names, &at, &e);)
        ok = add_named(header, &e);
    return ok && add_calls(header, p);
}

enum rdl_status trace_file_header_write(FILE *out, const struct past *p,
                                        const struct past_about *about)
{
    cJSON *header = cJSON_CreateObject();
    char *line = header && add_all(header, p, about) ? cJSON_PrintUnformatted(header) : NULL;

    cJSON_Delete(header);
    if (!line)
        return RDL_ERR_NOMEM;
    RDL_ASSERT(strncmp(line, TRACE_FILE_MARK, strlen(TRACE_FILE_MARK)) == 0);
    print_json_text(out, line);
    fputc('\n', out);
    cJSON_free(line);
    return RDL_OK;
}

/* --- Reading --- */

static const cJSON *member(const cJSON *j, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(j, name);
}

bool trace_file_is_header(const cJSON *j)
{
    return member(j, "format") != NULL;
}

/* Reads an optional number; if it is absent, *@ret is unchanged. */
static enum rdl_status take_number(struct trace_file_reader *rd, const cJSON *j, const char *name,
                                   uint64_t *ret)
{
    const cJSON *v = member(j, name);

    if (!v || trace_file_number(v, ret))
        return RDL_OK;
    return trace_file_refuse(rd, "\"%s\" in the header is no number", name);
}

static enum rdl_status take_text(struct trace_file_reader *rd, const cJSON *j, const char *name,
                                 char *to, size_t cap)
{
    const cJSON *v = member(j, name);

    if (v && !cJSON_IsString(v))
        return trace_file_refuse(rd, "\"%s\" in the header is no string", name);
    if (v)
        trace_file_copy_text(to, cap, v->valuestring);
    return RDL_OK;
}

static enum rdl_status check_format(struct trace_file_reader *rd, const cJSON *j)
{
    const char *format = cJSON_GetStringValue(member(j, "format"));
    const struct trace_file_info *info = &rd->s->info;
    uint64_t version = 0;

    if (!format || strcmp(format, TRACE_FILE_FORMAT) != 0)
        return trace_file_refuse(rd, "the header's format is not \"%s\"", TRACE_FILE_FORMAT);
    if (!member(j, "version") || !trace_file_number(member(j, "version"), &version))
        return trace_file_refuse(rd, "\"version\" in the header is missing or no number");
    if (version == TRACE_FILE_FORMAT_VERSION)
        return RDL_OK;
    return trace_file_refuse(
        rd,
        "the trace has format version %llu, and this rdmalab reads version %u; "
        "read it with the rdmalab that wrote it%s%s",
        (unsigned long long)version, TRACE_FILE_FORMAT_VERSION, info->rdmalab[0] ? ", " : "",
        info->rdmalab);
}

static enum rdl_status take_gap(struct trace_file_reader *rd, const cJSON *j)
{
    const cJSON *gap = member(j, "gap");
    struct trace_file *s = rd->s;
    enum rdl_status st;

    if (!gap)
        return RDL_OK;
    s->gap_to = RDL_NEVER;
    st = cJSON_IsObject(gap) ? take_number(rd, gap, "from", &s->gap_from)
                             : trace_file_refuse(rd, "\"gap\" in the header is no object");
    if (st == RDL_OK)
        st = take_number(rd, gap, "to", &s->gap_to);
    if (st == RDL_OK && (s->gap_from == 0 || s->gap_to < s->gap_from))
        return trace_file_refuse(rd,
                                 "\"gap\" in the header needs ticks from 1, the first one first");
    return st;
}

/* Reads one entry of "hosts" or "ports". */
static enum rdl_status take_host(struct trace_file_reader *rd, const cJSON *j, bool port)
{
    const char *what = port ? "port" : "host";
    const uint32_t first = port ? EV_PORT_FIRST : 0;
    const uint32_t end = port ? EV_PORT_FIRST + EV_PORTS_MAX : EV_PORT_FIRST;
    const char *mac = cJSON_GetStringValue(member(j, "mac"));
    struct ev_host_up up = {0};
    struct ev e = {.kind = EV_host_up};
    uint64_t number = UINT64_MAX, first_qpn = 0;
    enum rdl_status st = take_number(rd, j, "number", &number);

    if (st == RDL_OK)
        st = take_number(rd, j, "first_qpn", &first_qpn);
    if (st == RDL_OK)
        st = take_text(rd, j, "name", up.name.s, sizeof(up.name.s));
    if (st == RDL_OK)
        st = take_text(rd, j, "addr", up.addr.s, sizeof(up.addr.s));
    if (st != RDL_OK)
        return st;
    if (number < first || number >= end)
        return trace_file_refuse(rd, "a %s in the header needs a \"number\" from %u to %u", what,
                                 first, end - 1);
    if (!up.name.s[0])
        return trace_file_refuse(rd, "%s %u in the header has no name", what, (unsigned)number);
    if (trace_file_find_host(rd->s, up.name.s))
        return trace_file_refuse(rd, "two hosts in the header are called %s", up.name.s);
    if (mac && !trace_file_mac(mac, &up.mac))
        return trace_file_refuse(rd, "\"mac\" of %s in the header is no MAC", up.name.s);
    up.host = (uint32_t)number;
    up.first_qpn = (uint32_t)first_qpn;
    if (port) {
        e.kind = EV_port_up;
        e.u.port_up = (struct ev_port_up){.host = up.host, .name = up.name};
    } else {
        e.u.host_up = up;
    }
    for (size_t i = 0; i < rd->s->n_hosts; i++) {
        if (rd->s->hosts[i].number == up.host)
            return trace_file_refuse(rd, "two hosts in the header have number %u", up.host);
    }
    ev_names_learn(rd->s->names, &e);
    return trace_file_add_host(rd->s, up.name.s, up.host) ? RDL_OK : RDL_ERR_NOMEM;
}

static enum rdl_status take_object(struct trace_file_reader *rd, const cJSON *j)
{
    const char *kind = cJSON_GetStringValue(member(j, "object"));
    const struct enum_row *row = kind ? enum_by_name(&enum_object, kind) : NULL;
    struct ev e = {.kind = EV_named};
    uint64_t host = UINT64_MAX, number = UINT64_MAX;
    enum rdl_status st = take_number(rd, j, "host", &host);

    if (st == RDL_OK)
        st = take_number(rd, j, "number", &number);
    if (st == RDL_OK)
        st = take_text(rd, j, "name", e.u.named.name.s, sizeof(e.u.named.name.s));
    if (st != RDL_OK)
        return st;
    if (host > UINT32_MAX || number > UINT32_MAX || !e.u.named.name.s[0])
        return trace_file_refuse(rd,
                                 "an object in the header needs \"host\", \"number\" and \"name\"");
    if (!row)
        return RDL_OK; /* of a kind that only a newer rdmalab has */
    e.u.named.host = (uint32_t)host;
    e.u.named.object = row->value;
    e.u.named.number = (uint32_t)number;
    ev_names_learn(rd->s->names, &e);
    return RDL_OK;
}

/* Reads the lists of names. */
static enum rdl_status take_names(struct trace_file_reader *rd, const cJSON *j)
{
    static const char *const lists[] = {"hosts", "ports", "objects"};
    enum rdl_status st = RDL_OK;

    for (size_t i = 0; i < ARRAY_LEN(lists) && st == RDL_OK; i++) {
        const cJSON *list = member(j, lists[i]), *o;

        if (list && !cJSON_IsArray(list))
            return trace_file_refuse(rd, "\"%s\" in the header is no list", lists[i]);
        cJSON_ArrayForEach(o, list)
        {
            st = i == 2 ? take_object(rd, o) : take_host(rd, o, i == 1);
            if (st != RDL_OK)
                break;
        }
    }
    rd->s->names_given = member(j, "hosts") != NULL;
    return st;
}

/* Reads the place of a call among the events. */
static enum rdl_status take_place(struct trace_file_reader *rd, const cJSON *j, ev_id *ret)
{
    const char *before = cJSON_GetStringValue(member(j, "before"));
    const char *behind = cJSON_GetStringValue(member(j, "behind"));
    const char *tick = before ? before : behind;

    if (!tick || !ev_id_parse(tick, ret) || ev_row(*ret))
        return trace_file_refuse(rd, "a call in the header needs a tick \"before\" or \"behind\"");
    if (!before)
        *ret = ev_id_last(*ret);
    return RDL_OK;
}

static enum rdl_status take_call(struct trace_file_reader *rd, const cJSON *j,
                                 struct past_call *ret, bool *ret_known)
{
    const char *call = cJSON_GetStringValue(member(j, "call"));
    const char *event = cJSON_GetStringValue(member(j, "event"));
    const struct enum_row *row = call ? enum_by_name(&enum_cm_call, call) : NULL;
    const struct enum_row *what = event ? enum_by_name(&enum_rdma_cm_event, event) : NULL;
    uint64_t host = UINT64_MAX, cm_id = UINT64_MAX, at_ns = 0, error = 0;
    enum rdl_status st = take_place(rd, j, &ret->id);

    if (st == RDL_OK)
        st = take_number(rd, j, "at_ns", &at_ns);
    if (st == RDL_OK)
        st = take_number(rd, j, "host", &host);
    if (st == RDL_OK)
        st = take_number(rd, j, "cm_id", &cm_id);
    if (st == RDL_OK)
        st = take_number(rd, j, "error", &error);
    if (st != RDL_OK)
        return st;
    if (host > UINT32_MAX || cm_id > UINT32_MAX || error > INT32_MAX)
        return trace_file_refuse(rd, "a call in the header needs \"host\" and \"cm_id\"");
    *ret_known = row && (what || row->value != CM_CALL_rdma_get_cm_event); /* else of a newer one */
    ret->at_ns = at_ns;
    ret->call = row ? row->value : 0;
    ret->host = (uint32_t)host;
    ret->cm_id = (uint32_t)cm_id;
    ret->event = what ? what->value : 0;
    ret->error = (int)error;
    return RDL_OK;
}

static enum rdl_status take_calls(struct trace_file_reader *rd, const cJSON *j)
{
    const cJSON *list = member(j, "calls"), *o;
    struct trace_file *s = rd->s;

    if (!list)
        return RDL_OK;
    if (!cJSON_IsArray(list))
        return trace_file_refuse(rd, "\"calls\" in the header is no list");
    s->calls = calloc((size_t)cJSON_GetArraySize(list) + 1u, sizeof(*s->calls));
    if (!s->calls)
        return RDL_ERR_NOMEM;
    cJSON_ArrayForEach(o, list)
    {
        bool known = false;
        const enum rdl_status st = take_call(rd, o, &s->calls[s->n_calls], &known);

        if (st != RDL_OK)
            return st;
        s->n_calls += known;
    }
    return RDL_OK;
}

enum rdl_status trace_file_read_header(struct trace_file_reader *rd, const cJSON *j)
{
    struct trace_file *s = rd->s;
    enum rdl_status st;

    s->info.has_header = true;
    s->info.has_seed = member(j, "seed") != NULL;
    st = take_text(rd, j, "rdmalab", s->info.rdmalab, sizeof(s->info.rdmalab));
    if (st == RDL_OK)
        st = check_format(rd, j);
    if (st == RDL_OK)
        st = take_number(rd, j, "seed", &s->info.seed);
    if (st == RDL_OK)
        st = take_text(rd, j, "title", s->info.title, sizeof(s->info.title));
    if (st == RDL_OK)
        st = take_number(rd, j, "events", &s->info.events);
    if (st == RDL_OK)
        st = take_number(rd, j, "forgotten", &s->forgotten);
    if (st == RDL_OK)
        st = take_gap(rd, j);
    if (st == RDL_OK)
        st = take_names(rd, j);
    return st == RDL_OK ? take_calls(rd, j) : st;
}
