/* SPDX-License-Identifier: MIT */
/* rdmalab: chooses a mode by the first argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/app/allow.h"
#include "cli/app/cli_bench.h"
#include "cli/app/cli_swarm.h"
#include "cli/app/line_input.h"
#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/app/repl.h"
#include "cli/exec/exec.h"
#include "cli/exec/lesson.h"
#include "cli/explain/explain.h"
#include "cli/explain/explain_asked.h"
#include "cli/help/help.h"
#include "cli/lang/json.h"
#include "cli/lang/lex.h"
#include "cli/lang/suggest.h"
#include "cli/lessons/collection.h"
#include "cli/lessons/scenarios.h"
#include "cli/live/live.h"
#include "cli/session/files.h"
#include "cli/session/scenario.h"
#include "cli/show/show_columns.h"
#include "emu/base/assert.h"
#include "print/pages.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "print/version.h"
#include "process/must.h"
#include "process/out_file.h"
#include "process/signals.h"
#include "process/std_files.h"
#include "swarm/drills/drill.h"

/* Writes @script to the file @name; "-" is the standard output.  Returns NULL, or why it failed. */
static const char *write_script(const char *name, const struct script *script)
{
    const bool standard = strcmp(name, "-") == 0;
    struct out_file o = {.f = stdout};
    const char *why = standard ? NULL : out_file_open(&o, name);

    if (why)
        return why;
    files_write_script(o.f, name, script);
    return standard ? files_close(stdout) : out_file_close(&o);
}

static int convert_main(int argc, char **argv)
{
    struct scenario sc;
    int status;
    const char *why;

    if (!options_take(NULL, 0, &argc, argv))
        return EXIT_USAGE;
    if (argc != 3)
        return EXIT_ASK;
    if (strcmp(argv[2], "-") != 0 && !files_is_json(argv[2]) && !files_is_lab(argv[2])) {
        fprintf(stderr, "rdmalab: %s: the name must end in .lab or .json\n", SHOWN_NAME(argv[2]));
        return EXIT_USAGE;
    }
    status = scenario_load(&sc, argv[1], stderr);
    if (status == EXIT_PASSED) {
        why = write_script(argv[2], &sc.script);
        status = why ? EXIT_FAILED : EXIT_PASSED;
        if (why && !*signals_interrupted())
            fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(argv[2]), why);
    }
    scenario_done(&sc);
    return status;
}

static int schema_main(int argc, char **argv)
{
    if (!options_take(NULL, 0, &argc, argv))
        return EXIT_USAGE;
    if (argc != 2)
        return EXIT_ASK;
    if (strcmp(argv[1], "scenario") == 0)
        json_write_schema(stdout);
    else if (strcmp(argv[1], "show") == 0)
        show_write_schema(stdout);
    else
        return EXIT_ASK;
    return EXIT_PASSED;
}

static int explain_main(int argc, char **argv)
{
    bool source = false;
    const struct option rows[] = {{.name = "--source", .flag = &source}};
    char asked[EXPLAIN_ASKED_BYTES], near[512];
    struct text a = text_on(asked, sizeof(asked)), t = text_on(near, sizeof(near));
    struct paged pages;
    bool known;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    if (argc == 1 && source)
        return EXIT_ASK;
    if (argc == 1) {
        explain_subjects(stdout);
        return EXIT_PASSED;
    }
    for (int i = 1; i < argc; i++)
        text_addf(&a, i > 1 ? " %s" : "%s", argv[i]);
    pages = pages_hold(stdout);
    known = explain_asked(pages.f, NULL, asked, source);
    pages_end(&pages);
    if (known)
        return EXIT_PASSED;
    explain_near(&t, asked);
    fprintf(stderr, "rdmalab: nothing is known of \"%s\"\n  %s\n", SHOWN_NAME(asked), near);
    return EXIT_FAILED;
}

