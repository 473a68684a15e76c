/* SPDX-License-Identifier: MIT */
/* The options --device, --extensions and --guests: which RDMA device hosts have that name none,
 * which extensions of virtio-rdma it offers, and whether hosts are guests of a machine.
 */
#ifndef CLI_APP_DEVICE_OPTION_H
#define CLI_APP_DEVICE_OPTION_H

#include "cli/session/session.h"

/* The values, for shell completion. */
#define DEVICE_OPTION_WORDS "virtio|pvrdma|mixed"

/* Reads the value @text of --device; NULL: it was not given.  "mixed" is PVRDMA for each second
 * host.  Prints an error and returns false if there is no such device.
 */
bool device_option_read(const char *text, struct session_devices *ret);

/* Reads the value @text of --extensions: words of enum extension, separated by commas; NULL: it was
 * not given.  Prints an error and returns false if a word is none of them.  Call it after
 * device_option_read().
 */
bool extensions_option_read(const char *text, struct session_devices *ret);

/* Reads the value @text of --guests, one of GUESTS_OPTION_WORDS; NULL: it was not given.  Prints an
 * error and returns false if it is another.  Call it after device_option_read().
 */
#define GUESTS_OPTION_WORDS "frames|shortcut"
bool guests_option_read(const char *text, struct session_devices *ret);

#endif
