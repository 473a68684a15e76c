/* SPDX-License-Identifier: MIT */
#include "emu/facts/virtio_rdma/layout.h"

#include "emu/base/assert.h"
#include "emu/facts/virtio_rdma/layouts.def"

/* Declares a member of a structure of the demonstration, by its form in layouts.def. */
#define IS_u8(f)                      uint8_t f
#define IS_u16(f)                     _Alignas(2) uint16_t f
#define IS_u32(f)                     _Alignas(4) uint32_t f
#define IS_u64(f)                     _Alignas(8) uint64_t f
#define IS_u8a8(f)                    _Alignas(8) uint8_t f
#define IS_p8(f)                      uint8_t f[1]
#define IS_p16(f)                     uint8_t f[2]
#define IS_p32(f)                     uint8_t f[4]
#define IS_p64(f)                     uint8_t f[8]
#define IS_bytes6(f)                  uint8_t f[6]
#define IS_bytes8(f)                  uint8_t f[8]
#define IS_bytes4a4(f)                _Alignas(4) uint8_t f[4]
#define IS_bytes16a8(f)               _Alignas(8) uint8_t f[16]
#define IS_bytes40a8(f)               _Alignas(8) uint8_t f[40]
#define IS_bytes56a8(f)               _Alignas(8) uint8_t f[56]
#define IS_bytes160a8(f)              _Alignas(8) uint8_t f[160]
#define IS_bytes128a4(f)              _Alignas(4) uint8_t f[128]
#define IS_le8(f)                     IS_u8(f)
#define IS_le16(f)                    IS_u16(f)
#define IS_le32(f)                    IS_u32(f)
#define IS_le64(f)                    IS_u64(f)
#define IS_bytes16(f)                 uint8_t f[16]
#define IS_bytes(n)                   IS_bytes##n
#define OWN_MEMBER(S, f, form)        IS_##form(f);
#define SAME_MEMBER(S, f, form, text) IS_##form(f);

#define DECLARE(name, list, how)                                                                   \
    struct demo_##name {                                                                           \
        list(how##_MEMBER, name)                                                                   \
    };
DEMO_STRUCTS(DECLARE)

/* The form begins with 'b' for bytes (bytesN), or with 'u', 'p' or 'l' for an integer. */
#define KIND(form) (#form[0] == 'b' ? 'b' : 'i')
#define OWN_ROW(S, f, form)                                                                        \
    {#f, (uint16_t)offsetof(struct demo_##S, f), (uint16_t)sizeof(((struct demo_##S *)0)->f),      \
     KIND(form), ""},
#define SAME_ROW(S, f, form, text)                                                                 \
    {#f, (uint16_t)offsetof(struct demo_##S, f), (uint16_t)sizeof(((struct demo_##S *)0)->f),      \
     KIND(form), text},
#define ROWS(name, list, how) static const struct row_field f_##name[] = {list(how##_ROW, name)};
DEMO_STRUCTS(ROWS)

static const struct row_struct demo[] = {
#define S(nm, list, how) {#nm, sizeof(struct demo_##nm), f_##nm, ARRAY_LEN(f_##nm)},
    DEMO_STRUCTS(S)
#undef S
};

const struct row_struct *rfc_laid_out(const char *name, enum rfc_layout layout)
{
    if (layout == LAYOUT_SPEC)
        return rfc_find(name);
    for (size_t i = 0; i < ARRAY_LEN(demo); i++) {
        if (strcmp(demo[i].name, name) == 0)
            return &demo[i];
    }
    return NULL;
}

const char *rfc_union_name(enum wr_form form)
{
    static const char *const names[] = {
        [WR_FORM_NONE] = NULL,    [WR_FORM_RDMA] = "wr_rdma", [WR_FORM_ATOMIC] = "wr_atomic",
        [WR_FORM_REG] = "wr_reg", [WR_FORM_BIND] = "wr_bind", [WR_FORM_UD] = "wr_ud",
    };

    return names[form];
}

static uint64_t load(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = bytes; i > 0; i--)
        v = v << 8 | at[i - 1];
    return v;
}

static void store(uint8_t *at, size_t bytes, uint64_t v)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

/* Converts wc_flags: the demonstration uses another bit for an invalidated key. */
static uint64_t flags_relayed(enum rfc_layout to, uint64_t flags)
{
    const uint64_t there = to == LAYOUT_DEMO ? 4 : 8, here = to == LAYOUT_DEMO ? 8 : 4;

    return (flags & ~(uint64_t)12) | (flags & here ? there : 0);
}

const char *rfc_inner_name(const struct row_struct *s, const struct row_field *f, enum wr_form form)
{
    if (strcmp(s->name, "modify_qp") == 0 && strcmp(f->name, "attrs") == 0)
        return "qp_attr";
    if (strcmp(s->name, "sq_wqe") == 0 && strcmp(f->name, "wr") == 0)
        return rfc_union_name(form) ? rfc_union_name(form) : "";
    return strcmp(f->name, "alt_ah") == 0 ? "" : NULL;
}

static void relay_integer(const struct row_struct *s, const struct row_field *f, const uint8_t *in,
                          enum rfc_layout to, const struct row_field *g, uint8_t *out)
{
    uint64_t v = load(in + f->offset, f->bytes);

    if (strcmp(s->name, "cqe") == 0 && strcmp(f->name, "wc_flags") == 0)
        v = flags_relayed(to, v);
    store(out + g->offset, g->bytes, v);
}

/* Converts a structure without nested structures.  This is the only place where the two layouts
 * differ.
 */
static void relay_flat(const char *name, enum rfc_layout from, const uint8_t *in,
                       enum rfc_layout to, uint8_t *out)
{
    const struct row_struct *a = rfc_laid_out(name, from), *b = rfc_laid_out(name, to);

    if (!a || !b)
        return;
    memset(out, 0, b->bytes);
    for (size_t i = 0; i < b->n_fields; i++) {
        const struct row_field *g = &b->fields[i], *f = row_field_find(a, g->name);

        if (!f || rfc_inner_name(a, f, WR_FORM_NONE))
            continue;
        if (f->type == 'i')
            relay_integer(a, f, in, to, g, out);
        else
            memcpy(out + g->offset, in + f->offset, f->bytes < g->bytes ? f->bytes : g->bytes);
    }
}

void rfc_relay(const char *name, enum wr_form form, enum rfc_layout from, const uint8_t *in,
               enum rfc_layout to, uint8_t *out)
{
    const struct row_struct *a = rfc_laid_out(name, from), *b = rfc_laid_out(name, to);

    RDL_ASSERT(a && b);
    relay_flat(name, from, in, to, out);
    for (size_t i = 0; i < a->n_fields; i++) {
        const struct row_field *f = &a->fields[i], *g = row_field_find(b, f->name);
        const char *inner = rfc_inner_name(a, f, form);

        if (g && inner && inner[0])
            relay_flat(inner, from, in + f->offset, to, out + g->offset);
    }
}
