/* SPDX-License-Identifier: MIT */
/* Enumerations that only the command line has, in the form of those of emu/facts/enum: X(prefix,
 * NAME, value, text).
 */
#ifndef CLI_LANG_WORDS_H
#define CLI_LANG_WORDS_H

#include "emu/facts/enum_table.h"
#include "rdmalab/lab.h"

#define STEP_HOST 100u /* value of `step host`, which is no enum rdl_step */
#define ENUM_GRAIN(X)                                                                              \
    X(GRAIN, TICK, RDL_STEP_TICK, "the next dispatch, whatever it is")                             \
    X(GRAIN, DESC, RDL_STEP_DESC,                                                                  \
      "until a device has taken a chain of descriptors out of a ring, or given one back")          \
    X(GRAIN, WQE, RDL_STEP_WQE, "until a device has fetched a work request")                       \
    X(GRAIN, PACKET, RDL_STEP_PACKET, "until a frame is sent, arrives or is lost")                 \
    X(GRAIN, TIMER, RDL_STEP_TIMER, "until a timer runs out")                                      \
    X(GRAIN, CQE, RDL_STEP_CQE, "until a completion is written")                                   \
    X(GRAIN, HOST, STEP_HOST, "until something happens at the host behind it")

/* Units of `back` and `redo`: the values of enum rdl_step, and in addition: */
#define BY_STOP  100u
#define BY_TO    101u
#define BY_LINES 102u
#define ENUM_BY(X)                                                                                 \
    X(BY, LINES, BY_LINES, "lines that did something, as without a word")                          \
    X(BY, TICK, RDL_STEP_TICK, "ticks")                                                            \
    X(BY, DESC, RDL_STEP_DESC, "chains of descriptors that a device took or gave back")            \
    X(BY, WQE, RDL_STEP_WQE, "work requests that a device fetched")                                \
    X(BY, PACKET, RDL_STEP_PACKET, "frames that were sent, arrived or were lost")                  \
    X(BY, TIMER, RDL_STEP_TIMER, "timers that ran out")                                            \
    X(BY, CQE, RDL_STEP_CQE, "completions that were written")                                      \
    X(BY, STOP, BY_STOP, "to where a break or a watch was hit, or would have been")                \
    X(BY, TO, BY_TO, "to where the expression behind it began to hold")

#define ENUM_SESSION_ACTION(X)                                                                     \
    X(SESSION, SAVE, 0, "write the lines so far as a scenario, .lab or .json")

#define ENUM_SAVE(X)                                                                               \
    X(SAVE, WORLD, 0, "the whole session: what was done, where one is, its futures")

#define ENUM_SETTING(X)                                                                            \
    X(SET, LINK, 0, "latency, rate and loss of a link")                                            \
    X(SET, CHANGES, 1, "whether each command tells what it has changed")                           \
    X(SET, HISTORY, 2, "how much memory going back may take")                                      \
    X(SET, HINTS, 3, "whether a dim text at the prompt says what may follow")                      \
    X(SET, EVENTS, 4, "which events are printed as they happen")

#define ENUM_EVENTS(X)                                                                             \
    X(EVENTS, ALL, 0, "all of the story")                                                          \
    X(EVENTS, CONNECTIONS, 1,                                                                      \
      "messages and events of connections, states of queue pairs, and what was lost")

#define ENUM_HINTS(X)                                                                              \
    X(HINTS, OFF, 0, "nothing")                                                                    \
    X(HINTS, ON, 1, "keys that a command takes, with the values that the lab has now")

#define ENUM_CHANGES(X)                                                                            \
    X(CHANGES, OFF, 0, "nothing")                                                                  \
    X(CHANGES, ON, 1, "objects, the indexes of their rings, links and faults")                     \
    X(CHANGES, ALL, 2, "counters, entries of rings, registers, ports and the IP stack, too")

#define ENUM_SHOW_LAYOUT(X)                                                                        \
    X(SHOW_LAYOUT, spec, 0, "packed, as the device here has it")                                   \
    X(SHOW_LAYOUT, demo, 1, "as the demonstration of the RFC's authors has it")                    \
    X(SHOW_LAYOUT, both, 2, "side by side")

