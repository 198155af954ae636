/* job.c - a stretch of the input, and what is written for it */
#include <config.h>

#include "gg-tokenize/job.h"

#include <stdlib.h>

#include "common/projector.h"
#include "common/reasoning.h"
#include "gg-tokenize/format.h"
#include "gg-tokenize/media.h"
#include "gg-tokenize/pair.h"

struct work {
    struct job *job;
    const struct gg_vocab *vocab;
    const struct tokenize_options *o;
};

/* One text, or a stretch of one, and its ids. */
struct piece {
    const char *text;
    size_t len;
    unsigned flags;  /* GG_ENCODE_... */
    uint64_t before; /* bytes of its record in front of it */
    const int32_t *ids;
    const struct gg_range *ranges; /* or NULL */
    size_t n;
};

static enum gg_status
refuse_control(struct work *w, const struct piece *p, struct gg_error *err)
{
    size_t at, n;
    int32_t id = gg_vocab_find_control(w->vocab, p->text, p->len, &at);
    const char *token = id < 0 ? NULL : gg_vocab_token(w->vocab, id, &n);
    char shown[128];

    if (id < 0)
        return GG_OK;
    return cli_error(err, GG_ERR_FORMAT, "control token %s at byte %llu",
                     gg_escape(shown, sizeof(shown), token, n),
                     (unsigned long long)(p->before + at));
}

static enum gg_status
encode(struct work *w, const struct piece *p, struct gg_encoded *made,
       struct gg_error *err)
{
    const char *suffix = w->o->suffix;
    struct job *job = w->job;

    if (!suffix)
        return gg_vocab_encode(w->vocab, p->text, p->len, p->flags, job->ids,
                               job->cap_ids, made, err);
    return gg_vocab_encode_infill(w->vocab, p->text, p->len, suffix,
                                  strlen(suffix), p->flags, job->ids,
                                  job->cap_ids, made, err);
}

static enum gg_status
encode_text(struct work *w, struct piece *p, struct gg_error *err)
{
    struct job *job = w->job;
    /* an id takes at least a byte, but for few */
    struct gg_encoded made = { .n = p->len + 3 };
    enum gg_status st;

    do {
        if (made.n > job->cap_ids) {
            job->cap_ids =
                made.n > 2 * job->cap_ids ? made.n : 2 * job->cap_ids;
            job->ids = cli_alloc(job->ids, job->cap_ids, sizeof(*job->ids));
        }
        st = encode(w, p, &made, err);
    } while (st == GG_OK && made.n > job->cap_ids);
    job->n_left_out += st == GG_OK ? made.left_out : 0;
    p->n = st == GG_OK ? made.n : 0;
    return st;
}

/* Ids that stand with rows of media among them. */
static void
take_placed(struct work *w, struct piece *p)
{
    struct job *job = w->job;
    int32_t *ids = job->ids;
    size_t cap = job->cap_ids;

    job->ids = job->placed.ids;
    job->cap_ids = job->placed.cap;
    job->placed.ids = ids;
    job->placed.cap = cap;
    p->n = job->placed.n;
}

static enum gg_status
place_media(struct work *w, struct piece *p, const struct chat *chat,
            struct gg_error *err)
{
    enum gg_status st = tokenize_media_chat(w->job, w->o, w->vocab, chat,
                                            w->job->ids, p->n, err);

    if (st == GG_OK)
        take_placed(w, p);
    return st;
}

static enum gg_status
read_chat(struct work *w, struct chat *chat, const struct piece *p,
          struct gg_error *err)
{
    const struct tokenize_options *o = w->o;
    bool lines = !o->records || o->end != '\n';
    enum gg_status st = GG_OK;

    if (o->typed)
        chat_append(chat, GG_ROLE_USER, p->text, p->len);
    else
        st = chat_read(chat, o->chat, p->text, p->len, lines, err);
    if (st != GG_OK)
        tokenize_media_lost(w->job, o);
    if (st == GG_OK && o->media && !o->records && chat->n_media == 0)
        st = tokenize_media_before(o, chat, err);
    return st;
}

