/* SPDX-License-Identifier: MIT */
/* Virtual machines of the lab's hosts: what live_uv.c asks of them. */
#ifndef CLI_LIVE_LIVE_VM_H
#define CLI_LIVE_LIVE_VM_H

#include <poll.h>

#include "cli/live/live_internal.h"

#define LIVE_VMS_MAX 4u
#define LIVE_VM_FDS  3u /* of each that are waited for */

bool live_vm_start(struct live *l, const struct live_vm_config *config, struct live_error *reterr);

/* Answers what the machines have asked, up to a limit, and looks which have ended.  True: there was
 * something.
 */
bool live_vms_serve(struct live *l);

/* What is to be waited for: at most LIVE_VMS_MAX * LIVE_VM_FDS descriptors.  Returns how many. */
unsigned live_vms_fds(const struct live *l, struct pollfd *ret);

bool live_vms_run(const struct live *l);
bool live_vms_failed(struct live *l, struct live_error *reterr);
bool live_vm_at(const struct live *l, uint32_t i, struct live_vm_info *ret);

/* Ends all of them; then they can be freed. */
void live_vms_stop(struct live *l);
void live_vms_free(struct live *l);

#endif
