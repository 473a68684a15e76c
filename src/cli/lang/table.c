/* SPDX-License-Identifier: MIT */
#include "cli/lang/table.h"

#include <string.h>

#include "cli/lang/words.h"
#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/wire/lnet.h"
#include "emu/wire/vlan.h"
#include "rdmalab/layer.h"
#include "rdmalab/limits.h"
#include "rdmalab/lnet.h"
#include "rdmalab/machine.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"
#include "viz/ladder.h"

/* The text of a number that a macro defines. */
#define DIGITS(x)  #x
#define AS_TEXT(x) DIGITS(x)

/* Each list ends with a row without a name, so that a command without parameters has a list too. */
#define P(param, val, bits, ...)                                                                   \
    {.name = param, .kind = VAL_##val, .flags = (bits), .help = __VA_ARGS__},
#define CMD(id, cls, bits, text, needs, ex, ...)                                                   \
    static const struct param params_##id[] = {__VA_ARGS__{.name = NULL}};
#include "cli/lang/commands.def"
#undef CMD
#undef P

const struct cmd cmd_table[N_CMDS] = {
#define CMD(id, cls, bits, text, needs, ex, ...)                                                   \
    [CMD_##id] = {#id,                                                                             \
                  CLASS_##cls,                                                                     \
                  (bits),                                                                          \
                  text,                                                                            \
                  BEFORE_##needs,                                                                  \
                  ex,                                                                              \
                  params_##id,                                                                     \
                  ARRAY_LEN(params_##id) - 1},
#include "cli/lang/commands.def"
#undef CMD
};

const struct cmd_class_info cmd_classes[N_CLASSES] = {
    [CLASS_LAB] = {"lab", "hosts, switches and links"},
    [CLASS_VERBS] = {"verbs", "what a program asks of its RDMA device; names as in libibverbs"},
    [CLASS_CM] = {"cm", "connections; names as in librdmacm"},
    [CLASS_LNET] = {"lnet", "a storage network on verbs: Lustre's LNet"},
    [CLASS_RUN] = {"run", "let simulated time pass"},
    [CLASS_FAULTS] = {"faults", "what links do to frames"},
    [CLASS_LOOK] = {"look", "look at the lab and at what happened"},
    [CLASS_SCRIPT] = {"script", "scripts, scenarios and the session"},
};

#define HOSTS_LINES   "host h1 h2; link h1 h2 latency=1us rate=100g\n"
#define MACHINE_LINES "machine m1 vfs=4; host h1; link m1 h1\n"
#define OBJECT_LINES                                                                               \
    HOSTS_LINES "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; "              \
                "create_cq cqe=16 as cq; create_qp pd type=rc send_cq=cq recv_cq=cq as qp }\n"
#define CONNECTED_LINES OBJECT_LINES "connect h1.qp h2.qp\n"
#define LNET_LINES      OBJECT_LINES "lnet_start h1 h2; run\n"
#define POSTED_LINES                                                                               \
    CONNECTED_LINES "post_recv h2.qp sge=mr[0:1k]; post_send h1.qp sge=mr[0:64] signaled\n"

const char *const examples_before[N_BEFORE] = {
    [BEFORE_NOTHING] = "",           [BEFORE_HOSTS] = HOSTS_LINES,
    [BEFORE_OBJECTS] = OBJECT_LINES, [BEFORE_CONNECTED] = CONNECTED_LINES,
    [BEFORE_POSTED] = POSTED_LINES,  [BEFORE_MACHINES] = MACHINE_LINES,
    [BEFORE_LNET] = LNET_LINES,
};

const struct cmd *cmd_find(const char *name, bool abbreviated)
{
    const struct cmd *found = NULL;
    size_t n_found = 0;

    for (size_t i = 0; i < N_CMDS; i++) {
        if (strcmp(cmd_table[i].name, name) == 0)
            return &cmd_table[i];
        if (abbreviated && strncmp(cmd_table[i].name, name, strlen(name)) == 0) {
            found = &cmd_table[i];
            n_found++;
        }
    }
    return n_found == 1 ? found : NULL;
}

const struct param cmd_as = {.name = "as", .kind = VAL_NEW_NAME};

const struct param *cmd_param(const struct cmd *cmd, const char *name)
{
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (strcmp(cmd->params[i].name, name) == 0)
            return &cmd->params[i];
    }
    return NULL;
}

bool cmd_has_letters(const struct cmd *cmd)
{
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].letter)
            return true;
    }
    return false;
}

const struct param *cmd_param_of_letter(const struct cmd *cmd, char letter)
{
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].letter == letter)
            return &cmd->params[i];
    }
    return NULL;
}