static enum gg_status
encode_chat(struct work *w, struct piece *p, struct gg_error *err)
{
    const struct tokenize_options *o = w->o;
    const struct gg_chat_params params = { .flags = o->chat_flags,
                                           .date = o->chat_date,
                                           .plainer = &w->job->plainer };
    struct chat chat = { .takes_media = o->media || o->intake,
                         .has_job_media = o->media,
                         .intake = o->intake,
                         .why_none = o->records && !o->media
                                         ? "--mmproj names the projector of "
                                           "images and sounds"
                                         : projector_why_missing(),
                         .next_medium = *w->job->medium };
    enum gg_status st = read_chat(w, &chat, p, err);

    if (st == GG_OK)
        st = reasoning_give_arguments(&chat, o->chat_arguments, err);
    if (st == GG_OK)
        st = chat_encode(w->vocab, o->chat, &chat, &params, &w->job->ids,
                         &w->job->cap_ids, &p->n, &w->job->n_left_out, err);
    if (st == GG_OK && (o->media || chat.n_media))
        st = place_media(w, p, &chat, err);
    chat_clear(&chat);
    return st;
}

static enum gg_status
find_ranges(struct work *w, struct piece *p, struct gg_error *err)
{
    struct job *job = w->job;

    if (p->n > job->cap_ranges) {
        job->cap_ranges = p->n;
        job->ranges =
            cli_alloc(job->ranges, job->cap_ranges, sizeof(*job->ranges));
    }
    p->ranges = job->ranges;
    return gg_vocab_offsets(w->vocab, p->text, p->len, p->flags, p->ids, p->n,
                            job->ranges, err);
}

/* Takes ids out at one end, but neither BOS nor EOS. */
static enum gg_status
limit(struct work *w, struct piece *p, struct gg_error *err)
{
    const struct tokenize_options *o = w->o;
    size_t bos = o->bos && !o->chat, from, to, moved;
    size_t ends = o->chat ? 0 : o->n_ends;

    if (p->n <= o->max)
        return GG_OK;
    if (o->truncate == TRUNCATE_NOT)
        return cli_error(err, GG_ERR_FORMAT, "%zu tokens, more than %zu", p->n,
                         o->max);
    moved = o->truncate == TRUNCATE_LEFT ? o->max - bos : ends;
    from = p->n - moved;
    to = o->max - moved;
    memmove(w->job->ids + to, w->job->ids + from, moved * sizeof(int32_t));
    if (p->ranges)
        memmove(w->job->ranges + to, w->job->ranges + from,
                moved * sizeof(struct gg_range));
    p->n = o->max;
    w->job->n_cut++;
    return GG_OK;
}

static enum gg_status
encode_piece(struct work *w, struct piece *p, struct gg_error *err)
{
    const struct tokenize_options *o = w->o;
    enum gg_status st = GG_OK;

    if (o->chat) {
        st = encode_chat(w, p, err);
    } else {
        p->flags |= tokenize_flags(o);
        if (o->special == SPECIAL_ERROR)
            st = refuse_control(w, p, err);
        if (st == GG_OK && o->media) {
            st = tokenize_media_text(w->job, o, w->vocab, p->text, p->len,
                                     p->flags, err);
            take_placed(w, p);
        } else if (st == GG_OK) {
            st = encode_text(w, p, err);
        }
    }
    p->ids = w->job->ids;
    if (st == GG_OK && o->offsets)
        st = find_ranges(w, p, err);
    if (st == GG_OK && o->max)
        st = limit(w, p, err);
    return st;
}

static void
format(struct work *w, const struct piece *p)
{
    const struct tokenize_options *o = w->o;
    struct buffer *out = &w->job->out;

    w->job->n_ids += p->n;
    if (o->binary)
        format_binary(out, p->ids, p->n, o->binary);
    else if (o->pieces || o->offsets)
        format_table(out, w->vocab, p->ids, p->n, p->ranges, p->before,
                     o->pieces);
    else if (!o->count)
        format_ids(out, p->ids, p->n);
}

