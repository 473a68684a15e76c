/* SPDX-License-Identifier: MIT */
/* A tap device of Linux: passes Ethernet frames to and from the kernel's network stack. */
#ifndef CLI_LIVE_TAP_LINUX_H
#define CLI_LIVE_TAP_LINUX_H

#include <stdbool.h>

#include "cli/live/live.h"

/* Creates the tap device @name, or attaches to it if it exists, and brings it up if that is
 * permitted.  Returns a non-blocking file descriptor.  Returns -1 on failure; @reterr has the
 * reason and the command that grants the permission.
 */
int tap_open(const char *name, struct live_error *reterr);

/* Returns true if the device is up, so that frames pass. */
bool tap_is_up(const char *name);

/* Returns the MTU of the device in bytes, or 0 if there is no such device. */
uint32_t tap_mtu(const char *name);

/* Returns the number of frames that the kernel dropped since the device was created, because too
 * many waited for the reader or no process had it open.  The counter wraps.
 */
uint32_t tap_missed(const char *name);

/* Returns NULL if this process may create tap devices, otherwise the reason. */
const char *tap_obstacle(void);

#endif
