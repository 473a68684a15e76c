/* SPDX-License-Identifier: MIT */
#include "emu/facts/pvrdma/opcode.h"

#include <stddef.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wr_opcode.h"

/* One row: a number of PVRDMA, and the value of verbs. */
struct opcode_row {
    uint32_t ours, verbs;
};

static const struct opcode_row sends[] = {
#define PV_SEND(number, name) {(number), WR_##name},
#include "emu/facts/pvrdma/opcodes.def"
#undef PV_SEND
};

static const struct opcode_row completions[] = {
#define PV_WC(number, name) {(number), WC_##name},
#include "emu/facts/pvrdma/opcodes.def"
#undef PV_WC
};

static const struct opcode_row flags[] = {
#define PV_WC_FLAG(number, name) {(number), WCF_##name},
#include "emu/facts/pvrdma/opcodes.def"
#undef PV_WC_FLAG
};

static uint32_t to_verbs(const struct opcode_row *rows, size_t n, uint32_t ours)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].ours == ours)
            return rows[i].verbs;
    }
    return PV_NO_OPCODE;
}

static uint32_t from_verbs(const struct opcode_row *rows, size_t n, uint32_t verbs)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].verbs == verbs)
            return rows[i].ours;
    }
    return PV_NO_OPCODE;
}

uint32_t pv_send_opcode(uint32_t opcode)
{
    return to_verbs(sends, ARRAY_LEN(sends), opcode);
}

uint32_t pv_send_number(uint32_t wr_opcode)
{
    return from_verbs(sends, ARRAY_LEN(sends), wr_opcode);
}

uint32_t pv_wc_number(uint32_t wc_opcode)
{
    return from_verbs(completions, ARRAY_LEN(completions), wc_opcode);
}

uint32_t pv_wc_opcode(uint32_t number)
{
    return to_verbs(completions, ARRAY_LEN(completions), number);
}

uint32_t pv_wc_flag_bits(uint32_t of_verbs)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        bits |= of_verbs & flags[i].verbs ? flags[i].ours : 0;
    return bits;
}

uint32_t pv_wc_flags(uint32_t bits)
{
    uint32_t of_verbs = 0;

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        of_verbs |= bits & flags[i].ours ? flags[i].verbs : 0;
    return of_verbs;
}
