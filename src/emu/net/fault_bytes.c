/* SPDX-License-Identifier: MIT */
/* Faults that change the bytes of a frame.  They change a copy, which is recorded under the fault's
 * event.  The record of the sent frame stays as it was.
 */
#include "emu/facts/enum/fault.h"
#include "emu/net/internal.h"
#include "emu/wire/field.h"
#include "emu/wire/packet.h"

/* Returns the bit to invert.  For RDL_ANY it is the last bit that the ICRC covers, so that only the
 * ICRC is wrong; in a frame without an ICRC it is the last bit.
 */
static size_t bit_of(const struct frame *f, uint32_t bit)
{
    size_t end;

    if (bit != UINT32_MAX)
        return bit % (f->len * 8);
    end = packet_icrc_at(f->bytes, f->len);
    return (end ? end : f->len) * 8 - 1;
}

bool fault_can_change(const struct net_fault *fault, const struct frame *f)
{
    if (fault->kind == FLT_TRUNCATE)
        return f->len > fault->to_bytes;
    if (fault->kind == FLT_MARK)
        return field_is_ip(f->bytes, f->len);
    return fault->field == WF_NONE ||
           field_place((enum wire_field_id)fault->field, f->bytes, f->len).bytes > 0;
}

/* Sets the field to @value and updates all checksums that cover it; @mend includes the ICRC. */
static void forge(struct frame *f, const struct field_place *at, uint64_t value, bool mend)
{
    const size_t icrc = packet_icrc_at(f->bytes, f->len);

    field_put(at, f->bytes, value);
    field_mend_ip(f->bytes, f->len);
    if (mend)
        packet_finish(f->bytes, icrc + ICRC_BYTES);
}

static void change(const struct net_fault *fault, struct frame *f)
{
    const enum wire_field_id field = (enum wire_field_id)fault->field;
    const struct field_place at =
        field ? field_place(field, f->bytes, f->len) : (struct field_place){.bytes = 0};
    size_t bit;

    switch (fault->kind) {
    case FLT_TRUNCATE:
        f->len = fault->to_bytes;
        break;
    case FLT_MARK:
        field_mark(f->bytes, f->len);
        break;
    case FLT_FORGE:
        forge(f, &at, fault->value, field != WF_ICRC);
        break;
    default:
        if (field) {
            field_flip(&at, f->bytes);
            break;
        }
        bit = bit_of(f, fault->corrupt_bit);
        f->bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        break;
    }
}

void fault_change(struct net *n, const struct net_fault *fault, struct frame **f, ev_id id)
{
    struct frame *copy = frame_copy(n->arena, *f);

    if (!copy)
        return; /* out of memory: the fault has no effect */
    copy->tx = id;
    change(fault, copy);
    n->ops->keep(n->world, copy, true);
    frame_unref(n->arena, *f);
    *f = copy;
}
