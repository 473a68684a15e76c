/* SPDX-License-Identifier: MIT */
#include "cli/cmd/inject_mad.h"

#include <string.h>
#include <strings.h>

#include "cli/lang/suggest.h"
#include "cli/session/resolve.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/addr.h"
#include "rdmalab/inspect.h"

#define NAME_BYTES 64u

/* A structure of the message.  Fields of the body have their plain names; a prefix tells those of
 * the other structures.
 */
struct mad_place {
    const struct mad_layout *layout;
    const char *prefix;
    uint8_t *at;
};

#define PLACES 3u

/* Sets @ret to the structures of message @message at @mad.  Returns their number. */
static size_t places_of(uint32_t message, uint8_t *mad, struct mad_place ret[PLACES])
{
    const struct mad_layout *body = mad_body(message);
    const struct mad_field *last = &body->fields[body->n_fields - 1]; /* the private data */
    const bool has_addresses =
        body == &mad_layouts[MAD_PART_REQ] || body == &mad_layouts[MAD_PART_SIDR_REQ];

    ret[0] = (struct mad_place){body, "", mad + MAD_HEADER_BYTES};
    ret[1] = (struct mad_place){&mad_layouts[MAD_PART_HEADER], "MAD_", mad};
    ret[2] = (struct mad_place){&mad_layouts[MAD_PART_RDMA_CM], "RDMA_CM_",
                                mad + MAD_HEADER_BYTES + last->at};
    return has_addresses ? PLACES : PLACES - 1;
}

/* Finds the field @name.  Returns NULL, with a suggestion in *@reterr_near, which may point to
 * @keep, if there is none.
 */
static const struct mad_field *find(const struct mad_place *places, size_t n, const char *name,
                                    const struct mad_place **ret_in, struct suggestion *reterr_near,
                                    char keep[SUGGEST_WORD_BYTES])
{
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < places[k].layout->n_fields; i++) {
            const struct mad_field *f = &places[k].layout->fields[i];
            char buf[NAME_BYTES];
            struct text full = text_on(buf, sizeof(buf));

            if (!f->name)
                continue;
            text_addf(&full, "%s%s", places[k].prefix, f->name);
            if (strcasecmp(buf, name) == 0) {
                *ret_in = &places[k];
                return f;
            }
            (void)suggest_offer_copy(reterr_near, buf, keep);
        }
    }
    return NULL;
}

static bool no_value(struct session *s, struct span at, const struct mad_field *f, const char *text)
{
    const struct enum_table *words = mad_field_words(f);

    session_fail(s, at, "%s: \"%s\" is no value of this field", f->name, text);
    if (words)
        return diag_remedy(&s->diag, "a number, or a word: \"explain %s\" lists them", words->name);
    return diag_remedy(&s->diag,
                       "a number, or a path to one, like h1.id.comm_id; the largest is %llu",
                       (unsigned long long)mad_field_max(f));
}

/* Reads @text, which is a number, a word of the field, or a path to a number of the lab. */
static bool read_number(struct session *s, struct span at, const struct mad_field *f,
                        const char *text, uint64_t *ret)
{
    const struct enum_table *words = mad_field_words(f);
    const struct enum_row *row = words ? enum_by_name(words, text) : NULL;
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];
    struct rdl_value v;
    size_t off;

    if (row) {
        *ret = row->value;
    } else if (quantity_parse(QUANTITY_NUMBER, text, ret)) {
        resolve_path(&in, text, path);
        if (rdl_inspect(s->lab, path, &v, &off) != RDL_OK || v.type == RDL_NODE ||
            v.type == RDL_WORD || v.type == RDL_TEXT)
            return no_value(s, at, f, text);
        *ret = v.number;
    }
    return *ret <= mad_field_max(f) || no_value(s, at, f, text);
}

/* Writes an address, or text with zeros behind it. */
static bool put_bytes(struct session *s, struct span at, const struct mad_field *f,
                      const char *text, uint8_t *to)
{
    uint8_t gid[GID_BYTES];
    const bool is_ip = f->form == MAD_FORM_IP;

    if (f->form == MAD_FORM_GID || is_ip) {
        if (!addr_parse(text, gid)) {
            session_fail(s, at, "%s: \"%s\" is no address", f->name, text);
            return diag_remedy(&s->diag, "write it as 10.0.0.1 or \"fe80::1\"");
        }
        if (is_ip && gid_is_ipv4(gid)) /* an IPv4 address has zeros before it */
            memset(gid, 0, GID_IPV4_AT);
        memcpy(to, gid, GID_BYTES);
        return true;
    }
    if (strlen(text) > f->bytes) {
        session_fail(s, at, "%s: text of %zu bytes does not fit", f->name, strlen(text));
        return diag_remedy(&s->diag, "it has room for %u", f->bytes);
    }
    memset(to, 0, f->bytes);
    memcpy(to, text, strlen(text));
    return true;
}

/* Writes the field of one FIELD=VALUE. */
static bool put(struct session *s, const struct value *word, const struct mad_place *places,
                size_t n)
{
    const char *equals = strchr(word->text, '=');
    char name[NAME_BYTES], keep[SUGGEST_WORD_BYTES];
    struct text t = text_on(name, sizeof(name));
    struct suggestion near;
    const struct mad_place *in;
    const struct mad_field *f;
    uint64_t v;

    if (!equals) {
        session_fail(s, word->at, "\"%s\" is no FIELD=VALUE", word->text);
        return diag_remedy(&s->diag, "for example: set=reason=STALE_CONN,remote_comm_id=7");
    }
    text_addn(&t, word->text, (size_t)(equals - word->text));
    near = suggestion_for(name);
    f = find(places, n, name, &in, &near, keep);
    if (!f) {
        session_fail(s, word->at, "a %s has no field \"%s\"", places[0].layout->title, name);
        if (near.best)
            return diag_remedy(&s->diag, "did you mean \"%s\"?", near.best);
        return diag_remedy(&s->diag, "\"show packet\" of such a message names its fields");
    }
    if (!mad_field_is_number(f))
        return put_bytes(s, word->at, f, equals + 1, in->at + f->at);
    if (!read_number(s, word->at, f, equals + 1, &v))
        return false;
    mad_field_put(f, v, in->at);
    return true;
}

bool inject_mad_build(struct session *s, const struct step *st, uint8_t ret[MAD_BYTES])
{
    const struct arg *set = step_arg(st, "set");
    struct mad m = {.head = {.base_version = MAD_BASE_VERSION,
                             .mgmt_class = MAD_CLASS_CM,
                             .class_version = MAD_CM_CLASS_VERSION,
                             .method = MAD_METHOD_SEND,
                             .attr_id = (uint32_t)step_number(st, "cm")}};
    struct mad_place places[PLACES];
    size_t n;

    if (!mad_body(m.head.attr_id)) {
        session_fail(s, step_span(st, "cm", 0), "the fields of a %s are not known",
                     step_text(st, "cm"));
        return diag_remedy(&s->diag, "it is not used on RoCE");
    }
    mad_build(&m, ret);
    n = places_of(m.head.attr_id, ret, places);
    for (size_t i = 0; i < set->n; i++) {
        if (!put(s, &set->v[i], places, n))
            return false;
    }
    return true;
}