static int apropos_main(int argc, char **argv)
{
    struct paged pages;
    bool known;

    if (!options_take(NULL, 0, &argc, argv))
        return EXIT_USAGE;
    if (argc != 2)
        return EXIT_ASK;
    pages = pages_hold(stdout);
    known = scenarios_apropos(pages.f, argv[1]);
    pages_end(&pages);
    if (known)
        return EXIT_PASSED;
    fprintf(stderr, "rdmalab: nothing has to do with \"%s\"\n", SHOWN_NAME(argv[1]));
    return EXIT_FAILED;
}

/* Runs the command `scenarios` of the prompt. */
static int scenarios_main(int argc, char **argv)
{
    struct lesson_how how = {.from_shell = true};
    bool run;
    const struct option rows[] = {{.name = "--ladder", .flag = &how.ladder}};
    const struct session_config config = {
        .out = stdout,
        .err = stderr,
        .colour = modes_colour(),
        .interrupted = signals_interrupted(),
        .live_ops = live_ops,
    };
    struct scenarios_error e = {"", ""};
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));
    char asked[COLLECTION_NAME_BYTES];
    struct text words = text_on(asked, sizeof(asked));
    int status = EXIT_PASSED;

    if (!options_take(rows, ARRAY_LEN(rows), &argc, argv))
        return EXIT_USAGE;
    run = argc > 2 && strcmp(argv[1], "run") == 0;
    for (int i = 1; i < argc; i++)
        text_addf(&words, i > 1 ? " %s" : "%s", argv[i]);
    if ((argc > 2 + run && (run || scenarios_has(argv[1]))) || (how.ladder && argc == 1))
        return EXIT_ASK;
    if (argc == 1 || (!run && !scenarios_has(argv[1]))) {
        if (scenarios_list(stdout, argc > 1 ? asked : NULL, &e))
            return EXIT_PASSED;
    } else if (lesson_run(&config, argv[1 + run], &how, &status, &e)) {
        text_addf(&again, "rdmalab scenarios%s", run ? " run" : "");
        shell_add(&again, argv[1 + run]);
        text_add(&again, how.ladder ? " --ladder" : "");
        if (status != EXIT_PASSED)
            modes_say_again(&again);
        return status;
    }
    fprintf(stderr, "rdmalab: %s\n  %s\n", SHOWN_NAME(e.text), e.remedy);
    return EXIT_FAILED;
}

/* Finds the path of a program in PATH; "" if it is not there. */
static void find_program(const char *name, char *ret, size_t cap)
{
    const char *dirs = getenv("PATH");

    for (dirs = dirs ? dirs : ""; *dirs;) {
        const size_t n = strcspn(dirs, ":");
        struct text t = text_on(ret, cap);

        text_addn(&t, dirs, n);
        text_addf(&t, "/%s", name);
        if (n > 0 && !t.cut && access(ret, X_OK) == 0)
            return;
        dirs += n + (dirs[n] != '\0');
    }
    ret[0] = '\0';
}

/* Prints an optional component: its state, or what it enables and how to get it. */
static void print_part(const char *name, bool there, const char *what, const char *enables,
                       const char *remedy)
{
    printf("%s: %s\n", name, what);
    if (!there)
        printf("  it enables %s; %s\n", enables, remedy);
}

