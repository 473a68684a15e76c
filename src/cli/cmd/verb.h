/* SPDX-License-Identifier: MIT */
/* Functions of the commands that create and destroy objects of a device. */
#ifndef CLI_CMD_VERB_H
#define CLI_CMD_VERB_H

#include "cli/session/resolve.h"
#include "cli/session/session.h"
#include "emu/facts/enum/object.h"
#include "rdmalab/verbs.h"

/* The host that the operand `host` of @st names. */
bool verb_home(struct session *s, const struct step *st, struct home *ret);

/* The object that parameter @param names, and its host. */
bool verb_object(struct session *s, const struct step *st, const char *param, enum object_kind kind,
                 uint64_t *ret_raw, struct home *ret_home);

/* The object's name without its host; @ret has RDL_VALUE_BYTES. */
void verb_own_name(struct session *s, enum object_kind kind, uint64_t raw, char *ret);

/* Fails unless @status, of a call that makes something on @home under the name that @st gives, is
 * RDL_OK.
 */
bool verb_sent(struct session *s, const struct step *st, const struct home *home,
               enum rdl_status status);

/* Waits for a control request on @home that had status @status when it was put into the ring. */
bool verb_finish(struct session *s, const struct step *st, const struct home *home,
                 enum rdl_status status);

/* Before a command that creates an object, which may be told not to wait: @home takes requests
 * beside others then.
 */
bool verb_may_begin(struct session *s, const struct step *st, const struct home *home);

/* verb_finish() of such a command.  *@ret_asked: it does not wait, and has said so. */
bool verb_created(struct session *s, const struct step *st, const struct home *home,
                  enum rdl_status status, bool *ret_asked);

/* The same for the destruction of an object, which parameter @param names: who is in the way of it
 * is named.
 */
bool verb_destroyed(struct session *s, const struct step *st, const char *param,
                    enum object_kind kind, uint64_t raw, enum rdl_status status);

/* Where parameter @param of @st leads, in @ah, whose sgid_index is set: the name of a host is its
 * GID of that index and its MAC, an IP address that of a station whose MAC the guest looks up.
 */
bool verb_address(struct session *s, const struct step *st, const char *param,
                  struct rdl_ah_attr *ah);

#endif