#define ENUM_SHOW_FORM(X)                                                                          \
    X(SHOW, TEXT, 0, "for people")                                                                 \
    X(SHOW, JSON, 1, "for programs")                                                               \
    X(SHOW, NDJSON, 2, "a JSON object a line, for programs that read lines")                       \
    X(SHOW, CSV, 3, "for spreadsheets, as RFC 4180 has it")                                        \
    X(SHOW, MARKDOWN, 4, "a table for a page of text")

#define ENUM_PORT(X)                                                                               \
    X(PORT, tap, 0, "a tap device: Ethernet frames to and from the kernel")                        \
    X(PORT, vm, 1, "a virtual machine of QEMU, which is the guest of a host")

#define ENUM_TRANSPORT(X)                                                                          \
    X(TRANSPORT, vfio_user, 0, "QEMU 10.1 and later: its device vfio-user-pci")                    \
    X(TRANSPORT, x_pci_proxy, 1, "QEMU 7.2: its device x-pci-proxy-dev")

#define ENUM_PROGRAM(X)                                                                            \
    X(PROGRAM, rc_pingpong, 0, "messages to and fro, as ibv_rc_pingpong does it")                  \
    X(PROGRAM, verbs_peer, 1, "either side of a connection, told by a file of lines")              \
    X(PROGRAM, uc_pingpong, 2,                                                                     \
      "as ibv_uc_pingpong does it; when a message is lost, both sides wait for ever")              \
    X(PROGRAM, ud_pingpong, 3,                                                                     \
      "as ibv_ud_pingpong does it; when a datagram is lost, both sides wait for ever")             \
    X(PROGRAM, srq_pingpong, 4,                                                                    \
      "as ibv_srq_pingpong does it: several queue pairs that share their receives")

/* Kinds of `lose`; the values are those of enum fault_kind. */
#define ENUM_LOST(X)                                                                               \
    X(LOST, kick, FLT_LOST_KICK, "the driver's notification: the device does not hear of it")      \
    X(LOST, doorbell, FLT_LOST_KICK, "the same, as PVRDMA calls it")                               \
    X(LOST, interrupt, FLT_LOST_INTERRUPT,                                                         \
      "the device's interrupt: the driver does not hear of it")                                    \
    X(LOST, irq, FLT_LOST_INTERRUPT, "the same")                                                   \
    X(LOST, cqe, FLT_LOST_CQE, "a completion of PVRDMA: the device does not write it")

#define ENUM_FALSE(X)                                                                              \
    X(FALSE, data, FLT_FALSE_DATA, "a byte that the device writes to a buffer")                    \
    X(FALSE, length, FLT_FALSE_LENGTH, "how much of a buffer the device says that it has written") \
    X(FALSE, read, FLT_FALSE_READ, "a register of the device, when its driver reads it")

#define ENUM_VF_ACTION(X)                                                                          \
    X(VF_ACTION, set, 0, "change what the administrator has set for a function")                   \
    X(VF_ACTION, enable, 1, "enable as many functions, as sriov_numvfs of Linux")

#define ENUM_LNET_RULES(X)                                                                         \
    X(LNET_RULES, today, 0, "rejects have nine reasons and parameters, and nodes negotiate")       \
    X(LNET_RULES, 2007, 1, "rejects have three reasons, and nothing is negotiated")

#define ENUM_LNET_PROFILE(X)                                                                       \
    X(LNET_PROFILE, user, 0, "a program: fragments are as long as its pieces of memory")           \
    X(LNET_PROFILE, kernel, 1, "a kernel: fragments are pages, and need no registration")

#define ENUM_LNET_RACE(X)                                                                          \
    X(LNET_RACE, nid, 0, "the request of the larger NID wins")                                     \
    X(LNET_RACE, hash, 1, "the request of the larger hash wins, as since 2024")

#define ENUM_LNET_ENDIAN(X)                                                                        \
    X(LNET_ENDIAN, little, 0, "the least significant byte first")                                  \
    X(LNET_ENDIAN, big, 1, "the most significant byte first")

#define ENUM_LNET_FOR(X)                                                                           \
    X(LNET_FOR, put, 1, "PUTs may write to it")                                                    \
    X(LNET_FOR, get, 2, "GETs may read it")

#define ENUM_CENTRE(X)                                                                             \
    X(CENTRE, allow, 0, "guests of the two groups may connect")                                    \
    X(CENTRE, forbid, 1, "they may not, and connections that they have end")

#define ENUM_ON_OFF(X)                                                                             \
    X(ON_OFF, off, 0, "no")                                                                        \
    X(ON_OFF, on, 1, "yes")