static int doctor_main(int argc, char **argv)
{
    static const struct {
        const char *name, *enables, *remedy;
    } tools[] = {
        {"tshark", "a look at exported pcapng files", "install the package tshark"},
        {"wireshark", "exported pcapng files in a window", "install the package wireshark"},
    };
    const char *editor = line_input_name();
    const char *obstacle = live_ops ? live_ops->obstacle() : "not built";
    struct collection c;
    const char *why;
    char path[512];

    if (!options_take(NULL, 0, &argc, argv))
        return EXIT_USAGE;
    if (argc > 1) {
        fprintf(stderr, "rdmalab: doctor takes nothing, and %s was given\n", SHOWN_NAME(argv[1]));
        return EXIT_USAGE;
    }
    why = collection_read(&c);
    printf("rdmalab %s\n", RDMALAB_VERSION);
    print_part("line editor", strcmp(editor, "none") != 0, editor,
               "TAB, arrow keys and a history at the prompt",
               "install libreadline-dev and build with -Dline_editor=readline");
    print_part("live ports and programs", live_ops != NULL, live_ops ? "yes (libuv)" : "not built",
               "port, program, and a lab at real time", "install libuv1-dev and build again");
    print_part("tap devices", !obstacle, obstacle ? obstacle : "yes",
               "\"port tap\": a lab in the kernel's network", "\"help port\" tells what is needed");
    print_part("scenarios", !why, why ? "not found" : c.dir, "\"scenarios\", the course",
               "set RDMALAB_SCENARIOS to their directory");
    collection_done(&c);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        find_program(tools[i].name, path, sizeof(path));
        print_part(tools[i].name, path[0] != '\0', path[0] ? path : "not found", tools[i].enables,
                   tools[i].remedy);
    }
    return EXIT_PASSED;
}

static int complete_main(int argc, char **argv);
static int help_main(int argc, char **argv);

