/* main.c - gg-sample: logits to the next token id */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"
#include "gg-sample/sequences.h"

const char cli_name[] = "gg-sample";

static const char help[] =
    "Usage: gg-sample [OPTION]... [FILE]\n"
    "Draw a token id from each record of a logit stream.\n"
    "\n"
    "  -n N             end a sequence after N ids\n"
    "  -s, --seed N     draw the same ids each time\n"
    "      --temp T     temperature; 0 takes the likeliest (default 0.8)\n"
    "      --top-k K    keep the K likeliest; 0 keeps all (default 40)\n"
    "      --top-p P    keep those that together have P (default 0.95)\n"
    "      --min-p P    keep those with P of the likeliest's (default 0)\n"
    "      --greedy     the same as --temp 0\n"
    "  -f, --file FILE  read from FILE\n"
    "  -o, --output FILE\n"
    "                   write there, whole or not at all\n"
    "  -v, --verbose    say which seed is used\n"
    "  -q, --quiet      say nothing but errors\n"
    "  -h, --help       print this\n"
    "  -V, --version    print the version\n";

struct options {
    struct gg_sampler_params sampler;
    bool seeded, verbose;
    uint64_t n; /* 0: no limit */
    const char *output, *input;
};

struct run {
    struct gg_sampler *sampler;
    uint64_t n;
    bool failed;      /* an error record was seen */
    bool input_waits; /* the input may depend on the output's end */
    bool numbered;
    bool ended;     /* the one sequence of a stream without numbers */
    bool closed;    /* and with it the output */
    uint64_t count; /* of its ids */
    struct sequences sequences;
};

enum {
    OPT_TEMP = 256,
    OPT_TOP_K,
    OPT_TOP_P,
    OPT_MIN_P,
    OPT_GREEDY,
};

static const struct option long_options[] = {
    { "file", required_argument, NULL, 'f' },
    { "output", required_argument, NULL, 'o' },
    { "quiet", no_argument, NULL, 'q' },
    { "seed", required_argument, NULL, 's' },
    { "verbose", no_argument, NULL, 'v' },
    { "temp", required_argument, NULL, OPT_TEMP },
    { "top-k", required_argument, NULL, OPT_TOP_K },
    { "top-p", required_argument, NULL, OPT_TOP_P },
    { "min-p", required_argument, NULL, OPT_MIN_P },
    { "greedy", no_argument, NULL, OPT_GREEDY },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { 0 },
};

static void
set_option(struct options *o, int c)
{
    switch (c) {
    case 'n':
        o->n = (uint64_t)cli_int("-n", optarg, 1, INT64_MAX);
        break;
    case 's':
        o->sampler.seed = cli_u64("--seed", optarg);
        o->seeded = true;
        break;
    case OPT_TEMP:
        o->sampler.temperature = (float)cli_float("--temp", optarg, 0, 1e6);
        break;
    case OPT_TOP_K:
        o->sampler.top_k = (int32_t)cli_int("--top-k", optarg, 0, INT32_MAX);
        break;
    case OPT_TOP_P:
        o->sampler.top_p = (float)cli_float("--top-p", optarg, 0, 1);
        break;
    case OPT_MIN_P:
        o->sampler.min_p = (float)cli_float("--min-p", optarg, 0, 1);
        break;
    case OPT_GREEDY:
        o->sampler.temperature = 0;
        break;
    case 'f':
        o->input = optarg;
        break;
    case 'o':
        o->output = optarg;
        break;
    case 'v':
        o->verbose = true;
        break;
    case 'q':
        o->verbose = false;
        break;
    case 'h':
        cli_help(help);
    case 'V':
        cli_version();
    }
}

static void
parse(int argc, char **argv, struct options *o)
{
    int c;

    o->sampler = gg_sampler_params_default();
    while ((c = cli_getopt(argc, argv, "n:s:f:o:vqhV", long_options)) != -1)
        set_option(o, c);
    if (argc - optind > (o->input ? 0 : 1))
        cli_misuse("%s: one FILE is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
}

/* 32 bits: easy to type again. */
static uint64_t
any_seed(void)
{
    uint32_t seed;

    if (getentropy(&seed, sizeof(seed)))
        cli_die("no random numbers to be had: use --seed");
    return seed;
}

/* Our output may end before the shell of a gg-loop's command lets go of its
 * copy of it; gg-loop names a FIFO that takes the news. */
static void
tell_loop(void)
{
    const char *path = getenv("GG_LOOP");
    int fd = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)) {
        ssize_t n = write(fd, "\n", 1);

        (void)n; /* then the loop is gone, or was told already */
    }
    close(fd);
}

static void
put(const struct gg_line *line)
{
    struct gg_error err;
    enum gg_status st = gg_line_write(STDOUT_FILENO, line, &err);

    if (st != GG_OK)
        cli_die("standard output: %s", err.message);
}

static bool
is_end_of_generation(const struct gg_logit_head *head, int32_t id)
{
    for (size_t i = 0; i < head->n_eog; i++)
        if (head->eog_ids[i] == id)
            return true;
    return false;
}

