/* SPDX-License-Identifier: MIT */
/* Prints the control centre: the guests with virtual RNICs, their groups, rules and addresses. */
#ifndef CLI_SHOW_SHOW_CENTRE_H
#define CLI_SHOW_SHOW_CENTRE_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "rdmalab/lab.h"

void show_centre(FILE *out, const struct rdl_lab *lab, enum show_form form);

#endif
