/* part.c - the bytes of what is drawn, by the part that they belong to */
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

/* ---- the parts ----------------------------------------------------------- */

static bool
put_bytes(struct gg_text *t, enum gg_part part, const char *p, size_t n)
{
    return engine_bytes_add(&t->parts[part].bytes, p, n);
}

/* Adds bytes of a part to all. Where a message's header says which part it is,
 * as none of it shows, an empty line parts them. */
static bool
put_all(struct gg_text *t, enum gg_part part, const char *p, size_t n)
{
    bool other = t->last != part && t->last != GG_PART_ALL;

    t->last = part;
    return (!other || !chat_answer_is_framed(&t->answer) ||
            put_bytes(t, GG_PART_ALL, "\n\n", 2)) &&
           put_bytes(t, GG_PART_ALL, p, n);
}

/* Copies text[from..), which the stop strings have let pass. */
static bool
copy_text(struct gg_text *t, size_t from)
{
    const struct engine_bytes *text = &t->parts[GG_PART_TEXT].bytes;

    return !t->answer.reader || text->len == from ||
           put_all(t, GG_PART_TEXT, text->p + from, text->len - from);
}

/* Bytes that could have been a stop string are text: none goes on after
 * them. */
static bool
end_text(struct gg_text *t)
{
    struct engine_bytes *text = &t->parts[GG_PART_TEXT].bytes;
    size_t before = text->len;

    return t->stop.held.len == 0 ||
           (engine_stop_end(&t->stop, text) && copy_text(t, before) &&
            engine_stop_start(&t->stop, t->params.stop));
}

static bool
add_text(struct gg_text *t, const char *p, size_t n)
{
    struct engine_bytes *text = &t->parts[GG_PART_TEXT].bytes;
    size_t before = text->len;
    bool found;

    if (!engine_stop_add(&t->stop, p, n, text, &found) || !copy_text(t, before))
        return false;
    t->stopped = found;
    return !found;
}

static bool
put_part(void *data, enum gg_part part, const char *p, size_t n, bool control)
{
    struct gg_text *t = data;
    bool special = t->params.decode_flags & GG_DECODE_SPECIAL;
    bool shown = !control || special;

    if (part == GG_PART_TEXT)
        return !shown || add_text(t, p, n);
    if (!end_text(t))
        return false;
    if (part == GG_PART_CALLS || (part == GG_PART_REASONING && shown))
        if (!put_bytes(t, part, p, n))
            return false;
    if (part == GG_PART_ALL) {
        shown = shown && (special || !chat_answer_is_framed(&t->answer));
        return !shown || put_bytes(t, part, p, n);
    }
    return !shown || put_all(t, part, p, n);
}

/* ---- tokens -------------------------------------------------------------- */

static void
forget_taken(struct text_part *part)
{
    struct engine_bytes *b = &part->bytes;

    b->len -= part->n_taken;
    if (b->len && part->n_taken)
        memmove(b->p, b->p + part->n_taken, b->len);
    part->n_gone += part->n_taken;
    part->n_taken = 0;
}

/* To t->piece. */
static enum gg_status
decode(struct gg_text *t, int32_t id, size_t *n, struct gg_error *err)
{
    unsigned flags =
        t->params.decode_flags | (t->answer.reader ? GG_DECODE_SPECIAL : 0);
    struct gg_decode_state next;
    enum gg_status st;

    for (;;) {
        next = t->decode;
        st = gg_vocab_decode(t->sequence->engine->vocab, &next, id, flags,
                             t->piece, t->cap_piece, n, err);
        if (st != GG_OK || *n <= t->cap_piece)
            break;
        if (!mem_grow(&t->piece, &t->cap_piece, *n, 1))
            return error_nomem(err);
    }
    if (st == GG_OK)
        t->decode = next;
    return st;
}

static bool
is_hidden(const struct gg_text *t, int32_t id)
{
    enum gg_token_type type = gg_vocab_type(t->sequence->engine->vocab, id);

    return type == GG_TOKEN_CONTROL || type == GG_TOKEN_UNKNOWN;
}

/* The end of generation ends calls, and is none of them. */
static bool
add_piece(struct gg_text *t, int32_t id, size_t n)
{
    bool hidden = is_hidden(t, id);

    if (t->answer.state == CHAT_ANSWER_CALLS &&
        gg_vocab_is_eog(t->sequence->engine->vocab, id) &&
        !chat_answer_stops(&t->answer, t->piece, n))
        return chat_answer_end(&t->answer, put_part, t) &&
               put_part(t, GG_PART_ALL, t->piece, n, hidden);
    return chat_answer_add(&t->answer, t->piece, n, hidden, put_part, t);
}

/* So that no memory is wanted when the text ends. */
static bool
reserve(struct gg_text *t)
{
    size_t held = t->answer.n + t->stop.held.len;
    bool done = mem_grow(&t->stop.held.p, &t->stop.held.cap, held, 1);

    for (int i = 0; i <= GG_PART_ALL && done; i++)
        done = mem_grow(&t->parts[i].bytes.p, &t->parts[i].bytes.cap,
                        t->parts[i].bytes.len + held + 2, 1);
    return done;
}

enum gg_status
engine_part_add(struct gg_text *t, int32_t id, bool *found,
                struct gg_error *err)
{
    bool done;
    size_t n;
    enum gg_status st = decode(t, id, &n, err);

