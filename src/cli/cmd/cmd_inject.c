/* SPDX-License-Identifier: MIT */
/* inject: a RoCEv2 packet that is made by hand, field by field. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/inject_mad.h"
#include "cli/cmd/verb.h"
#include "cli/lang/words.h"
#include "cli/session/resolve.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/roce.h"
#include "emu/wire/packet.h"
#include "emu/wire/vlan.h"
#include "rdmalab/fault.h"
#include "rdmalab/lab.h"
#include "rdmalab/layer.h"
#include "rdmalab/verbs.h"

#define PAYLOAD_BYTES_MAX 4096u
#define FRAME_BYTES_MAX   (PAYLOAD_BYTES_MAX + 256u)
#define UDP_SRC_PORT      0xc000u
#define HOP_LIMIT         64u
#define OPCODE_NONE       UINT64_MAX

/* The payload of the packet, into @ret, which has PAYLOAD_BYTES_MAX. */
static bool read_payload(struct session *s, const struct step *st, uint8_t *ret, uint32_t *ret_n)
{
    const char *hex = step_text(st, "hex"), *text = step_text(st, "text");
    size_t n = (size_t)step_number_or(st, "bytes", 0);

    if (step_has(st, "text") + step_has(st, "hex") + step_has(st, "bytes") + step_has(st, "cm") >
        1) {
        session_fail(s, st->at, "a packet has one payload");
        return diag_remedy(&s->diag, "give one of text=, hex=, bytes= and cm=");
    }
    if (step_has(st, "cm")) {
        *ret_n = MAD_BYTES;
        return inject_mad_build(s, st, ret);
    }
    if (step_has(st, "set")) {
        session_fail(s, step_span(st, "set", 0), "only a message has fields to set");
        return diag_remedy(&s->diag, "say which message: cm=REJ");
    }
    if (text)
        n = strlen(text);
    else if (hex)
        n = value_hex_bytes(hex, NULL);
    if (n > PAYLOAD_BYTES_MAX) {
        session_fail(s, st->at, "the payload has %zu bytes", n);
        return diag_remedy(&s->diag, "a packet carries at most %u", PAYLOAD_BYTES_MAX);
    }
    memset(ret, 0, n);
    if (text)
        memcpy(ret, text, n);
    else if (hex)
        (void)value_hex_bytes(hex, ret);
    *ret_n = (uint32_t)n;
    return true;
}

/* The host that the packet is addressed to: to=, or that of the queue pair dest_qpn=. */
static bool read_to(struct session *s, const struct step *st, rdl_host *ret)
{
    const struct scope in = session_scope(s);
    const char *qp = step_text(st, "dest_qpn");
    struct home home;
    uint64_t raw;

    if (step_has(st, "to"))
        return resolve_host(&in, st, "to", ret, &s->diag);
    if (!qp || (qp[0] >= '0' && qp[0] <= '9')) {
        session_fail(s, st->at, "to which host?");
        return diag_remedy(&s->diag, "to=h2, or dest_qpn=h2.qp");
    }
    if (!resolve_object(&in, st, "dest_qpn", OBJ_QP, &raw, &s->diag))
        return false;
    if (!resolve_home(s->lab, OBJ_QP, raw, &home))
        return session_fail(s, step_span(st, "dest_qpn", 0), "%s is not there any more", qp);
    *ret = home.host;
    return true;
}

/* A number that may be the name of what has it; 0 if it was not given. */
static bool number_named(struct session *s, const struct step *st, const char *param, bool is_key,
                         uint32_t *ret)
{
    const struct scope in = session_scope(s);

    *ret = 0;
    if (!step_has(st, param))
        return true;
    return is_key ? resolve_key(&in, st, param, ret, &s->diag)
                  : resolve_qpn(&in, st, param, ret, &s->diag);
}