#define ENUM_ICRC(X)                                                                               \
    X(ICRC, RIGHT, 0, "the receiver finds nothing wrong with it")                                  \
    X(ICRC, WRONG, 1, "the receiver throws the packet away")                                       \
    X(ICRC, RXE, 2, "of a FLUSH: that of rxe, which counts the bytes from the BTH on twice")

#define ENUM_ROLE(X)                                                                               \
    X(ROLE, server, 0, "waits for a client")                                                       \
    X(ROLE, client, 1, "connects to a server")

#define ENUM_RECORD(X)                                                                             \
    X(RECORD, off, 0, "nothing is kept: a live lab is faster")                                     \
    X(RECORD, on, 1, "events and frames are kept, up to a limit")

#define IRQ_MSIX 0u
#define IRQ_INTX 1u
#define ENUM_IRQ(X)                                                                                \
    X(IRQ, MSIX, IRQ_MSIX, "messages of MSI-X, with a vector for each completion queue")           \
    X(IRQ, INTX, IRQ_INTX, "the interrupt line INTx, which both functions share")

/* PLACE(): number of a field of a PCI function, the value in words_place.  Bits 28 and up are the
 * space: configuration, registers, MSI-X vectors, or registers and doorbells of PVRDMA.  The other
 * bits are the offset in that space.
 */
#define PLACE_SPACE_BIT      28u
#define PLACE_CONFIG         0u
#define PLACE_REG            1u
#define PLACE_VECTOR         2u
#define PLACE_PVRDMA         3u
#define PLACE_DOORBELL       4u /* in a page of doorbells of PVRDMA */
#define PLACE(space, offset) ((uint32_t)(space) << PLACE_SPACE_BIT | (uint32_t)(offset))

enum record_state { ENUM_RECORD(ENUM_MEMBER) };
enum live_port_kind { ENUM_PORT(ENUM_MEMBER) };
enum program { ENUM_PROGRAM(ENUM_MEMBER) };
enum lnet_rules { ENUM_LNET_RULES(ENUM_MEMBER) };
enum lnet_profile { ENUM_LNET_PROFILE(ENUM_MEMBER) };
enum lnet_race { ENUM_LNET_RACE(ENUM_MEMBER) };
enum lnet_endian { ENUM_LNET_ENDIAN(ENUM_MEMBER) };
enum centre_action { ENUM_CENTRE(ENUM_MEMBER) };
enum vf_action { ENUM_VF_ACTION(ENUM_MEMBER) };
enum program_role { ENUM_ROLE(ENUM_MEMBER) };
enum icrc_kind { ENUM_ICRC(ENUM_MEMBER) };
enum setting { ENUM_SETTING(ENUM_MEMBER) };
enum changes_told { ENUM_CHANGES(ENUM_MEMBER) };
enum hints_shown { ENUM_HINTS(ENUM_MEMBER) };
enum events_shown { ENUM_EVENTS(ENUM_MEMBER) };
enum grain { ENUM_GRAIN(ENUM_MEMBER) };
enum show_form { ENUM_SHOW_FORM(ENUM_MEMBER) };
enum show_layout { SHOW_LAYOUT_SPEC, SHOW_LAYOUT_DEMO, SHOW_LAYOUT_BOTH };

/* The formats of `export`.  The pictures must come first: cmd_look.c has an array of them. */
enum export_form {
#define PICTURE(NAME, name, text) EXPORT_##NAME,
#include "viz/pictures.def"
#undef PICTURE
    EXPORT_PCAPNG,
    EXPORT_EVENTS,
    EXPORT_TIMELINE,
    EXPORT_VQ,
    EXPORT_MAP,
    EXPORT_STATES,
    EXPORT_WHY
};

/* Reasons of refusals: an rdl_status by its own number, or a reason of the device (refusals.def).
 */
#define REASON_REFUSAL(number) (0x1000u + (uint32_t)(number))

extern const struct enum_table words_reason;

extern const struct enum_table words_grain, words_by, words_export, words_session_action,
    words_setting, words_changes, words_hints, words_events, words_show_form, words_show_layout,
    words_port, words_transport, words_program, words_role, words_icrc, words_record, words_save,
    words_irq, words_place, words_lost, words_false, words_vf_action, words_centre, words_on_off,
    words_lnet_rules, words_lnet_profile, words_lnet_race, words_lnet_endian, words_lnet_for;

#endif