#define OR_NAME(name) #name "|"
#define DRILL_WORDS   DRILLS(OR_NAME) "all"
static const struct mode modes[] = {
    {"run", run_main,
     "run FILE [--seed S] [--memory SIZE] [--until EXPR] [--virtual] [--hash] [--quiet]\n"
     "      [--ladder F] [--timeline F] [--pcap F] [--events F]\n"
     "      [--allow programs,ports,files | --no-sandbox]",
     "run one scenario, or until EXPR holds: '#50', 'count(tx)==2'; F - is the standard output;\n"
     "      tells what it is about and the verdict, and on a terminal what happens;\n"
     "      --allow: FILE may start programs, use ports, use files outside of its directory;\n"
     "      --no-sandbox: all of them;\n"
     "      --virtual: time stands still while a program computes, so that there is a hash",
     "0 passed, 1 an expectation or a command failed or a file was not written,\n"
     "  2 usage, FILE is malformed or has nothing to run, 77 FILE says skip, 99 a bug of rdmalab,\n"
     "  130 ^C, 143 SIGTERM, 129 SIGHUP: the files tell what happened until then",
     MODE_FILES " json lab"},
    {"open", open_main,
     "open FILE [-c \"LINE; LINE\"]... [--seed S] [--fault HOW:PACKET] [--device D] "
     "[--extensions E,...] [--guests G] [--virtual] [--prompt] [--allow ...]",
     "the prompt, where it was when \"save world FILE\" wrote FILE: place in time, futures and "
     "all;\n"
     "      or where the scenario FILE fails, or ends; -c runs lines there instead",
     "that of the prompt, or of the lines; 1 what FILE says was done goes another way here,\n"
     "  2 usage, or FILE is no world and no scenario, 130 ^C",
     MODE_FILES " json lab"},
    {"test", test_main,
     "test PATH... [--format text|tap|json|github] [--junit F] [-j N] [--tag T] ...",
     "run scenarios and count; \"rdmalab test --help\" tells more", NULL, MODE_FILES " json lab"},
    {"show", show_main,
     "show FILE.ndjson [events ...|packet ...|why ...|count ...]\n"
     "      [--ladder F] [--timeline F]",
     "ask a saved trace, which run --events wrote; \"rdmalab show --help\" tells more", NULL,
     MODE_FILES " ndjson"},
    {"exec", exec_main,
     "exec [--lab FILE] [--timeout N] [--seed S] [--pcap F] [--events F] [--ladder F]\n"
     "      [--timeline F] [--virtual [--hash]] [--allow programs,ports,files | --no-sandbox]\n"
     "      HOST -- PROGRAM [ARG...] [: HOST -- PROGRAM [ARG...]]...",
     "run your programs on the hosts of a lab: libibverbs shows each the device of its host;\n"
     "      --lab FILE: hosts, links and faults; without it: hosts h1 and h2, with a link;\n"
     "      --allow: FILE may start programs, use ports, use files outside of its directory;\n"
     "      --pcap, --events, --ladder, --timeline: write what happened;\n"
     "      --timeout: end all after N seconds;\n"
     "      --virtual: time stands still while a program computes; --hash prints the hash then;\n"
     "      programs start in the given order, each when the one before waits for a TCP\n"
     "      connection or a second is over; \"localhost\" reaches the others by TCP",
     "that of the first program that failed, 128 + N if signal N ended it;\n"
     "  1 the lab failed, or a fault met nothing, 2 usage, 77 FILE says skip, 124 timeout,\n"
     "  130 ^C",
     MODE_HOSTS},
    {"check", check_main,
     "check FILE.pcap|FILE.pcapng [--json] [--at IP] [--ladder F] [--timeline F]\n"
     "      ...",
     "hold a capture of RoCEv2 against the rules; \"rdmalab check --help\" tells more", NULL,
     MODE_FILES " pcap pcapng"},
    {"convert", convert_main, "convert A.lab B.json", "and back, without loss",
     "0 written, 1 B cannot be written, 2 usage, or A is malformed", MODE_FILES " json lab"},
    {"schema", schema_main, "schema scenario|show",
     "the JSON Schema of scenarios, or of what show SUBJECT json prints",
     "0 written, 1 it could not be written, 2 usage", "scenario|show"},
    {"apropos", apropos_main, "apropos WORD",
     "what has to do with a word: commands, their parameters, words of explain, scenarios",
     "0 something has, 1 nothing has, 2 usage", ""},
    {"explain", explain_main, "explain [WORD... [--source]]",
     "a command, status, NAK, rule, field, number ('status 12'); --source: with the sections that "
     "nobody has verified",
     "0 explained, 1 nothing is known of WORD, 2 usage", MODE_TOPIC},
    {"help", help_main, "help [TOPIC [PART]]",
     "a command of the prompt, one of its parameters, or a class of commands; without TOPIC this "
     "text",
     "0 printed, 1 there is no such TOPIC, 2 usage", MODE_TOPIC},
    {"scenarios", scenarios_main, "scenarios [WORD [all]] | scenarios run NAME [--ladder]",
     "the collection as a course, or what is about WORD; run tells one of them as a story",
     "that of the scenario that ran; 0 listed, 1 nothing is about WORD, 2 usage", "run"},
    {"tour", tour_main,
     "tour [LESSON|FILE.tour [SCREEN]] | tour list | tour --check [--device D]\n"
     "      [--extensions E,...] [--guests G] [FILE.tour...]",
     "lessons for people who are new to RDMA: the prompt, in the lesson that was left last;\n"
     "      --check plays the lessons, or those of the files, and prints what is wrong in them;\n"
     "      --device pvrdma: on hosts with PVRDMA, --device mixed: on each second one;\n"
     "      --guests frames, shortcut: hosts are guests of one machine",
     "that of the prompt; with --check 0 all are right, 1 one is not, 2 usage, or a file cannot\n"
     "  be read",
     MODE_FILES " tour"},
    {"quiz", quiz_main,
     "quiz [TOPIC|FILE.tour] [--seed N] [--count N] [--solve] |\n"
     "      quiz --check [--seeds A..B] [TOPIC...] | quiz --key [--seeds A..B] [--format text|csv] "
     "[TOPIC...]",
     "a problem with one right answer, which the lab computes; without TOPIC the topics.\n"
     "      Each seed draws another problem; --count asks several, from this seed on; --solve\n"
     "      shows the session that answers it; --check looks for problems that are wrong;\n"
     "      --key prints the right answers, by default of the seeds 1..20",
     "0 all were answered right, or solved, 1 one was not, 2 usage, or a file is wrong",
     MODE_FILES " tour"},
    {"grade", grade_main,
     "grade DIR [--answers STUDENTS [--student NAME]] [--seeds A..B] "
     "[--format text|report|json|csv]\n"
     "      [-j N] [--timeout N]",
     "run the checks of the exercises in DIR, or of the exercise DIR, with the answer of each "
     "exercise there,\n"
     "      or with those of each directory in STUDENTS; a check passes with all seeds, by default "
     "1..3;\n"
     "      --format report tells each student's failed checks",
     "0 all points, 1 points are missing, 2 usage, or DIR cannot be read, 99 a bug of rdmalab",
     MODE_FILES " lab"},
    {"bench", bench_main,
     "bench [time|device|connect|control|shortcut|lnet|programs] [--format text|json]",
     "how fast the emulator is here; time: what going back in a session takes; device: what many "
     "queue pairs of one device cost; connect: connections by rdma_cm; "
     "control: what each object and connection costs a host and a guest, counted; "
     "shortcut: messages between guests of a machine, beside memcpy; "
     "lnet: PUTs of LNet, beside RDMA WRITEs; "
     "programs: perftest on hosts of a lab, beside TCP",
     "0 measured, 1 the lab could not be made or a program is missing, 2 usage",
     "time device connect control shortcut lnet programs"},
    {"swarm", swarm_main,
     "swarm [--outside] [--seed S | --seeds A..B] [-j N] [--minutes M] [--pairs] [--devices] "
     "[--extensions] [--machines] [--no-shrink] "
     "[--fail-fast] [--artifacts DIR] [--script FILE] [--events] [--hash]\n"
     "       rdmalab swarm --drill " DRILL_WORDS "\n"
     "                     [--seed S | --seeds A..B] ...\n"
     "       rdmalab swarm --matrix [--cell N | --one-in N [--seed S]] [-j N] [--events] [--hash]",
     "random worlds and drills, judged by models and by invariants; --outside: a stranger's "
     "frames;\n"
     "      --devices: each host draws its RDMA device; without it each has virtio-rdma, so that "
     "a\n"
     "      seed is the world that it was before there was a second device; --machines: hosts "
     "share\n"
     "      the adapters of others, with virtual functions and virtual RNICs",
     "0 all passed, 1 a run went wrong, 2 usage, 99 an invariant of rdmalab broke, 130 ^C", ""},
    {"doctor", doctor_main, "doctor",
     "which optional parts are there, and what those that are not would enable", "0 told, 2 usage",
     ""},
    {"complete", complete_main, "complete -- [WORD...]",
     "what the last word of a command line can become: for bash and zsh, whose functions are\n"
     "      installed, or in data/ of the source",
     "0 always, 2 usage", ""},
};

