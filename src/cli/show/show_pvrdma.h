/* SPDX-License-Identifier: MIT */
/* `show ring`, `show dsr`, `show uar`: the interface of a PVRDMA device, as it lies in guest RAM.
 */
#ifndef CLI_SHOW_SHOW_PVRDMA_H
#define CLI_SHOW_SHOW_PVRDMA_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Prints the ring at @path: its pages, its indices, and the slots that are not free.  A path like
 * "h1.qp.sq[2]" is one slot, byte by byte.
 *
 * Return: as pv_ring_view() of pv_ring.h, and RDL_ERR_FAULT (the slot is not in guest RAM)
 */
RDL_MUST_CHECK enum rdl_status show_ring(FILE *out, const struct rdl_lab *lab, const char *path,
                                         enum show_form form, size_t *reterr_at);

/* Prints the registers and the shared region of the PVRDMA device of host @host, byte by byte; with
 * @commands the command slot and the response slot instead.
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (@reterr_at), RDL_ERR_INVAL (no host, or one without PVRDMA),
 * RDL_ERR_NO_DEVICE (there is no shared region)
 */
RDL_MUST_CHECK enum rdl_status show_dsr(FILE *out, const struct rdl_lab *lab, const char *host,
                                        bool commands, enum show_form form, size_t *reterr_at);

/* Prints the user contexts of host @host with their pages of doorbells, and the last doorbells.
 * Errors as show_dsr(), without RDL_ERR_NO_DEVICE.
 */
RDL_MUST_CHECK enum rdl_status show_uar(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                        const char *host, enum show_form form, size_t *reterr_at);

/* Writes a picture of the ring at @path as SVG.  Also returns RDL_ERR_LIMIT if the ring has too
 * many slots for a picture.
 */
RDL_MUST_CHECK enum rdl_status export_ring(FILE *out, const struct rdl_lab *lab, const char *path,
                                           size_t *reterr_at);

#endif
