/* SPDX-License-Identifier: MIT */
/* The subjects of `show`, and its rows in each output form. */
#include "looking.h"

#include "cli/lang/suggest.h"
#include "cli/show/show.h"

/* A host with PVRDMA in addition to STORY. */
#define PVRDMA_HOST                                                                                \
    "host p device=pvrdma; on p { alloc_pd as pd; create_cq cqe=16 as cq\n"                        \
    "create_qp pd send_cq=cq recv_cq=cq as qp\n"                                                   \
    "modify_qp qp state=INIT port=1 pkey_index=0 access=lw; post_recv qp wr_id=1 }\n"

/* Questions with the same rows in each form. */
static const char *const tables[] = {"qp",
                                     "qp h1",
                                     "cq",
                                     "mr",
                                     "pd",
                                     "hosts",
                                     "links",
                                     "faults",
                                     "due",
                                     "centre",
                                     "rdma link",
                                     "rdma dev",
                                     "rdma resource h1",
                                     "memory",
                                     "counters",
                                     "life h1.qp",
                                     "vq h1.qp.sq",
                                     "memory h2",
                                     "srq",
                                     "cm",
                                     "event_channel",
                                     "mw",
                                     "ah",
                                     "packet",
                                     "events",
                                     "events all",
                                     "events last 3",
                                     "h1.qp",
                                     "tree",
                                     "qp h1.qp",
                                     "dump h1.qp.sq.desc[0]",
                                     "dump h1.ctrl.desc[0]",
                                     "wqe h1.qp.sq.desc[0]",
                                     "switches",
                                     "link",
                                     "device",
                                     "pci h1",
                                     "map",
                                     "map h1",
                                     "states h1.qp",
                                     "ring p.qp.rq",
                                     "ring p.qp.rq[0]",
                                     "ring p.cq",
                                     "ring p.dsr.notes",
                                     "dsr p",
                                     "dsr p commands",
                                     "uar p",
                                     ""};

/* Returns true if @subject is the first word of one of them. */
static bool is_asked_for(const char *subject)
{
    const size_t n = strlen(subject);

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (strncmp(tables[i], subject, n) == 0 && (tables[i][n] == ' ' || !tables[i][n]))
            return true;
    }
    return strcmp(subject, "live") == 0; /* nothing outside is attached to this lab */
}

static void every_subject_is_asked_for_and_in_the_help(void **state)
{
    const struct param *what = cmd_param(cmd_find("show", false), "what");

    (void)state;
    for (size_t i = 0; show_subject(i); i++) {
        if (!is_asked_for(show_subject(i)))
            fail_msg("show has %s: say in tables[] how to ask for it", show_subject(i));
        if (!strstr(what->help, show_subject(i)))
            fail_msg("show has %s: commands.def does not name it", show_subject(i));
    }
}

/* `faults` alone is no command: the error says "show faults", unless the word is a command, or
 * short for one. */
static void every_subject_alone_leads_to_show(void **state)
{
    char asked[64];

    (void)state;
    for (size_t i = 0; show_subject(i); i++) {
        const char *subject = show_subject(i), *leads = suggest_other_word(subject);

        snprintf(asked, sizeof(asked), "show %s", subject);
        if (!cmd_find(subject, true) && (!leads || !strstr(leads, asked)))
            fail_msg("the error of \"%s\" does not lead to \"%s\": see other_words.def", subject,
                     asked);
    }
}

static void each_form_has_the_same_rows(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY PVRDMA_HOST);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const size_t n = records_of(&l, tables[i], "ndjson");
        cJSON *j = json_of(&l, tables[i], "json");

        /* A heading, and in Markdown a line below it. */
        assert_int_equal(records_of(&l, tables[i], "csv"), n + 1);
        assert_int_equal(records_of(&l, tables[i], "markdown"), n + 2);
        assert_int_equal(records_of(&l, tables[i], "format=csv"), n + 1);
        if (cJSON_IsArray(j))
            assert_int_equal(cJSON_GetArraySize(j), n);
        else
            assert_true(cJSON_IsObject(j));
        cJSON_Delete(j);
    }
    lab_close(&l);
}