static void print_help(FILE *out)
{
    fputs("usage:\n"
          "  rdmalab                        the prompt; a script when the input is no terminal\n"
          "  rdmalab FILE.lab...            run scripts; stop at the first error\n"
          "  rdmalab -c \"LINE; LINE\"...     run lines, those of each -c in order; then the "
          "scripts\n",
          out);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        fprintf(out, "  rdmalab %s\n      %s\n", modes[i].usage, modes[i].what);
    fputs("options: --seed S, --memory SIZE, --prompt (prompts also without a terminal), "
          "--version, --help;\n"
          "  --allow programs,ports,files lets scripts use these, --no-sandbox all of them;\n"
          "  --virtual: time stands still while a program of exec computes\n"
          "exit status: 0 passed, 1 failed, 2 usage or syntax, or nothing to run, 77 skipped,\n"
          "  99 a bug of rdmalab, 124 timeout, 130 ^C; \"rdmalab MODE --help\" tells those of a "
          "mode\n",
          out);
}

/* Words that people type for a mode or an option with another name. */
static const struct {
    const char *word, *meant;
} other_names[] = {{"version", "--version"}};

/* The file @name could not be read: suggests a mode with a similar name. */
static void suggest_mode(const char *name)
{
    struct suggestion near = suggestion_for(name);
    const char *meant = NULL;

    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        suggest_offer(&near, modes[i].name);
    for (size_t i = 0; i < ARRAY_LEN(other_names); i++)
        suggest_offer(&near, other_names[i].word);
    for (size_t i = 0; near.best && i < ARRAY_LEN(other_names); i++) {
        if (strcmp(near.best, other_names[i].word) == 0)
            meant = other_names[i].meant;
    }
    if (near.best)
        fprintf(stderr, "  did you mean \"rdmalab %s\"?\n", meant ? meant : near.best);
    else if (!strpbrk(name, "./"))
        fputs("  \"rdmalab --help\" lists what can be done\n", stderr);
}