/* ---- records ---- */

/* Before the ids of a record, and of each of its fields. */
static void
begin_line(struct work *w, uint64_t sequence)
{
    const struct tokenize_options *o = w->o;

    if (!o->records || o->count || o->pieces || o->offsets || o->binary)
        return;
    format_number(&w->job->out, sequence);
    buffer_char(&w->job->out, '\t');
}

/* Takes the escapes out of a text that goes on through `p` then. */
static enum gg_status
unescape(struct buffer *plain, struct piece *p, struct gg_error *err)
{
    plain->len = 0;
    buffer_room(plain, 1); /* of an empty text, too */
    for (size_t i = 0; i < p->len; i++) {
        const char *name = NULL;

        if (p->text[i] != '\\') {
            buffer_char(plain, p->text[i]);
            continue;
        }
        if (++i < p->len && p->text[i])
            name = strchr("nt\\", p->text[i]);
        if (!name)
            return cli_error(
                err, GG_ERR_FORMAT,
                "a backslash without n, t or a backslash after it");
        buffer_char(plain, *name == 'n' ? '\n' : *name == 't' ? '\t' : '\\');
    }
    p->text = plain->p;
    p->len = plain->len;
    return GG_OK;
}

/* The text, with --prefix's text in front of it. */
static void
put_prefix(struct work *w, struct piece *p)
{
    struct buffer *b = &w->job->prefixed;

    b->len = 0;
    buffer_add(b, w->o->prefix, strlen(w->o->prefix));
    buffer_add(b, p->text, p->len);
    p->text = b->p;
    p->len = b->len;
}

/* ---- pairs --------------------------------------------------------------- */

static enum gg_status
encode_pair_text(void *data, const char *text, size_t len, unsigned flags,
                 const int32_t **ids, size_t *n, struct gg_error *err)
{
    struct work *w = data;
    struct piece p = { .text = text,
                       .len = len,
                       .flags = flags | tokenize_flags(w->o) };
    enum gg_status st = encode_text(w, &p, err);

    *ids = w->job->ids;
    *n = p.n;
    return st;
}

static enum gg_status
encode_pair(struct work *w, const char *text, size_t len, uint64_t sequence,
            struct gg_error *err)
{
    struct job *job = w->job;
    struct piece p = { .text = text, .len = len };
    struct pair pair = { { 0 }, { 0 } };
    enum gg_status st = ranked_pair_read(&pair, text, len, err);

    job->pair.encode = encode_pair_text;
    job->pair.data = w;
    if (st == GG_OK)
        st = ranked_pair_encode(&pair, w->vocab, &job->pair, err);
    ranked_pair_clear(&pair);
    if (st != GG_OK)
        return st;
    p.n = job->pair.n;
    if (p.n > job->cap_ids)
        job->ids = cli_alloc(job->ids, job->cap_ids = p.n, sizeof(*job->ids));
    if (p.n)
        memcpy(job->ids, job->pair.ids, p.n * sizeof(*job->ids));
    p.ids = job->ids;
    if (w->o->max)
        st = limit(w, &p, err);
    if (st != GG_OK)
        return st;
    begin_line(w, sequence);
    format(w, &p);
    if (w->o->count)
        format_number(&job->out, p.n);
    return GG_OK;
}

/* ---- fields -------------------------------------------------------------- */

/* The fields of a record; each goes on from the one before. */
static enum gg_status
encode_fields(struct work *w, const char *text, size_t len, uint64_t sequence,
              struct gg_error *err)
{
    const struct tokenize_options *o = w->o;
    bool more = true;
    size_t at = 0;