/* A subject of only one device is refused on the other, with the command to type instead. */
static void each_device_tells_what_to_type_instead(void **state)
{
    static const struct {
        const char *asked, *remedy;
    } rows[] = {
        {"show ring h1.qp.sq", "type \"show vq h1.qp.sq\""},
        {"show dsr h1", "type \"show device h1\""},
        {"show uar h1", "type \"show events kinds=kick host=h1\""},
        {"show vq p.qp.sq", "type \"show ring p.qp.sq\""},
        {"stall p.qp.sq", "virtio has lose kick and interrupt"},
        {"lose the next cqe of h1.cq", "PVRDMA has lose doorbell, irq and cqe"},
        {"lose the next doorbell of p.dsr", "doorbells are those of work queues"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY PVRDMA_HOST);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(lab_try(&l, rows[i].asked));
        assert_has(l.s->diag.remedy, rows[i].remedy);
    }
    assert_false(lab_try(&l, "show ring p.qp.rq[16]"));
    assert_false(lab_try(&l, "show ring p.qp.rq[x]"));
    assert_false(lab_try(&l, "show ring p.qp.rq[0"));
    assert_false(lab_try(&l, "show ring p.qp.rq[4294967296]"));
    assert_false(lab_try(&l, "show ring nobody"));
    lab_close(&l);
}

#define POSTED_RING                                                                                \
    "host p device=pvrdma; on p { alloc_pd as pd; create_cq cqe=16 as cq\n"                        \
    "create_qp pd send_cq=cq recv_cq=cq max_recv_wr=64 max_send_wr=1 as qp\n"                      \
    "modify_qp qp state=INIT port=1 pkey_index=0 access=lw }\n"

/* Of many slots in one state the first seven and the last one are printed, and all as rows. */
static void many_posted_slots_are_folded(void **state)
{
    static const struct {
        unsigned posted, lines; /* that begin with "slot" */
        const char *has, *lacks;
    } rows[] = {
        {1, 1, "slot 0   posted", "more that"},
        {9, 9, "slot 7   posted", "more that"},
        {10, 8, "...      2 more that are posted; \"show ring p.qp.rq csv\" prints all", "slot 7 "},
        {64, 8, "...      56 more that are posted;", "slot 62 "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[64], *text;
        unsigned n = 0;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, POSTED_RING);
        snprintf(line, sizeof(line), "repeat %u { post_recv p.qp }", rows[i].posted);
        lab_run(&l, line);
        text = lab_answer(&l, "show ring p.qp.rq");
        for (const char *at = strstr(text, "  slot "); at; at = strstr(at + 1, "  slot "))
            n++;
        assert_int_equal(n, rows[i].lines);
        assert_has(text, rows[i].has);
        assert_has_not(text, rows[i].lacks);
        snprintf(line, sizeof(line), "  slot %u", rows[i].posted - 1);
        assert_has(text, line);
        free(text);
        assert_int_equal(records_of(&l, "ring p.qp.rq", "csv"), rows[i].posted + 1);
        text = lab_answer(&l, "show ring p.qp.sq");
        assert_has(text, "1 slot of ");
        assert_has(text, "free     1 of 1 slot\n");
        free(text);
        lab_close(&l);
    }
}

#define SHARED                                                                                     \
    "machine m1 vfs=4; host h1; link m1 h1; guest g1 on m1; guest g2 g3 on m1 vrnic; "             \
    "host h2 device=none; alloc_pd g2 as pd; create_cq g2 cqe=4 as cq; "                           \
    "rdma_create_event_channel g2 as ch; rdma_create_id g2.ch as id; "

/* As rdma of iproute2, and behind it the part of an adapter that the device is. */
static void devices_are_shown_as_the_rdma_tool_shows_them(void **state)
{
    (void)state;
    assert_line_prints(
        SHARED, "show rdma link",
        "link m1/1 state ACTIVE physical_state LINK_UP netdev eth0  physical function\n"
        "link h1/1 state ACTIVE physical_state LINK_UP netdev eth0\n"
        "link g1/1 state ACTIVE physical_state LINK_UP netdev eth0  function 0 of m1\n"
        "link g2/1 state ACTIVE physical_state LINK_UP netdev eth0  virtual RNIC, "
        "function 1 of m1\n"
        "link g3/1 state DOWN physical_state DISABLED netdev eth0  virtual RNIC on m1, "
        "no function\n");
    assert_line_prints(
        SHARED "set link m1-h1 down; ", "show rdma link g1",
        "link g1/1 state DOWN physical_state DISABLED netdev eth0  function 0 of m1\n");
    assert_line_prints(SHARED, "show rdma dev g1",
                       "2: g1: node_type ca node_guid 0000:00ff:fe00:0003 sys_image_guid "
                       "0000:00ff:fe00:0003  function 0 of m1\n");
    assert_line_prints(
        SHARED, "show rdma resource m1",
        "0: m1: pd 1 cq 1 qp 1 cm_id 0 mr 1 srq 0  physical function\n"
        "2: g1: pd 1 cq 1 qp 1 cm_id 0 mr 1 srq 0  function 0 of m1\n"
        "3: g2: pd 2 cq 2 qp 1 cm_id 1 mr 1 srq 0  virtual RNIC, function 1 of m1\n"
        "4: g3: pd 1 cq 1 qp 1 cm_id 0 mr 1 srq 0  virtual RNIC on m1, no function\n");
    assert_line_prints(SHARED, "show rdma link g2 json",
                       "[{\"link\":\"g2\",\"port\":1,\"state\":\"ACTIVE\",\"physical-state\":"
                       "\"LINK_UP\",\"netdev\":\"eth0\",\"machine\":\"m1\",\"vf\":1}]");
    assert_line_prints(SHARED, "show rdma link h2", "there is no RDMA device\n");
    assert_line_refused(SHARED, "show rdma", "link, dev or resource");
    assert_line_refused(SHARED, "show rdma link h9", "there is no \"h9\"");
    assert_line_refused(SHARED, "show rdma link m1.vfs", "m1.vfs is no host");
}

