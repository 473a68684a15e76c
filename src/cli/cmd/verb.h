/* SPDX-License-Identifier: MIT */
/* Functions of the commands that create and destroy objects of a device. */
#ifndef CLI_CMD_VERB_H
#define CLI_CMD_VERB_H

#include "cli/session/resolve.h"
#include "cli/session/session.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pv_absent.h"
#include "rdmalab/verbs.h"

/* Finds the host in parameter `host` of @st; if it is not given, the host of the running block
 * (`on HOST`).  Returns false, with the error in s->diag, if there is no such host.
 */
bool verb_home(struct session *s, const struct step *st, struct home *ret);

/* An error of a call that returns an errno, and what helps. */
struct errno_row {
    int error; /* 0 ends the rows */
    const char *name, *text, *remedy;
};

/* Fails because a call of @st has returned errno @error, with the text of its row, or with the
 * number if it has none.  @rows are those of the call, @at the place in the line.  Returns false.
 */
bool verb_fail_errno(struct session *s, const struct step *st, struct span at,
                     const struct errno_row *rows, int error);

/* Finds the object of kind @kind that parameter @param of @st names, and its host.  *@ret_raw is
 * its handle: member raw of rdl_qp, rdl_mr and so on.  Returns false, with the error in s->diag, if
 * there is none.
 */
bool verb_object(struct session *s, const struct step *st, const char *param, enum object_kind kind,
                 uint64_t *ret_raw, struct home *ret_home);

/* Writes the name of the object to @ret, without its host: "qp" of "h1.qp".  @raw is its handle.
 * @ret has RDL_VALUE_BYTES bytes.
 */
void verb_own_name(struct session *s, enum object_kind kind, uint64_t raw, char *ret);

/* Adds to the error in s->diag, that the device of @home does not offer something, what can be done
 * about it: PVRDMA never offers it, as @what says; for another device it is @remedy.  Returns
 * false.
 */
bool verb_absent(struct session *s, const struct home *home, enum pv_absent what,
                 const char *remedy);

/* Checks @status, the result of the function of the lab that sent the control request of @st on
 * @home.  Returns true for RDL_OK.  Otherwise returns false with a message in s->diag: name taken
 * or reserved, limit reached, earlier request not answered, or another error.
 */
bool verb_sent(struct session *s, const struct step *st, const struct home *home,
               enum rdl_status status);

/* Runs the lab until the device of @home has answered the control request of @st.  @status is the
 * result of sending it, checked first by verb_sent().  Returns false, with the error in s->diag, if
 * the request was not sent, was refused or will not be answered.
 */
bool verb_finish(struct session *s, const struct step *st, const struct home *home,
                 enum rdl_status status);

/* Call before @st creates an object on @home: sets how many control requests may be pending on
 * @home, RDL_REQUESTS_MAX with `nowait` and otherwise 1.  Returns false, with the error in s->diag,
 * if the host refuses that.
 */
bool verb_may_begin(struct session *s, const struct step *st, const struct home *home);

/* Ends a command that creates an object.  Without `nowait` it is verb_finish().  With `nowait` it
 * only checks @status (verb_sent()), prints that the object was requested, and sets *@ret_asked to
 * true.  Returns false, with the error in s->diag, if that failed.
 */
bool verb_created(struct session *s, const struct step *st, const struct home *home,
                  enum rdl_status status, bool *ret_asked);

/* @st has failed with RDL_ERR_KERNEL: names in s->diag the object among its parameters, and the
 * part of the kernel that has it.
 */
void verb_name_keeper(struct session *s, const struct step *st);

/* Ends a command that destroys the object @raw, which parameter @param names: verb_finish(), unless
 * the object is busy.  Then returns false, and s->diag names what still needs the object: its
 * users, its multicast groups, or its unacknowledged events.
 */
bool verb_destroyed(struct session *s, const struct step *st, const char *param,
                    enum object_kind kind, uint64_t raw, enum rdl_status status);

/* Sets the destination of @ah, for a request of @from, from parameter @param of @st: an IP address,
 * or the name of a host.  Of a host it takes the GID with index ah->sgid_index, which the caller
 * has set, and the MAC, as @from knows them for queue pair @qpn, or 0 (rdl_peer_address()).  An IP
 * address sets only the GID; the guest looks the MAC up.  Returns false, with the error in s->diag,
 * if there is no such host or GID.
 */
bool verb_address(struct session *s, const struct step *st, const char *param, rdl_host from,
                  uint32_t qpn, struct rdl_ah_attr *ah);

/* Fails if @st gives qos= and its frames have no tag: @vlan is 0. */
bool verb_priority_fits(struct session *s, const struct step *st, uint32_t vlan);

/* Fails because of @status of rdl_wire_address() or rdl_peer_address(): parameter @param of @st
 * names a host without the address number @index.
 */
bool verb_fail_address(struct session *s, const struct step *st, const char *param, uint32_t index,
                       enum rdl_status status);

#endif