/* The extension headers, whichever of them the opcode has. */
static bool read_extensions(struct session *s, const struct step *st, struct packet *p)
{
    const enum syndrome kind = (enum syndrome)step_number(st, "syndrome");
    const uint32_t imm = (uint32_t)step_number(st, "imm");
    uint32_t rkey;

    if (kind == SYN_NONE) {
        session_fail(s, step_span(st, "syndrome", 0), "a packet with an AETH says ACK or NAK");
        return diag_remedy(&s->diag, "\"explain syndrome\" lists them");
    }
    if (!number_named(s, st, "rkey", true, &rkey) ||
        !number_named(s, st, "inv", true, &p->ieth_rkey) ||
        !number_named(s, st, "src_qpn", false, &p->deth.src_qpn))
        return false;
    if (step_has(st, "cm") && !step_has(st, "src_qpn"))
        p->deth.src_qpn = QPN_GSI;
    p->deth.qkey =
        step_has(st, "cm") && !step_has(st, "qkey") ? QKEY_GSI : (uint32_t)step_number(st, "qkey");
    p->feth = (struct feth){(uint8_t)step_number(st, "placement"),
                            (uint8_t)step_number(st, "selectivity")};
    p->reth = (struct reth){step_number(st, "va"), rkey,
                            (uint32_t)step_number_or(st, "len", p->payload_bytes)};
    p->atomic = (struct atomic_eth){step_number(st, "va"), rkey, step_number(st, "swap_add"),
                                    step_number(st, "compare")};
    p->aeth.syndrome = aeth_pack(kind, kind == SYN_RNR_NAK ? (uint8_t)step_number(st, "rnr_timer")
                                                           : AETH_NO_CREDITS);
    p->aeth.msn = (uint32_t)step_number(st, "msn");
    p->atomic_ack = step_number(st, "original");
    st_be32(p->imm_data, imm);
    return true;
}

/* The base transport header. */
static bool read_bth(struct session *s, const struct step *st, struct packet *p)
{
    const bool is_mad = step_has(st, "cm");
    const uint64_t opcode =
        step_number_or(st, "opcode", is_mad ? (uint64_t)OP_UD_SEND_ONLY : OPCODE_NONE);

    if (opcode == OPCODE_NONE) {
        session_fail(s, st->at, "a packet needs an opcode");
        return diag_remedy(&s->diag, "opcode=RC_SEND_ONLY, or cm=REJ for a message");
    }
    if (opcode > UINT8_MAX || !op_info((uint8_t)opcode)->name) {
        session_fail(s, step_span(st, "opcode", 0), "%s is no packet of RoCEv2",
                     step_text(st, "opcode"));
        return diag_remedy(&s->diag, "\"explain opcode\" lists the opcodes");
    }
    if (!number_named(s, st, "dest_qpn", false, &p->bth.dest_qpn))
        return false;
    if (is_mad && !step_has(st, "dest_qpn"))
        p->bth.dest_qpn = QPN_GSI;
    p->bth.opcode = (uint8_t)opcode;
    p->bth.psn = (struct psn){(uint32_t)step_number(st, "psn")};
    p->bth.pkey = (uint16_t)step_number(st, "pkey");
    p->bth.ack_req = step_has(st, "ackreq");
    p->bth.solicited = step_has(st, "solicited");
    return true;
}

/* Forges the source address in @p where @st says so. */
static bool read_source(struct session *s, const struct step *st, struct packet *p)
{
    const struct scope in = session_scope(s);
    const uint32_t index = (uint32_t)step_number(st, "gid_index");
    uint8_t mac[MAC_BYTES];
    enum rdl_status status;
    rdl_host source;

    if (step_has(st, "source_mac"))
        (void)mac_parse(step_text(st, "source_mac"), p->eth.src); /* checked by the parser */
    if (!step_has(st, "source"))
        return true;
    if (!resolve_host(&in, st, "source", &source, &s->diag))
        return false;
    status = rdl_wire_address(s->lab, source, 0, index, p->ip.src, mac);
    return status == RDL_OK || verb_fail_address(s, st, "source", index, status);
}

