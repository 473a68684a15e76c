/* SPDX-License-Identifier: MIT */
/* The device configuration, field by field: what it says, and who keeps to it. */
#ifndef CLI_SHOW_SHOW_DEVICE_H
#define CLI_SHOW_SHOW_DEVICE_H

#include "cli/show/show_rows.h"

struct rdl_lab;

/* Of host @host, or of all if that is empty. */
void show_device(FILE *out, const struct rdl_lab *lab, const char *host, enum show_form form);

#endif
