/* SPDX-License-Identifier: MIT */
/* The extension headers of RoCEv2 packets, and their sizes.  headers.def has a row for each header.
 */
#ifndef EMU_FACTS_ENUM_OP_HEADER_H
#define EMU_FACTS_ENUM_OP_HEADER_H

/* Each extension header has a bit for sets of headers (H_RETH) and a size in bytes (RETH_BYTES). */
enum op_header {
#define HEADER(name, bit, bytes, text) H_##name = (bit),
#include "emu/facts/headers.def"
#undef HEADER
};
enum op_header_bytes {
#define HEADER(name, bit, bytes, text) name##_BYTES = (bytes),
#include "emu/facts/headers.def"
#undef HEADER
};

#endif
