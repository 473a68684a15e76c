/* SPDX-License-Identifier: MIT */
#include "cli/app/report.h"

#include <string.h>

#include "print/plain.h"

/* Writes the first line of @s. */
static void xml_line(FILE *out, const char *s)
{
    char line[TEST_MESSAGE_BYTES];
    struct text t = text_on(line, sizeof(line));

    text_addn(&t, s, strcspn(s, "\n"));
    print_xml(out, line);
}

static void junit_case(FILE *f, const struct test_case *c, const struct test_options *o)
{
    const struct test_result *r = &c->result;
    struct shown_case shown;

    shown_case(c, o, true, &shown);
    fputs("    <testcase classname=\"rdmalab\" name=\"", f);
    print_xml(f, shown.name);
    fputs("\" file=\"", f);
    print_xml(f, shown.file);
    if (r->line > 0)
        fprintf(f, "\" line=\"%zu", r->line);
    fprintf(f, "\" time=\"%.6f\">\n", (double)r->wall_us / 1e6);
    fprintf(f, "      <properties><property name=\"seed\" value=\"%llu\"/>",
            (unsigned long long)c->seed);
    if (r->ran)
        fprintf(f, "<property name=\"hash\" value=\"%016llx\"/>", (unsigned long long)r->hash);
    fputs("</properties>\n", f);
    if (r->status == EXIT_SKIPPED) {
        fputs("      <skipped message=\"", f);
        print_xml(f, shown.message);
        fputs("\"/>\n", f);
    } else if (r->status != EXIT_PASSED) {
        const char *kind = r->status == EXIT_FAILED ? "failure" : "error";

        fprintf(f, "      <%s message=\"", kind);
        xml_line(f, shown.message);
        fputs("\">", f);
        print_xml(f, shown.message);
        fprintf(f, "</%s>\n", kind);
    }
    fputs("    </testcase>\n", f);
}

void report_junit(FILE *f, const struct test_case *cases, size_t n, const struct test_options *o)
{
    size_t ended = 0, failures = 0, errors = 0, skipped = 0;

    for (size_t i = 0; i < n; i++) {
        const int status = cases[i].result.status;

        if (!cases[i].ended)
            continue;
        ended++;
        failures += status == EXIT_FAILED;
        skipped += status == EXIT_SKIPPED;
        errors += status != EXIT_PASSED && status != EXIT_FAILED && status != EXIT_SKIPPED;
    }
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "  <testsuite name=\"rdmalab\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
            "skipped=\"%zu\">\n",
            ended, failures, errors, skipped);
    for (size_t i = 0; i < n; i++) {
        if (cases[i].ended)
            junit_case(f, &cases[i], o);
    }
    fputs("  </testsuite>\n</testsuites>\n", f);
}
