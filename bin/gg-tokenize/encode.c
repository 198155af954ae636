/* encode.c - text to lines of ids */
#include <config.h>

#include "common/chat.h"
#include "common/cli.h"
#include "gg-tokenize/tokenize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Grows, and is used for one record after the other. */
struct work {
    const struct gg_vocab *vocab;
    const struct tokenize_options *options;
    int32_t *ids;
    size_t cap;
    uint64_t sequence; /* of the record, from 1 */
    uint64_t bytes, n_ids;
    int status;
};

/* The ids of a text to w->ids; *n gets their number. */
static enum gg_status
encode_text(struct work *w, const char *text, size_t len, size_t *n,
            struct gg_error *err)
{
    unsigned flags = (w->options->bos ? GG_ENCODE_BOS : 0) |
                     (w->options->special ? GG_ENCODE_SPECIAL : 0);
    enum gg_status st = GG_OK;
    size_t need = len + 2; /* an id takes at least a byte, but for few */

    do {
        if (need > w->cap) {
            w->cap = need > 2 * w->cap ? need : 2 * w->cap;
            w->ids = cli_alloc(w->ids, w->cap, sizeof(*w->ids));
        }
        st = gg_vocab_encode(w->vocab, text, len, flags, w->ids, w->cap, &need,
                             err);
    } while (st == GG_OK && need > w->cap);
    if (st == GG_OK)
        *n = need;
    return st;
}

static enum gg_status
encode_chat(struct work *w, const char *text, size_t len, size_t *n,
            struct gg_error *err)
{
    const struct tokenize_options *o = w->options;
    bool lines = !o->records || o->end != '\n';
    struct chat chat = { 0 };
    enum gg_status st = chat_read(&chat, text, len, lines, err);

    if (st == GG_OK)
        st = chat_encode(w->vocab, o->chat, &chat, 0, o->chat_flags, &w->ids,
                         &w->cap, n, err);
    chat_clear(&chat);
    return st;
}

static enum gg_status
encode(struct work *w, const char *text, size_t len, size_t *n,
       struct gg_error *err)
{
    w->bytes += len;
    return w->options->chat ? encode_chat(w, text, len, n, err)
                            : encode_text(w, text, len, n, err);
}

/* Writes decimal ids, a blank between two; printf() would take as long as
 * encoding does. */
static void
print_ids(const int32_t *ids, size_t n)
{
    char buf[4096];
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        char digits[12];
        int k = sizeof(digits);
        uint32_t id = (uint32_t)ids[i];

        do
            digits[--k] = (char)('0' + id % 10);
        while (id /= 10);
        if (i > 0)
            digits[--k] = ' ';
        if (used + sizeof(digits) > sizeof(buf)) {
            fwrite(buf, 1, used, stdout);
            used = 0;
        }
        memcpy(buf + used, digits + k, sizeof(digits) - (size_t)k);
        used += sizeof(digits) - (size_t)k;
    }
    fwrite(buf, 1, used, stdout);
}

static void
encode_whole(struct work *w)
{
    const struct tokenize_options *o = w->options;
    struct gg_error err;
    size_t len, n;
    char *text = cli_read_all(o->fd, o->input, &len);
    enum gg_status st = encode(w, text, len, &n, &err);

    if (st != GG_OK)
        cli_die("%s: %s", o->input, err.message);
    if (len == 0 && !o->empty && !o->chat)
        cli_die("%s: the text is empty", o->input);
    w->n_ids = n;
    print_ids(w->ids, n);
    putchar('\n');
    free(text);
}

/* A record that cannot be encoded is passed on as such. */
static void
encode_record(struct work *w, const char *text, size_t len)
{
    struct gg_error err;
    size_t n;
    enum gg_status st = encode(w, text, len, &n, &err);

    printf("%llu\t", (unsigned long long)++w->sequence);
    if (st == GG_OK) {
        w->n_ids += n;
        print_ids(w->ids, n);
    } else {
        cli_warn("%s: record %llu: %s", w->options->input,
                 (unsigned long long)w->sequence, err.message);
        printf("!%s", err.message);
        w->status = EXIT_FAILURE;
    }
    putchar('\n');
}

/* Text that was read and is not used yet is at text[start .. end). */
struct input {
    char *text;
    size_t start, end, cap;
};

/* False: the input has ended. */
static bool
read_more(struct input *in, const struct tokenize_options *o)
{
    ssize_t n;

    if (in->start)
        memmove(in->text, in->text + in->start, in->end - in->start);
    in->end -= in->start;
    in->start = 0;
    if (in->cap - in->end < 1 << 16)
        in->text = cli_alloc(in->text, in->cap = 2 * in->cap + (1 << 17), 1);
    do
        n = read(o->fd, in->text + in->end, in->cap - in->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        cli_die("%s: %s", o->input, strerror(errno));
    in->end += (size_t)n;
    return n > 0;
}

/* Encodes the whole records that are there. `seen`: bytes that hold no end of
 * a record, so that a long one is not searched again and again. */
static void
encode_records(struct work *w, struct input *in, size_t *seen)
{
    char *end;

    while ((end = memchr(in->text + in->start + *seen, w->options->end,
                         in->end - in->start - *seen))) {
        encode_record(w, in->text + in->start,
                      (size_t)(end - in->text) - in->start);
        in->start = (size_t)(end - in->text) + 1;
        *seen = 0;
    }
    *seen = in->end - in->start;
}

/* Records are written as soon as they are there: whoever writes them may wait
 * for the answer. */
static void
encode_stream(struct work *w)
{
    struct input in = { 0 };
    size_t seen = 0;

    while (read_more(&in, w->options)) {
        encode_records(w, &in, &seen);
        cli_flush();
    }
    if (in.end > in.start) /* the last one may lack its end */
        encode_record(w, in.text + in.start, in.end - in.start);
    free(in.text);
}

int
tokenize_encode(const struct gg_vocab *vocab,
                const struct tokenize_options *options)
{
    struct work w = { .vocab = vocab, .options = options };

    if (options->records)
        encode_stream(&w);
    else
        encode_whole(&w);
    if (options->verbose)
        cli_warn("%s: %llu bytes, %llu ids", options->input,
                 (unsigned long long)w.bytes, (unsigned long long)w.n_ids);
    free(w.ids);
    return w.status;
}
