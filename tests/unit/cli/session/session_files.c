/* SPDX-License-Identifier: MIT */
#include "cli/session/session_files.h"
#include "cli/exec/resume.h"

#include <unistd.h>

#include "cli/own_directory.h"
#include "process/exit_status.h"

#define CALM                                                                                       \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq\n"        \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp timeout=4\n"                                                              \
    "repeat 4 { post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled; run\n"        \
    "  poll_cq h1.cq; poll_cq h2.cq }\n"                                                           \
    "checkpoint before\n"                                                                          \
    "ping h1 h2; refused reason=err_busy { dealloc_pd h1.pd }\n"                                   \
    "goto before\nwrite h1.mr[0] \"other\"\nping h1 h2 count=2\nback 2 tick\n"

char *bytes_of(const char *name)
{
    struct source src = {0};
    char *text;

    assert_null(source_read(name, &src));
    text = (char *)src.text;
    src.text = NULL;
    source_done(&src);
    return text;
}

int enter_text(struct lab *l, const char *text)
{
    const struct source src = source_of("w.json", text);
    struct diag d = {.kind = DIAG_NONE};
    struct session_file w;
    int status = EXIT_USAGE;

    if (session_file_read(&src, &l->interrupted, &w, l->f, &d)) {
        status = resume_session(l->s, &w, "w.json", l->f);
    } else {
        assert_true(d.kind == DIAG_SYNTAX || d.kind == DIAG_VALUE);
        assert_true(d.at.at + d.at.len <= src.len + 1);
        diag_print(l->f, &src, &d);
    }
    session_file_done(&w);
    fflush(l->f);
    return status;
}

int open_text(struct lab *l, const char *text)
{
    lab_open(l, HISTORY_BYTES);
    return enter_text(l, text);
}

int open_file(struct lab *l, const char *name)
{
    char *text = bytes_of(name);
    const int status = open_text(l, text);

    free(text);
    return status;
}

char *replaced(const char *text, const char *old, const char *new)
{
    const size_t cap = strlen(text) * (1 + strlen(new));
    char *ret = malloc(cap);
    struct text t = text_on(ret, cap);
    const char *found;

    assert_non_null(ret);
    for (; (found = strstr(text, old)) != NULL; text = found + strlen(old)) {
        text_addn(&t, text, (size_t)(found - text));
        text_add(&t, new);
    }
    text_add(&t, text);
    assert_false(t.cut);
    return ret;
}

char *calm_session(void)
{
    struct lab l;
    char *text;

    lab_open(&l, HISTORY_BYTES);
    lab_run(&l, CALM);
    lab_run(&l, "save world w.json");
    lab_close(&l);
    text = bytes_of("w.json");
    return text;
}

void assert_says(const char *text, const char *old, const char *new, int status, const char *says)
{
    char *changed = replaced(text, old, new);
    struct lab l;

    if (strcmp(text, changed) == 0)
        fail_msg("%s is not in it", old);
    if (open_text(&l, changed) != status || !strstr(l.out, says))
        fail_msg("%s -> %s: %s", old, new, l.out);
    lab_close(&l);
    free(changed);
}

int session_files_leave_directory(void **state)
{
    static const char *const files[] = {"w.json", "w2.json", "y.json", "y.lab"};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        (void)unlink(files[i]); /* they may not exist */
    remove_session_files();
    return own_directory_leave(state);
}
