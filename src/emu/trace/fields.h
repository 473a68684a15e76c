/* SPDX-License-Identifier: MIT */
/* The C types of the fields of events.  ftypes.def has a row for each type. */
#ifndef EMU_TRACE_FIELDS_H
#define EMU_TRACE_FIELDS_H

#include <stdint.h>

#include "emu/trace/id.h"

/* A short name inside an event, truncated if too long. */
struct ev_str {
    char s[EV_NAME_BYTES];
};

/* Returns @s, truncated to EV_NAME_BYTES - 1 bytes.  The bytes after it are 0. */
struct ev_str ev_str(const char *s);

/* An IPv4 or IPv6 address as text.  It is empty if the event has no address. */
struct ev_addr {
    char s[EV_ADDR_BYTES];
};

/* Returns @s, truncated to EV_ADDR_BYTES - 1 bytes.  The bytes after it are 0. */
struct ev_addr ev_addr(const char *s);

#define FTYPE(name, ctype, print, table, none, again, hash) typedef ctype evf_##name;
#include "emu/trace/ftypes.def"
#undef FTYPE

#endif
