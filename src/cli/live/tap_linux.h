/* SPDX-License-Identifier: MIT */
/* A tap device of Linux: Ethernet frames to and from the kernel's network stack. */
#ifndef CLI_LIVE_TAP_LINUX_H
#define CLI_LIVE_TAP_LINUX_H

#include <stdbool.h>

#include "cli/live/live.h"

/* Creates the tap device @name, or attaches to it if it exists, and brings it up if that is
 * allowed. Returns a non-blocking file descriptor, or -1 and @reterr says why and how to get the
 * right.
 */
int tap_open(const char *name, struct live_error *reterr);

/* Is the device set up, so that frames pass? */
bool tap_is_up(const char *name);

/* The longest IP packet that the device takes; 0: there is no such device. */
uint32_t tap_mtu(const char *name);

/* Frames that the kernel had for the device's reader and dropped, since there is the device: too
 * many waited, or nobody had it open.  It wraps.
 */
uint32_t tap_missed(const char *name);

/* May this process create tap devices?  NULL, or why not. */
const char *tap_obstacle(void);

#endif
