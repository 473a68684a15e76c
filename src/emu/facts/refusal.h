/* SPDX-License-Identifier: MIT */
/* The reasons why an RNIC refuses a request of its driver.  refusals.def has a row for each reason.
 *
 * Code that refuses a request gives the reason, which determines the kind.  A device translates the
 * kind to its own response code, and its driver that code to an errno: see
 * facts/virtio_rdma/refusal_rsp.h.  The same reason therefore always has the same response code.
 */
#ifndef EMU_FACTS_REFUSAL_H
#define EMU_FACTS_REFUSAL_H

#include "emu/facts/compared.h"

enum refusal_reason {
#define REFUSAL(name, number, kind, lead, tail, form, text) REF_##name = (number),
#include "emu/facts/refusals.def"
#undef REFUSAL
};

enum refusal_kind {
    RFK_NONE,       /* the request was carried out */
    RFK_UNKNOWN,    /* the device does not know the request */
    RFK_NO_OBJECT,  /* a handle in the request names nothing */
    RFK_BUSY,       /* the object is in use */
    RFK_NO_ROOM,    /* a limit of the device is reached */
    RFK_INVALID,    /* a value in the request is out of range */
    RFK_UNSUPPORTED /* the device does not offer this */
};

/* The result of a request: the reason of a refusal, and the compared values. */
struct refused {
    enum refusal_reason why; /* REF_NONE: the request was carried out */
    struct compared values;
};

/* Returns the kind of the reason @why. */
enum refusal_kind refusal_kind(enum refusal_reason why);

/* Returns the errno of a verb that the device refused for a reason of @kind, 0 for RFK_NONE.  Each
 * kind has another one.
 */
int refusal_errno(enum refusal_kind kind);

#endif