/* The sequence is over: `line` is the last of it. */
static void
end_sequence(struct run *r, struct gg_line *line)
{
    if (r->numbered) {
        counts_remove(&r->sequences.counts, line->sequence);
        ranges_add(&r->sequences.ended, line->sequence);
        line->last = line->kind == GG_LINE_IDS;
        put(line);
        return;
    }
    r->ended = true;
    if (r->input_waits)
        tell_loop();
    put(line);
    if (r->input_waits) {
        cli_close_output();
        r->closed = true;
    }
}

static bool
has_ended(const struct run *r, uint64_t sequence)
{
    return r->numbered ? ranges_have(&r->sequences.ended, sequence) : r->ended;
}

static uint64_t
count(struct run *r, uint64_t sequence)
{
    if (!r->numbered)
        return ++r->count;
    ranges_remove(&r->sequences.passed, sequence);
    /* Without a limit, or with that of 1, nothing has to be remembered. */
    return r->n > 1 ? counts_add(&r->sequences.counts, sequence) : 1;
}

static void
pass_error(struct run *r, uint64_t sequence, const char *message)
{
    struct gg_line line = {
        .kind = GG_LINE_ERROR,
        .numbered = r->numbered,
        .sequence = sequence,
        .message = message,
    };

    r->failed = true;
    /* In a loop what was passed on comes again. */
    if (!has_ended(r, sequence))
        end_sequence(r, &line);
}

static void
draw(struct run *r, const struct gg_logit_record *record)
{
    struct gg_line line = {
        .kind = GG_LINE_IDS,
        .numbered = r->numbered,
        .sequence = record->sequence,
        .n_ids = 1,
    };
    struct gg_error err;
    enum gg_status st;
    int32_t id;

    if (has_ended(r, record->sequence))
        return;
    st = gg_sampler_draw(r->sampler, record->logit_ids, record->logits,
                         record->n_logits, record->sequence, record->position,
                         &id, &err);
    if (st != GG_OK) {
        cli_warn("sequence %" PRIu64 ", position %" PRIu64 ": %s",
                 record->sequence, record->position, err.message);
        pass_error(r, record->sequence, err.message);
        return;
    }
    line.ids = &id;
    if (count(r, record->sequence) == r->n ||
        is_end_of_generation(&record->head, id))
        end_sequence(r, &line);
    else
        put(&line);
}

static void
pass_close(struct run *r, uint64_t sequence)
{
    struct gg_line line = { GG_LINE_END, true, .sequence = sequence };

    if (!r->numbered)
        return;
    if (ranges_have(&r->sequences.ended, sequence)) {
        ranges_remove(&r->sequences.ended, sequence);
    } else if (ranges_have(&r->sequences.passed, sequence)) {
        ranges_remove(&r->sequences.passed, sequence);
    } else {
        counts_remove(&r->sequences.counts, sequence);
        ranges_add(&r->sequences.passed, sequence);
        put(&line);
    }
}

static void
begin(struct run *r, const struct gg_logit_head *head)
{
    if (head->kind != GG_VECTOR_LOGITS)
        cli_die("the stream has embeddings, not logits");
    if (r->closed)
        cli_die("another head follows, but the output is closed: "
                "read the streams from a file");
    r->numbered = head->numbered;
    r->ended = false;
    r->count = 0;
    sequences_clear(&r->sequences);
}

static void
handle(struct run *r, const struct gg_logit_record *record)
{
    switch (record->kind) {
    case GG_RECORD_HEAD:
        begin(r, &record->head);
        break;
    case GG_RECORD_LOGITS:
        draw(r, record);
        break;
    case GG_RECORD_ERROR:
        pass_error(r, record->sequence, record->message);
        break;
    case GG_RECORD_CLOSE:
        pass_close(r, record->sequence);
        break;
    case GG_RECORD_END:
        break;
    }
}

static bool
is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int
run(const struct options *o)
{
    struct run r = { .n = o->n };
    struct gg_logit_reader *reader = NULL;
    struct gg_logit_record record;
    struct gg_error err;
    enum gg_status st;
    int fd = cli_open_input(o->input);

    r.input_waits = !is_regular(fd);
    cli_check(gg_sampler_new(&o->sampler, &r.sampler, &err), &err);
    cli_check(gg_logit_reader_new(fd, cli_input_name(o->input), &reader, &err),
              &err);
    cli_output(o->output);
    while ((st = gg_logit_read(reader, &record, &err)) == GG_OK)
        handle(&r, &record);
    if (st != GG_EOF)
        cli_check(st, &err);
    gg_logit_reader_free(reader);
    gg_sampler_free(r.sampler);
    sequences_clear(&r.sequences);
    return r.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };

    cli_start();
    parse(argc, argv, &o);
    if (!o.seeded)
        o.sampler.seed = any_seed();
    if (o.verbose)
        cli_warn("seed %" PRIu64, o.sampler.seed);
    return cli_finish(run(&o));
}