    for (size_t i = 0; more; i++) {
        struct piece p = { .text = text + at, .before = at };
        const char *tab = o->fields ? memchr(p.text, '\t', len - at) : NULL;
        enum gg_status st;

        more = tab != NULL;
        p.len = more ? (size_t)(tab - p.text) : len - at;
        p.flags = i ? GG_ENCODE_CONTINUE : o->bos ? GG_ENCODE_BOS : 0;
        p.flags |= !more && o->eos ? GG_ENCODE_EOS : 0;
        at += p.len + 1;
        st = o->escapes ? unescape(&w->job->plain, &p, err) : GG_OK;
        if (st == GG_OK && i == 0 && o->prefix)
            put_prefix(w, &p);
        if (st == GG_OK)
            st = encode_piece(w, &p, err);
        if (st == GG_OK && p.n == 0 && (i || more) && !o->count)
            st =
                cli_error(err, GG_ERR_FORMAT, "field %zu has no tokens", i + 1);
        if (st != GG_OK)
            return st;
        begin_line(w, sequence);
        format(w, &p);
        if (o->count)
            format_number(&w->job->out, p.n);
        if (more)
            buffer_char(&w->job->out, o->count ? '\t' : '\n');
    }
    return GG_OK;
}

/* A record that cannot be encoded is passed on as such. */
static void
run_record(struct work *w, const char *text, size_t len, uint64_t sequence)
{
    const struct tokenize_options *o = w->o;
    struct job *job = w->job;
    size_t before = job->out.len;
    uint64_t n_ids = job->n_ids;
    char line[sizeof(job->err.message) + 64];
    struct gg_error err;
    enum gg_status st = o->pairs ? encode_pair(w, text, len, sequence, &err)
                                 : encode_fields(w, text, len, sequence, &err);

    if (st == GG_ERR_NOMEM) /* which is no fault of the record's */
        cli_check(st, &err);
    if (st != GG_OK) {
        int n = snprintf(line, sizeof(line), "record %llu: %s",
                         (unsigned long long)sequence, err.message);

        buffer_add(&job->warnings, line, (size_t)n + 1);
        job->failed = true;
        job->n_ids = n_ids;
        job->out.len = before;
        if (o->binary)
            return;
        begin_line(w, sequence);
        buffer_char(&job->out, '!');
        buffer_add(&job->out, err.message, strlen(err.message));
        if (o->pieces || o->offsets)
            buffer_char(&job->out, '\n');
    }
    if (!o->binary)
        buffer_char(&job->out, '\n');
}

static void
run_records(struct work *w)
{
    const char *p = w->job->text.p, *stop = p + w->job->text.len;
    uint64_t sequence = w->job->sequence;

    while (p < stop) {
        const char *end = memchr(p, w->o->end, (size_t)(stop - p));

        end = end ? end : stop; /* the last one may lack its end */
        if (shard_has(&w->o->shard, sequence))
            run_record(w, p, (size_t)(end - p), sequence);
        else
            tokenize_media_skip(w->job, w->o, p, (size_t)(end - p));
        sequence++;
        p = end + 1;
    }
}

/* ---- one text ---- */

static void
run_part(struct work *w)
{
    const struct tokenize_options *o = w->o;
    struct job *job = w->job;
    struct piece p = { .text = job->text.p,
                       .len = job->text.len,
                       .before = job->before };

    p.flags = (job->first ? 0u : GG_ENCODE_CONTINUE) |
              (job->first && o->bos ? GG_ENCODE_BOS : 0u) |
              (job->last && o->eos ? GG_ENCODE_EOS : 0u);
    job->failed = encode_piece(w, &p, &job->err) != GG_OK;
    if (!job->failed)
        format(w, &p);
}

void
job_run(struct job *job, const struct gg_vocab *vocab,
        const struct tokenize_options *options)
{
    struct work w = { .job = job, .vocab = vocab, .o = options };

    job->out.len = job->warnings.len = 0;
    job->n_ids = job->n_cut = job->n_left_out = 0;
    job->plainer = 0;
    job->failed = false;
    if (job->part)
        run_part(&w);
    else
        run_records(&w);
}

void
job_clear(struct job *job)
{
    free(job->text.p);
    free(job->out.p);
    free(job->warnings.p);
    free(job->plain.p);
    free(job->prefixed.p);
    free(job->pair.ids);
    free(job->placed.ids);
    free(job->placed.text.p);
    free(job->ids);
    free(job->ranges);
}
