/* SPDX-License-Identifier: MIT */
/* Writes capture files that Wireshark reads.  [pcapng, draft-ietf-opsawg-pcapng]
 *
 * The bytes go to a function of the caller's.  They are little-endian on every machine and hold
 * nothing but what was given, so equal runs make equal files.  Times are simulated nanoseconds:
 * they appear as seconds after 1970-01-01.
 */
#ifndef EMU_WIRE_PCAPNG_H
#define EMU_WIRE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

#include "emu/wire/addr.h"

struct pcapng {
    void (*put)(void *ctx, const void *bytes, size_t n);
    void *ctx;
    uint32_t n_interfaces;
};

/* The values of the two direction bits in the flags of a packet block. */
enum pcapng_direction { PCAPNG_UNKNOWN = 0, PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 };

struct pcapng_host {
    uint8_t gid[GID_BYTES];
    const char *name;
};

struct pcapng_packet {
    uint32_t interface; /* a value that pcapng_interface() returned */
    uint64_t at_ns;
    const uint8_t *frame;
    uint32_t frame_bytes;
    enum pcapng_direction direction;
    const char *const *comments; /* shown with the packet; longer ones are cut at 65,535 bytes */
    size_t n_comments;
};

/* Begins a file; @comments tell what was run. */
void pcapng_begin(struct pcapng *w, void (*put)(void *ctx, const void *bytes, size_t n), void *ctx,
                  const char *const *comments, size_t n_comments);

/* Adds an Ethernet interface and returns its number, from 0.  Before the first packet of it. */
uint32_t pcapng_interface(struct pcapng *w, const char *name, const char *description);

/* Names of hosts, so that a reader shows them in place of addresses. */
void pcapng_hosts(struct pcapng *w, const struct pcapng_host *hosts, size_t n);

void pcapng_packet(struct pcapng *w, const struct pcapng_packet *p);

/* Says that @interface has lost @n frames, which are not in the file.  At its end. */
void pcapng_dropped(struct pcapng *w, uint32_t interface, uint64_t at_ns, uint64_t n);

#endif
