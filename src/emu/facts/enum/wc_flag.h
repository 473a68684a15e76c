/* SPDX-License-Identifier: MIT */
/* The flags of completions, as in libibverbs. */
#ifndef EMU_FACTS_ENUM_WC_FLAG_H
#define EMU_FACTS_ENUM_WC_FLAG_H

#include "emu/facts/enum_table.h"

#define ENUM_WC_FLAG(X)                                                                            \
    X(WCF, GRH, 1u, "the first 40 bytes are the GRH area (UD)")                                    \
    X(WCF, WITH_IMM, 2u, "imm_data is valid")                                                      \
    X(WCF, WITH_INV, 8u, "invalidated_rkey is valid")

enum wc_flag_bit { ENUM_WC_FLAG(ENUM_MEMBER) };

#endif
