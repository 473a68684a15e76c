/* SPDX-License-Identifier: MIT */
/* Work requests that change keys, in the terms of verbs. */
#ifndef EMU_HCA_KEY_REQUEST_H
#define EMU_HCA_KEY_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* The work request REG_MR, which makes a fast region valid. */
struct reg_request {
    uint32_t mrn;
    uint32_t key;    /* new key: index of the region, low byte chosen by the consumer */
    unsigned access; /* set of enum access_bit */
    /* The request carries its own page list: the memory, and where the list is. */
    bool has_list;
    uint64_t start, length, pages;
    uint32_t n_pages;
};

/* A bind request: ibv_bind_mw() for type 1, the work request BIND_MW for type 2. */
struct bind_request {
    uint32_t type;
    uint32_t mw_key;      /* current key of the window */
    uint32_t new_key;     /* type 2: its low byte becomes the low byte of the window's key */
    uint32_t mr_key;      /* key of the region; not used by a bind of length 0 */
    unsigned access;      /* set of enum access_bit: remote access, zero based */
    uint64_t addr, bytes; /* addr is an address of the region, even with ACC_ZERO_BASED */
};

#endif
