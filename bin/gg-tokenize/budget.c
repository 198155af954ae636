/* budget.c - a text in pieces of a given number of tokens
 *
 * Each piece is counted as a text of its own, as whoever reads it will do.
 * Where about the next cut is, is seen by encoding somewhat more than the last
 * piece had; so each byte is encoded a few times, however long the text. */
#include <config.h>

#include <stdlib.h>

#include "gg-tokenize/input.h"
#include "gg-tokenize/tokenize.h"

struct work {
    const struct gg_vocab *vocab;
    const struct tokenize_options *o;
    struct input input;
    struct buffer text; /* what was read and is not done */
    size_t at;          /* where in it the next piece begins */
    uint64_t before;    /* bytes before text.p */
    size_t window;      /* bytes to look at for the next piece */
    int32_t *ids;
    struct gg_range *ranges;
    size_t cap;
    unsigned flags;
    uint64_t pieces, cut_lines;
};

/* The number of ids of the next n bytes as a text: w->ids. */
static size_t
count_ids(struct work *w, size_t n)
{
    const char *p = w->text.p + w->at;
    struct gg_encoded made = { .n = n + 3 };
    struct gg_error err;
    size_t at;

    if (w->o->special == SPECIAL_ERROR &&
        gg_vocab_find_control(w->vocab, p, n, &at) >= 0)
        cli_die("%s: a control token at byte %llu", w->input.name,
                (unsigned long long)(w->before + w->at + at));
    do {
        if (made.n > w->cap) {
            w->cap = 2 * made.n;
            w->ids = cli_alloc(w->ids, w->cap, sizeof(*w->ids));
            w->ranges = cli_alloc(w->ranges, w->cap, sizeof(*w->ranges));
        }
        if (gg_vocab_encode(w->vocab, p, n, w->flags, w->ids, w->cap, &made,
                            &err) != GG_OK)
            cli_die("%s: %s", w->input.name, err.message);
    } while (made.n > w->cap);
    return made.n;
}

/* Bytes that are there, of `want` from the next piece on. */
static size_t
look_ahead(struct work *w, size_t want)
{
    if (w->at > w->text.len / 2) {
        memmove(w->text.p, w->text.p + w->at, w->text.len - w->at);
        w->text.len -= w->at;
        w->before += w->at;
        w->at = 0;
    }
    while (w->text.len - w->at < want && !w->input.ended)
        input_read(&w->input, &w->text);
    return w->text.len - w->at < want ? w->text.len - w->at : want;
}

/* The last end of a line in the first n bytes at which the piece is small
 * enough; 0: there is none. Steps back grow, so that they are few. */
static size_t
cut_line(struct work *w, size_t n)
{
    const char *p = w->text.p + w->at, *end;

    for (size_t back = 1; (end = memrchr(p, '\n', n)); back *= 2) {
        size_t cut = (size_t)(end - p) + 1;

        if (count_ids(w, cut) <= w->o->budget)
            return cut;
        n = cut > back ? cut - back : 0;
    }
    return 0;
}

/* As cut_line(), at ends of tokens, the first `n` of w->ranges; between
 * characters unless `inside`. */
static size_t
cut_token(struct work *w, const struct gg_range *ranges, size_t n, bool inside)
{
    const char *p = w->text.p + w->at;
    size_t back = 1, cut;

    while (n > 0 && (cut = ranges[n - 1].end) > 0) {
        size_t step = 1;

        if (inside || ((uint8_t)p[cut] & 0xc0) != 0x80) {
            if (count_ids(w, cut) <= w->o->budget)
                return cut;
            step = back;
            back *= 2;
        }
        n = n > step ? n - step : 0;
    }
    return 0;
}

/* The end of the first `fit` tokens, and of their line, if it is skipped or the
 * next token begins with it. */
static size_t
fitting_end(const struct work *w, size_t fit)
{
    const char *p = w->text.p + w->at, *line = NULL;
    size_t end = w->ranges[fit - 1].end, next = w->ranges[fit].end;

    if (next > end + 1)
        line = memchr(p + end, '\n', next - end - 1);
    return line ? (size_t)(line - p) + 1 : end;
}

/* The piece of the window of n bytes, which has more tokens than a piece. */
static size_t
cut_window(struct work *w, size_t n, size_t n_ids)
{
    size_t fit = w->o->budget - w->o->n_ends, cut;
    struct gg_range *ranges;
    struct gg_error err;

    cli_check(gg_vocab_offsets(w->vocab, w->text.p + w->at, n, w->flags, w->ids,
                               n_ids, w->ranges, &err),
              &err);
    cut = cut_line(w, fitting_end(w, fit));
    if (cut)
        return cut;
    w->cut_lines++;
    ranges = cli_alloc(NULL, fit, sizeof(*ranges));
    memcpy(ranges, w->ranges, fit * sizeof(*ranges));
    cut = cut_token(w, ranges, fit, false);
    if (cut == 0)
        cut = cut_token(w, ranges, fit, true);
    free(ranges);
    if (cut == 0)
        cli_die("%s: byte %llu: no text has as few as %zu tokens",
                w->input.name, (unsigned long long)(w->before + w->at),
                w->o->budget);
    return cut;
}

/* Bytes of the next piece; 0: there is none. */
static size_t
next_piece(struct work *w)
{
    for (;; w->window *= 2) {
        size_t n = look_ahead(w, w->window), n_ids;
        bool all = w->input.ended && n == w->text.len - w->at;

        n_ids = n ? count_ids(w, n) : 0;
        if (n_ids > w->o->budget)
            return cut_window(w, n, n_ids);
        if (all)
            return n;
    }
}

static void
write_piece(struct work *w, size_t n)
{
    const char *p = w->text.p + w->at;
    uint64_t begin = w->before + w->at;

    if (w->o->end == '\n') {
        printf("%llu\t%llu\n", (unsigned long long)begin,
               (unsigned long long)(begin + n));
        return;
    }
    if (memchr(p, '\0', n))
        cli_die("%s: a NUL in the text would end a piece: without -0 there "
                "are byte ranges",
                w->input.name);
    fwrite(p, 1, n, stdout);
    putchar('\0');
}

int
tokenize_budget(const struct gg_vocab *vocab,
                const struct tokenize_options *options)
{
    struct work w = { .vocab = vocab,
                      .o = options,
                      .input = { .fd = options->fd,
                                 .name = options->input,
                                 .quiet = options->quiet },
                      .window = 4 * options->budget + 64 };
    size_t n;

    w.flags = (options->bos ? GG_ENCODE_BOS : 0) |
              (options->eos ? GG_ENCODE_EOS : 0) | tokenize_flags(options);
    for (; (n = next_piece(&w)); w.pieces++) {
        write_piece(&w, n);
        w.at += n;
        w.window = n + n / 4 + 64;
    }
    if (options->verbose)
        cli_warn("%s: %llu pieces, %llu cuts within a line", options->input,
                 (unsigned long long)w.pieces, (unsigned long long)w.cut_lines);
    free(w.text.p);
    free(w.ids);
    free(w.ranges);
    return EXIT_SUCCESS;
}