/* Runs a script file and prints errors.  If it cannot be parsed as a whole, its error is reported
 * when execution gets there.
 */
static int run_file(struct session *s, const char *file, const struct text *again)
{
    struct source src = {0};
    struct script script;
    struct diag ignored = {.kind = DIAG_NONE};
    int status = files_read(file, &src, stderr);

    if (status != EXIT_PASSED) {
        suggest_mode(file);
        return status;
    }
    script = (struct script){.src = src};
    if (files_parse(&script, &ignored) && !script_has_steps(script.first)) {
        fprintf(stderr, "rdmalab: %s: %s\n  %s\n", SHOWN_NAME(file), SCRIPT_NO_STEPS,
                SCRIPT_NO_STEPS_REMEDY);
        status = EXIT_USAGE;
    } else if (!exec_file(s, &src)) {
        session_complain(s, stderr);
        status = session_exit_status(s);
        modes_say_again(again);
    }
    script_done(&script);
    source_done(&src);
    return status;
}

/* Runs the lines of -c and then the scripts, or the prompt. */
static int run_input(struct session *s, const char *lines, int n_files, char **files, bool prompt,
                     const struct text *again)
{
    int status = EXIT_PASSED;

    if (lines) {
        const struct source src = source_typed(lines);

        if (!exec_lines(s, &src, false)) {
            session_complain(s, stderr);
            status = session_exit_status(s);
        }
    }
    for (int i = 0; i < n_files && status == EXIT_PASSED && !s->run.quit; i++)
        status = run_file(s, files[i], again);
    if (lines || n_files > 0)
        return status;
    return repl_run(s, prompt, NULL);
}

/* The options without a mode. */
struct command_line {
    char *lines; /* owned */
    const char *seed, *memory;
    struct allow allow;
    bool prompt, version, help;
    bool is_virtual; /* simulated time advances only while all programs wait */
};

static bool take_options(struct command_line *a, int *argc, char **argv)
{
    const struct option rows[] = {
        {.name = "-c", .lines = &a->lines, .words = ""},
        {.name = "--seed", .value = &a->seed, .words = ""},
        {.name = "--memory", .value = &a->memory, .words = ""},
        {.name = "--prompt", .flag = &a->prompt},
        {.name = "--virtual", .flag = &a->is_virtual},
        ALLOW_OPTIONS(a->allow),
        {.name = "--version", .flag = &a->version},
        {.name = "--help", .flag = &a->help},
        {.name = "-h", .flag = &a->help},
    };

    return options_take(rows, ARRAY_LEN(rows), argc, argv);
}

/* Appends the command that does the same again; nothing if the lines come from elsewhere. */
static void add_again(struct text *t, const struct command_line *a, int n_files, char **files)
{
    if (!a->lines && n_files == 0)
        return;
    for (int i = 0; i < n_files; i++) {
        if (strcmp(files[i], "-") == 0)
            return;
    }
    text_add(t, "rdmalab");
    shell_add_option(t, "--seed", a->seed);
    shell_add_option(t, "--memory", a->memory);
    text_add(t, a->is_virtual ? " --virtual" : "");
    shell_add_option(t, "-c", a->lines);
    allow_add(t, &a->allow);
    for (int i = 0; i < n_files; i++)
        shell_add_file(t, files[i]);
}

