/* SPDX-License-Identifier: MIT */
/* The BTH opcodes.  opcodes.def has a row for each opcode. */
#ifndef EMU_FACTS_ENUM_OPCODE_H
#define EMU_FACTS_ENUM_OPCODE_H

enum opcode {
#define OP(code, name, service, kind, position, headers, carried) OP_##name = (code),
#include "emu/facts/opcodes.def"
#undef OP
};

#endif