#define VF "link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff"

/* Each line is one of iproute2, and behind it stands the guest.  iproute2 has no functions that are
 * not enabled; settings for them are allowed, as with mlx5.
 */
static void functions_are_shown_as_ip_link_shows_them(void **state)
{
    (void)state;
    assert_line_prints("machine m1 vfs=3 numvfs=2; guest g1 on m1; "
                       "vf set m1 0 vlan=5 qos=3 max_tx_rate=5000 min_tx_rate=1000; "
                       "vf set m1 1 mac=02:00:00:00:00:07 spoofchk=off trust=on state=enable",
                       "show m1.vfs",
                       "    vf 0     " VF ", vlan 5, qos 3, tx rate 5000 (Mbps), max_tx_rate "
                       "5000Mbps, min_tx_rate 1000Mbps, spoof checking on, link-state auto, trust "
                       "off  g1 (link down)\n"
                       "    vf 1     link/ether 02:00:00:00:00:07 brd ff:ff:ff:ff:ff:ff, spoof "
                       "checking off, link-state enable, trust on  no guest\n"
                       "(vf 2 is not enabled)\n");
    assert_line_prints("machine m1 vfs=3 numvfs=0; vf set m1 2 max_tx_rate=1", "show m1.vfs",
                       "(vf 0 to 2 are not enabled)\n");
}

static void rows_have_the_names_of_the_rdma_tool(void **state)
{
    static const struct {
        const char *question, *keys[8];
    } rows[] = {
        {"qp", {"ifname", "lqpn", "rqpn", "type", "state", "rq-psn", "sq-psn", "path-mig-state"}},
        {"cq", {"ifname", "cqn", "cqe", "users"}},
        {"mr", {"ifname", "mrn", "mrlen", "rkey", "lkey", "iova", "pdn"}},
        {"pd", {"ifname", "pdn", "users"}},
    };
    struct lab l;
    cJSON *j;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        j = json_of(&l, rows[i].question, "json");
        for (size_t k = 0; k < ARRAY_LEN(rows[i].keys) && rows[i].keys[k]; k++) {
            if (!cJSON_GetObjectItem(cJSON_GetArrayItem(j, 0), rows[i].keys[k]))
                fail_msg("show %s json has no \"%s\"", rows[i].question, rows[i].keys[k]);
        }
        cJSON_Delete(j);
    }
    j = json_of(&l, "qp h1.qp", "json"); /* one object: all of its values */
    assert_int_equal(cJSON_GetObjectItem(j, "lqpn")->valueint, 2);
    assert_non_null(cJSON_GetObjectItem(j, "counters"));
    cJSON_Delete(j);
    j = json_of(&l, "h1.qp", "json"); /* a path: with the names of paths */
    assert_int_equal(cJSON_GetObjectItem(j, "qpn")->valueint, 2);
    cJSON_Delete(j);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_subject_is_asked_for_and_in_the_help),
        cmocka_unit_test(every_subject_alone_leads_to_show),
        cmocka_unit_test(each_form_has_the_same_rows),
        cmocka_unit_test(many_posted_slots_are_folded),
        cmocka_unit_test(each_device_tells_what_to_type_instead),
        cmocka_unit_test(devices_are_shown_as_the_rdma_tool_shows_them),
        cmocka_unit_test(functions_are_shown_as_ip_link_shows_them),
        cmocka_unit_test(rows_have_the_names_of_the_rdma_tool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