/* The way from @from to @to. */
static bool read_path(struct session *s, const struct step *st, rdl_host from, rdl_host to,
                      struct packet *p)
{
    const uint32_t index = (uint32_t)step_number(st, "gid_index");
    const uint32_t qpn = step_has(st, "to") ? 0 : p->bth.dest_qpn; /* whose function it is for */
    enum rdl_status status = rdl_wire_address(s->lab, from, 0, index, p->ip.src, p->eth.src);

    if (status != RDL_OK)
        return verb_fail_address(s, st, "from", index, status);
    status = rdl_wire_address(s->lab, to, qpn, index, p->ip.dst, p->eth.dst);
    if (status != RDL_OK)
        return verb_fail_address(s, st, step_has(st, "to") ? "to" : "dest_qpn", index, status);
    p->ip.version = index == 0 ? 4 : 6;
    p->ip.ttl = HOP_LIMIT;
    p->udp_src_port = UDP_SRC_PORT;
    return read_source(s, st, p);
}

/* Reads the tag of vlan= and qos=, or of the port of @from.  *@ret_vlan 0: none. */
static bool read_tag(struct session *s, const struct step *st, rdl_host from, uint32_t *ret_vlan,
                     uint32_t *ret_pcp)
{
    rdl_host_vlan(s->lab, from, ret_vlan, ret_pcp);
    *ret_vlan = (uint32_t)step_number_or(st, "vlan", *ret_vlan);
    *ret_pcp = (uint32_t)step_number_or(st, "qos", *ret_pcp);
    return verb_priority_fits(s, st, *ret_vlan);
}

bool run_inject(struct session *s, const struct step *st)
{
    const uint64_t icrc = step_number(st, "icrc");
    const bool wrong = icrc == ICRC_WRONG;
    const struct scope in = session_scope(s);
    uint8_t frame[FRAME_BYTES_MAX], payload[PAYLOAD_BYTES_MAX];
    struct packet p = {.payload_bytes = 0};
    rdl_host from = {0}, to = {0};
    uint32_t vlan = 0, pcp = 0;
    enum rdl_status status;
    uint8_t *at;
    size_t n;

    if (!read_payload(s, st, payload, &p.payload_bytes) || !read_bth(s, st, &p) ||
        !read_extensions(s, st, &p) || !resolve_host(&in, st, "from", &from, &s->diag) ||
        !read_to(s, st, &to) || !read_path(s, st, from, to, &p) ||
        !read_tag(s, st, from, &vlan, &pcp))
        return false;
    if (icrc == ICRC_RXE && p.bth.opcode != OP_RC_FLUSH) {
        session_fail(s, step_span(st, "icrc", 0), "rxe writes the right ICRC for other packets");
        return diag_remedy(&s->diag, "opcode=RC_FLUSH, or leave icrc= out");
    }
    n = packet_frame_bytes(&p);
    at = packet_build(&p, frame);
    memcpy(at, payload, p.payload_bytes);
    memset(at + p.payload_bytes, 0, packet_pad_bytes(p.payload_bytes));
    packet_finish(frame, n);
    if (wrong)
        frame[n - 1] ^= 1;
    if (icrc == ICRC_RXE)
        st_le32(frame + n - ICRC_BYTES, packet_icrc_of_rxe(frame, n - ICRC_BYTES));
    if (vlan)
        n = vlan_push(frame, n, vlan_tci(vlan, pcp));
    status = rdl_inject_from(s->lab, from, frame, n, wrong);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, "inject", status);
    session_say(
        s, "%s sends %s psn=%u%s%s to QPN %u, %zu bytes, made by hand%s\n", step_text(st, "from"),
        op_info(p.bth.opcode)->name, p.bth.psn.v, step_has(st, "cm") ? " " : "",
        step_has(st, "cm") ? enum_name(&enum_cm_message, (uint32_t)step_number(st, "cm")) : "",
        p.bth.dest_qpn, n, wrong ? ", with a wrong ICRC" : "");
    return true;
}
