/* SPDX-License-Identifier: MIT */
/* The option --device: which RDMA device hosts have that name none. */
#ifndef CLI_APP_DEVICE_OPTION_H
#define CLI_APP_DEVICE_OPTION_H

#include "cli/session/session.h"

/* The values, for shell completion. */
#define DEVICE_OPTION_WORDS "virtio|pvrdma|mixed"

/* Reads the value @text of --device; NULL: it was not given.  "mixed" is PVRDMA for each second
 * host.  Prints an error and returns false if there is no such device.
 */
bool device_option_read(const char *text, struct session_devices *ret);

#endif
