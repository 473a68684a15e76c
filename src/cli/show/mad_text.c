/* SPDX-License-Identifier: MIT */
#include "cli/show/mad_text.h"

#include "emu/base/cursor.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/addr.h"

/* Appends the number and its name: "8 INVALID_SERVICE_ID". */
static void add_named(struct text *t, const struct enum_table *names, uint64_t v, const char *form)
{
    text_addf(t, form, (unsigned)v);
    if (enum_by_value(names, (uint32_t)v))
        text_addf(t, " %s", enum_name(names, (uint32_t)v));
}

/* A time code t means 4.096 us * 2^t.  [IBTA1 9.7.6.1.3] */
static void add_time(struct text *t, uint64_t code)
{
    text_addf(t, "%u, ", (unsigned)code);
    quantity_add_time_short(t, (uint64_t)4096 << code);
}

/* Of the port spaces of rdma_cm, the service ID has the port in its low bytes. */
static void add_service(struct text *t, uint64_t id)
{
    text_addf(t, "0x%016llx", (unsigned long long)id);
    if (rdma_cm_has_header(id))
        text_addf(t, ", %s port %u", enum_name(&enum_port_space, (uint32_t)(id >> 16)),
                  (unsigned)(id & 0xffffu));
}

static void add_ip(struct text *t, const uint8_t *at)
{
    static const uint8_t none[12];
    uint8_t gid[GID_BYTES];

    if (memcmp(at, none, sizeof(none)) != 0) {
        addr_add(t, at);
        return;
    }
    gid_from_ipv4(gid, at + sizeof(none));
    addr_add(t, gid);
}

static void add_bytes(struct text *t, const struct mad_field *f, const uint8_t *at)
{
    if (f->form == MAD_FORM_GID)
        addr_add(t, at);
    else if (f->form == MAD_FORM_IP)
        add_ip(t, at);
    else
        text_addf(t, "%s, %u bytes", f->title, f->bytes);
}

static void add_number(struct text *t, const struct mad_field *f, uint64_t v)
{
    switch (f->form) {
    case MAD_FORM_HEX:
        text_addf(t, "0x%0*llx", 2 * f->bytes, (unsigned long long)v);
        break;
    case MAD_FORM_TIME:
        add_time(t, v);
        break;
    case MAD_FORM_ACK_TIME:
        if (v)
            add_time(t, v);
        else
            text_add(t, "0, no timeout");
        break;
    case MAD_FORM_SERVICE:
        add_service(t, v);
        break;
    case MAD_FORM_MESSAGE:
        add_named(t, mad_field_words(f), v, "0x%04x");
        break;
    case MAD_FORM_MTU:
    case MAD_FORM_ANSWERED:
    case MAD_FORM_REASON:
    case MAD_FORM_SIDR_STATUS:
        add_named(t, mad_field_words(f), v, "%u");
        break;
    default:
        text_addf(t, "%llu", (unsigned long long)v);
        break;
    }
}

void mad_text_add(struct text *t, const struct mad_field *f, const uint8_t *bytes)
{
    if (f->bytes > sizeof(uint64_t))
        add_bytes(t, f, bytes + f->at);
    else
        add_number(t, f, mad_field_get(f, bytes));
}