    if (st != GG_OK)
        return st;
    for (int i = 0; i <= GG_PART_ALL; i++)
        forget_taken(&t->parts[i]);
    done = t->answer.reader ? add_piece(t, id, n) : add_text(t, t->piece, n);
    *found = t->stopped;
    if (t->stopped)
        chat_answer_drop(&t->answer);
    else if (!done)
        return error_nomem(err);
    return reserve(t) ? GG_OK : error_nomem(err);
}

/* ---- all of it ----------------------------------------------------------- */

static enum gg_status
start_parts(struct gg_text *t, struct gg_error *err)
{
    t->decode = (struct gg_decode_state){ .started = t->params.goes_on };
    t->stopped = false;
    t->last = GG_PART_ALL;
    for (int i = 0; i <= GG_PART_ALL; i++)
        t->parts[i].bytes.len = t->parts[i].n_taken = t->parts[i].n_gone = 0;
    return engine_stop_start(&t->stop, t->params.stop) ? GG_OK
                                                       : error_nomem(err);
}

enum gg_status
engine_part_start(struct gg_text *t, struct gg_error *err)
{
    const struct gg_sequence *q = t->sequence;
    enum gg_status st = start_parts(t, err);

    if (st == GG_OK)
        st = chat_answer_begin(&t->answer, t->params.reader, q->ids, q->n_ids,
                               err);
    t->begun = t->answer;
    return st;
}

/* ---- what is taken back -------------------------------------------------- */

enum gg_status
engine_part_mark(struct gg_text *t, struct gg_error *err)
{
    if (!t->ban)
        return GG_OK;
    if (!mem_grow(&t->marks, &t->cap_marks, t->n_made, sizeof(*t->marks)))
        return error_nomem(err);
    for (int i = 0; i <= GG_PART_ALL; i++)
        t->marks[t->n_made - 1].len[i] =
            t->parts[i].n_gone + t->parts[i].bytes.len;
    return GG_OK;
}

size_t
gg_text_settled(const struct gg_text *text)
{
    if (!text)
        return 0;
    return text->finish == GG_FINISH_NONE
               ? text->n_made - gg_ban_open(text->ban)
               : text->n_made;
}

/* The bytes of a part that are there whatever is taken back. */
static size_t
settled_bytes(const struct gg_text *t, enum gg_part part)
{
    size_t n = gg_text_settled(t);

    if (!t->ban || t->finish != GG_FINISH_NONE)
        return t->parts[part].bytes.len;
    return n ? t->marks[n - 1].len[part] - t->parts[part].n_gone : 0;
}

static void
begin_answer(struct gg_text *t)
{
    struct chat_answer *a = &t->answer;

    chat_answer_drop(a);
    a->state = t->begun.state;
    a->begins = t->begun.begins;
    a->after_thought = t->begun.after_thought;
    a->fresh = t->begun.fresh;
    a->blank = t->begun.blank;
    a->ended = t->begun.ended;
}

/* All of it is made again, from its ids; bytes that were taken are there no
 * more. */
enum gg_status
engine_part_back(struct gg_text *t, size_t n, struct gg_error *err)
{
    size_t taken[GG_PART_ALL + 1];
    enum gg_status st;
    bool found;

    for (int i = 0; i <= GG_PART_ALL; i++)
        taken[i] = t->parts[i].n_gone + t->parts[i].n_taken;
    st = start_parts(t, err);
    begin_answer(t);
    t->n_thought = 0;
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        t->n_thought += t->answer.state == CHAT_ANSWER_THOUGHT;
        st = engine_part_add(t, t->made[i], &found, err);
    }
    for (int i = 0; i <= GG_PART_ALL && st == GG_OK; i++) {
        t->parts[i].n_taken = taken[i];
        forget_taken(&t->parts[i]);
    }
    return st;
}

void
engine_part_clear(struct gg_text *t)
{
    engine_stop_clear(&t->stop);
    chat_answer_clear(&t->answer);
    for (int i = 0; i <= GG_PART_ALL; i++)
        mem_free(t->parts[i].bytes.p);
    mem_free(t->piece);
}

/* There is room for what is held. */
static void
let_go(struct gg_text *t)
{
    if (!t->stopped)
        (void)chat_answer_end(&t->answer, put_part, t);
    (void)end_text(t);
}

const char *
gg_text_take_part(struct gg_text *text, enum gg_part part, size_t *len)
{
    struct text_part *p;
    size_t begin;

    if (len)
        *len = 0;
    if (!text || !len || (unsigned)part > GG_PART_ALL)
        return "";
    if (text->finish != GG_FINISH_NONE)
        let_go(text);
    if (part == GG_PART_ALL && !text->answer.reader)
        part = GG_PART_TEXT;
    p = &text->parts[part];
    begin = p->n_taken;
    p->n_taken = settled_bytes(text, part);
    *len = p->n_taken - begin;
    return p->bytes.p ? p->bytes.p + begin : "";
}

const char *
gg_text_take(struct gg_text *text, size_t *len)
{
    return gg_text_take_part(text, GG_PART_TEXT, len);
}

enum gg_part
gg_text_part(const struct gg_text *text)
{
    return text ? chat_answer_part(&text->answer) : GG_PART_TEXT;
}
