/* SPDX-License-Identifier: MIT */
/* Tables of the fields in each header of a RoCEv2 frame, for `show packet`. */
#ifndef CLI_SHOW_SHOW_FIELDS_H
#define CLI_SHOW_SHOW_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/opcode.h"

/* The form in which the value of a field is shown. */
enum field_how {
    HOW_DEC,
    HOW_HEX,
    HOW_FLAG,
    HOW_MAC,
    HOW_IPV4,
    HOW_IPV6,
    HOW_WORDS, /* a count of 4-byte words */
    HOW_ETHERTYPE,
    HOW_PROTOCOL,
    HOW_OPCODE,
    HOW_SYNDROME,
    HOW_PLACEMENT,
    HOW_SELECTIVITY,
    HOW_RAW
};

/* A field of a header. */
struct wire_field {
    const char *name;
    uint8_t offset, bytes; /* offset in the header, and length */
    uint32_t mask;         /* bits that belong to the field; 0: all */
    enum field_how how;
};

struct wire_header {
    const char *name;
    size_t bytes; /* length of the header */
    const struct wire_field *fields;
    size_t n_fields;
};

extern const struct wire_header header_eth, header_vlan, header_ipv4, header_ipv6, header_udp,
    header_bth;

/* Returns the table of the extension header @h, a row of op_headers. */
struct wire_header wire_extension(const struct op_header_info *h);

/* Appends the value of field @f as text.  @bytes is the header that has the field. */
void wire_field_add(struct text *t, const struct wire_field *f, const uint8_t *bytes);

#endif
