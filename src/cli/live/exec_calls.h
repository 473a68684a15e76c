/* SPDX-License-Identifier: MIT */
/* The calls of a program: those of exec_calls_qp.c, and the two parts of each. */
#ifndef CLI_LIVE_EXEC_CALLS_H
#define CLI_LIVE_EXEC_CALLS_H

#include <stdint.h>

#include "cli/live/exec_client.h"

/* Calls the lab.  Sets c->asks if the answer of the device follows. */
typedef enum rdl_status exec_begin(struct exec_client *c);
/* Completes the answer, when the device has answered, or at once. */
typedef enum rdl_status exec_finish(struct exec_client *c, struct program_answer *a);

/* Records that a call to the lab about @made, which returned @st, has an answer of the device if
 * that is RDL_OK.  Returns @st.
 */
enum rdl_status exec_asked(struct exec_client *c, enum rdl_status st, uint64_t made);

exec_begin exec_create_qp, exec_modify_qp, exec_query_qp, exec_create_ah;
exec_finish exec_created_qp, exec_queried_qp;

#endif
