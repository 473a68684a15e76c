/* SPDX-License-Identifier: MIT */
/* Writes capture files for Wireshark.  [pcapng, draft-ietf-opsawg-pcapng]
 *
 * A function of the caller receives the bytes.  They are little-endian on every machine and contain
 * only what the caller passed, so equal runs write equal files.  Times are simulated nanoseconds:
 * they are shown as seconds after 1970-01-01.
 */
#ifndef EMU_WIRE_PCAPNG_H
#define EMU_WIRE_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/wire/addr.h"

struct pcapng {
    void (*put)(void *ctx, const void *bytes, size_t n); /* receives the next bytes of the file */
    void *ctx;                                           /* argument of @put */
    uint32_t n_interfaces;
};

/* The direction bits in the flags of a packet block. */
enum pcapng_direction { PCAPNG_UNKNOWN = 0, PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 };

struct pcapng_host {
    uint8_t gid[GID_BYTES];
    const char *name;
};

struct pcapng_packet {
    uint32_t interface; /* from pcapng_interface() */
    uint64_t at_ns;
    const uint8_t *frame;
    uint32_t frame_bytes;
    enum pcapng_direction direction;
    const char *const *comments; /* Wireshark shows them; each is truncated to 65,535 bytes */
    size_t n_comments;
};

/* The application that a file says has written it. */
#define PCAPNG_APPLICATION "rdmalab"

/* The name of an interface that has the frames which no host received. */
#define PCAPNG_LOST "wire.lost"

/* Bytes of a file at most that tell, for up to eight comments of 400 bytes, who has written it. */
#define PCAPNG_BEGIN_BYTES 4096u

/* Returns true if a file that begins with the @n bytes @begin was written by pcapng_begin(): its
 * first block is whole, and laid out exactly so.
 */
bool pcapng_is_ours(const uint8_t *begin, size_t n);

/* Initializes @w and writes the start of a file.  @put receives all bytes of the file.  @comments
 * describe the file as a whole.
 */
void pcapng_begin(struct pcapng *w, void (*put)(void *ctx, const void *bytes, size_t n), void *ctx,
                  const char *const *comments, size_t n_comments);

/* Adds an Ethernet interface and returns its number, from 0.  Call it before the first packet of
 * the interface.
 */
uint32_t pcapng_interface(struct pcapng *w, const char *name, const char *description);

/* Writes the names of hosts.  Wireshark can show them instead of IP addresses. */
void pcapng_hosts(struct pcapng *w, const struct pcapng_host *hosts, size_t n);

/* Writes one packet, which is captured completely. */
void pcapng_packet(struct pcapng *w, const struct pcapng_packet *p);

/* Adds statistics: @n frames of @interface were lost and are not in the file.  Call it at the end.
 */
void pcapng_dropped(struct pcapng *w, uint32_t interface, uint64_t at_ns, uint64_t n);

#endif
