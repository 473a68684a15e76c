/* SPDX-License-Identifier: MIT */
#include "cli/lang/words.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/regs.h"
#include "rdmalab/status.h"

#define ROW(prefix, nm, val, txt) {#nm, (val), (txt)},
#define TABLE(id, list, what)                                                                      \
    static const struct enum_row rows_##id[] = {list(ROW)};                                        \
    const struct enum_table words_##id = {#id, what, rows_##id, ARRAY_LEN(rows_##id)};

TABLE(grain, ENUM_GRAIN, "step")
TABLE(by, ENUM_BY, "way to go back or forward")
TABLE(port, ENUM_PORT, "kind of live port")
TABLE(transport, ENUM_TRANSPORT, "way from a virtual machine to the lab")
TABLE(program, ENUM_PROGRAM, "program")
TABLE(record, ENUM_RECORD, "state of the record")
TABLE(role, ENUM_ROLE, "role of a program")
TABLE(lost, ENUM_LOST, "thing to lose")
TABLE(false, ENUM_FALSE, "thing to tell wrongly")
TABLE(icrc, ENUM_ICRC, "kind of ICRC")
TABLE(save, ENUM_SAVE, "thing to save")
TABLE(session_action, ENUM_SESSION_ACTION, "action on the session")
TABLE(changes, ENUM_CHANGES, "amount of changes")
TABLE(hints, ENUM_HINTS, "choice of hints")
TABLE(events, ENUM_EVENTS, "choice of events")
TABLE(setting, ENUM_SETTING, "thing to set")
TABLE(show_form, ENUM_SHOW_FORM, "form of output")
TABLE(show_layout, ENUM_SHOW_LAYOUT, "layout of structures")

TABLE(irq, ENUM_IRQ, "way to interrupt")
TABLE(lnet_rules, ENUM_LNET_RULES, "rules of LNet")
TABLE(lnet_profile, ENUM_LNET_PROFILE, "kind of node of LNet")
TABLE(lnet_race, ENUM_LNET_RACE, "rule for races of LNet")
TABLE(lnet_endian, ENUM_LNET_ENDIAN, "byte order")
TABLE(lnet_for, ENUM_LNET_FOR, "operation of LNet")
TABLE(centre, ENUM_CENTRE, "change of a rule")
TABLE(vf_action, ENUM_VF_ACTION, "action on a virtual function")
TABLE(on_off, ENUM_ON_OFF, "choice of on and off")

/* REASON(nm, value, txt) is a row, or nothing for the names OK and NONE, which are no reasons: for
 * these the macro below is a comma, and so another argument is the second one.
 */
#define NO_REASON_OK   ,
#define NO_REASON_NONE ,
#define NO_ROW(nm, value, txt)
#define A_ROW(nm, value, txt)      {#nm, (value), (txt)},
#define SECOND(first, second, ...) second
#define ROW_IF(...)                SECOND(__VA_ARGS__, A_ROW, )
#define REASON(nm, value, txt)     ROW_IF(NO_REASON_##nm NO_ROW)(nm, value, txt)

static const struct enum_row rows_reason[] = {
#define X(nm, txt, remedy) REASON(nm, RDL_##nm, txt)
#include "rdmalab/status.def"
#undef X
#define REFUSAL(nm, number, kind, lead, tail, form, txt) REASON(nm, REASON_REFUSAL(number), txt)
#include "emu/facts/refusals.def"
#undef REFUSAL
};
const struct enum_table words_reason = {"reason", "reason of a refusal", rows_reason,
                                        ARRAY_LEN(rows_reason)};

/* These macros stringize the name directly: passed on to another macro, a name that is itself a
 * macro would be expanded.
 */
#define ROW_CONFIG(prefix, nm, val, txt) {#nm, PLACE(PLACE_CONFIG, val), (txt)},
#define ROW_REG(prefix, nm, val, txt)    {#nm, PLACE(PLACE_REG, val), (txt)},
#define ROW_VECTOR(prefix, nm, val, txt) {"VECTOR_" #nm, PLACE(PLACE_VECTOR, val), (txt)},
#define ROW_PVRDMA(prefix, nm, val, txt) {#nm, PLACE(PLACE_PVRDMA, val), (txt)},
static const struct enum_row rows_place[] = {
    ENUM_PCI_FIELD(ROW_CONFIG) ENUM_REG(ROW_REG) ENUM_MSIX_FIELD(ROW_VECTOR)
        ENUM_PV_REG(ROW_PVRDMA){"UAR_QP", PLACE(PLACE_DOORBELL, PV_UAR_AT_QP),
                                "doorbell of a queue pair of PVRDMA: handle, and a bit"},
    {"UAR_CQ", PLACE(PLACE_DOORBELL, PV_UAR_AT_CQ),
     "doorbell of a completion queue of PVRDMA: handle, and a bit"},
    {"UAR_SRQ", PLACE(PLACE_DOORBELL, PV_UAR_AT_SRQ),
     "doorbell of a shared receive queue of PVRDMA: handle, and a bit"}};
const struct enum_table words_place = {"place", "field or register", rows_place,
                                       ARRAY_LEN(rows_place)};

static const struct enum_row rows_export[] = {
#define PICTURE(NAME, name, txt) {#NAME, EXPORT_##NAME, (txt)},
#include "viz/pictures.def"
#undef PICTURE
    {"PCAPNG", EXPORT_PCAPNG, "the frames, for Wireshark"},
    {"EVENTS", EXPORT_EVENTS, "every event, one JSON object a line"},
    {"TIMELINE", EXPORT_TIMELINE, "the ladder as a page for a browser: steps, packets, causes"},
    {"VQ", EXPORT_VQ, "a virtqueue as it is now, as SVG; FILE - is text for the terminal"},
    {"MAP", EXPORT_MAP, "the hosts and their objects, who refers to whom, as DOT, SVG or text"},
    {"STATES", EXPORT_STATES, "the states of a queue pair and its way, as DOT, SVG or text"},
    {"WHY", EXPORT_WHY, "the causes of an event, as DOT, SVG or text"},
};
const struct enum_table words_export = {"export", "form of export", rows_export,
                                        ARRAY_LEN(rows_export)};