static int do_asked(const struct session_config *config, const struct command_line *a, int n_files,
                    char **files)
{
    struct session *s = NULL;
    const enum rdl_status st = session_new(config, &s);
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));
    int status = EXIT_FAILED;

    add_again(&again, a, n_files, files);
    signals_replay("%s", line);
    if (st == RDL_OK)
        status = run_input(s, a->lines, n_files, files, a->prompt, &again);
    else
        session_no_lab(stderr, config, st);
    session_free(s);
    return status;
}

static int session_main(int argc, char **argv)
{
    struct command_line a = {.lines = NULL};
    uint64_t memory_bytes = 0;
    struct session_config config = modes_session();
    int status = EXIT_USAGE;

    argv[0] = NULL; /* no mode */
    if (!take_options(&a, &argc, argv))
        goto out;
    if (a.version || a.help) {
        if (a.version)
            printf("rdmalab %s\n", RDMALAB_VERSION);
        else
            print_help(stdout);
        status = EXIT_PASSED;
        goto out;
    }
    config.seed_given = a.seed != NULL;
    if ((a.seed && !options_number("--seed", a.seed, &config.seed)) ||
        (a.memory && !options_size("--memory", a.memory, &memory_bytes)) ||
        !allow_read(&a.allow, &config.allowed))
        goto out;
    allow_ask(&config);
    config.memory_bytes = (size_t)memory_bytes;
    config.programs_virtual = a.is_virtual;
    status = do_asked(&config, &a, argc - 1, argv + 1);
out:
    free(a.lines);
    return status;
}

/* `rdmalab help`: the command `help` of the prompt; without a topic, that of the program. */
static int help_main(int argc, char **argv)
{
    const struct session_config config = modes_session();
    struct command_line a = {.lines = NULL};
    size_t bytes;
    FILE *f;
    int status;

    if (!options_take(NULL, 0, &argc, argv))
        return EXIT_USAGE;
    if (argc == 1) {
        print_help(stdout);
        return EXIT_PASSED;
    }
    if (argc > 3)
        return EXIT_ASK;
    f = must_memstream(&a.lines, &bytes);
    fputs("help", f);
    for (int i = 1; i < argc; i++) {
        fputc(' ', f);
        lex_write_quoted(f, argv[i]);
    }
    must_memstream_end(f, &a.lines);
    status = do_asked(&config, &a, 0, NULL);
    free(a.lines);
    return status;
}

static int complete_main(int argc, char **argv)
{
    static const struct mode none = {
        .name = "", .run = session_main, .takes = MODE_FILES " lab json"};

    return complete_shell(modes, ARRAY_LEN(modes), &none, argc, argv);
}

static int run_mode(int argc, char **argv)
{
    int status;

    for (size_t i = 0; i < ARRAY_LEN(modes) && argc > 1; i++) {
        if (strcmp(modes[i].name, argv[1]) != 0)
            continue;
        if (argc == 3 && strcmp(argv[2], "--help") == 0 && modes[i].exits) {
            printf("usage: rdmalab %s\n  %s\nexit status: %s\n", modes[i].usage, modes[i].what,
                   modes[i].exits);
            return EXIT_PASSED;
        }
        status = modes[i].run(argc - 1, argv + 1);
        if (status != EXIT_ASK)
            return status;
        fprintf(stderr, "usage: rdmalab %s\n", modes[i].usage);
        return EXIT_USAGE;
    }
    return session_main(argc, argv);
}

int main(int argc, char **argv)
{
    const char *why;
    int status;

    std_files_hold();
    /* Whole lines: programs on hosts may write to the same pipe between two pieces of one. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    signals_start();
    json_use_memory();
    status = run_mode(argc, argv);
    if (*signals_interrupted())
        return signals_exit_status();
    if (status >= EXIT_SIGNALS)
        return status; /* output may have been cut off, which is no further error */
    why = files_close(stdout);
    if (why) {
        fprintf(stderr, "rdmalab: standard output: %s\n", why);
        status = exit_worse(status, EXIT_FAILED);
    }
    return status;
}
