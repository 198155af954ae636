/* jsonl.c - records that are objects in JSON, a line each */
#include <config.h>

#include "gg-generate/records.h"

#ifdef HAVE_JANSSON

#include <string.h>

#include "common/records/batch.h"
#include "common/records/jsonl.h"
#include "common/spare.h"
#include "gg-generate/stream.h"
#include "gg-generate/vectors.h"

enum {
    COPIES = 24, /* bytes that a byte of a record takes in texts and ids */
};

/* ---- reading ---- */

static enum gg_status
encode_text(struct generate *g, struct record *r,
            const struct request_prompt *p, struct gg_error *err)
{
    bool empty = p->len == 0 && (!g->o->prompt || !*g->o->prompt) &&
                 r->request.suffix.len == 0 && !g->o->suffix;
    enum gg_status st = record_take_prompt(g, r, p->text, p->len, err);

    if (st == GG_OK && !r->prompt.goes_on &&
        (r->prompt.n == 0 || (empty && g->o->bos != BOS_FIRST)))
        st = cli_error(err, GG_ERR_FORMAT, "the prompt is empty");
    return st;
}

static enum gg_status
encode_one(struct generate *g, struct record *r, const struct request_prompt *p,
           struct gg_error *err)
{
    if (p->kind == REQUEST_MESSAGES)
        return record_encode(g, r, true, p->text, p->len, err);
    if (p->kind == REQUEST_IDS)
        return record_take_ids(g, r, p->ids, p->n_ids, err);
    return encode_text(g, r, p, err);
}

/* Choices and echoes are those of one prompt. */
static enum gg_status
encode_prompts(struct generate *g, struct record *r, struct gg_error *err)
{
    const struct request *asked = &r->request;
    enum gg_status st = GG_OK;

    r->answers.n = asked->n_answers;
    if (asked->n_prompts == 1)
        return encode_one(g, r, asked->prompts, err);
    if (g->o->choices.n || g->o->echo)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "prompt: several, with echo or choice");
    for (size_t i = 0; i < asked->n_prompts && st == GG_OK; i++) {
        st = encode_one(g, r, &asked->prompts[i], err);
        record_next_prompt(r);
    }
    record_end_prompts(r);
    return st;
}

/* The likelihoods of a prompt go with a text alone. */
static enum gg_status
check_likely(const struct generate *g, const struct record *r,
             struct gg_error *err)
{
    if (r->request.echo && !r->request.batch && g->o->chat)
        return cli_error(err, GG_ERR_UNSUPPORTED, "echo: not of a chat");
    if (request_wants_prompt(&r->request) &&
        (g->base.sequence || g->o->suffix || g->o->choices.n))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "echo: with logprobs there is no state, suffix or "
                         "choice");
    return GG_OK;
}

static const struct writer batch_writer;

/* They are there at once, unless others go on meanwhile. */
static enum gg_status
take_vectors(struct generate *g, struct record *r, struct gg_error *err)
{
    enum gg_status st = vectors_open(g, &r->request, &r->vectors, err);

    return st == GG_OK && !g->o->unordered
               ? vectors_answer(g, &r->request, r->vectors, &r->out, err)
               : st;
}

/* Embeddings and scores are no texts; all else is made of the prompts. */
static enum gg_status
take_request(struct generate *g, struct record *r, struct gg_error *err)
{
    enum gg_status st;

    if (r->request.batch && r->request.batch->kind == BATCH_EMBEDS)
        return take_vectors(g, r, err);
    if (r->request.batch && r->request.batch->kind == BATCH_RANKS)
        return ranks_answer(g, &r->request, &r->out, err);
    if (gg_model_is_encoder(g->engine.model))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "the model is an encoder, which makes embeddings "
                         "alone");
    st = check_likely(g, r, err);
    return st == GG_OK ? encode_prompts(g, r, err) : st;
}

/* The object is a request, or has one of OpenAI's batch file. */
static enum gg_status
read_object(struct generate *g, struct record *r,
            const struct record_object *object, struct gg_error *err)
{
    bool is_batch = batch_is(&object->value);
    enum gg_status st;

    if (is_batch)
        r->writer = &batch_writer;
    else
        jsonl_pass_through(object, &r->text);
    st = request_read(&g->requests, &r->request, object, err);
    stream_open(g, r, object);
    r->is_read = true;
    if (st == GG_OK && is_batch)
        (void)generate_date(g); /* which answers have */
    if (st == GG_OK && !r->stopped)
        st = take_request(g, r, err);
    if (st == GG_OK && r->stream && r->prompt.contest.n)
        st = cli_error(err, GG_ERR_UNSUPPORTED,
                       "stream: nothing is drawn with choices");
    request_clear_prompts(&r->request);
    return st;
}

static enum gg_status
read_jsonl(struct generate *g, struct record *r, const char *text, size_t len,
           struct gg_error *err)
{
    struct record_value value;
    struct record_object object;
    enum gg_status st = record_value_read(text, len, &value, err);
    uint64_t number;

    if (st == GG_OK && g->o->numbered && !jsonl_number(&value, &number))
        st = cli_error(err, GG_ERR_FORMAT, JSONL_NUMBER ": not a whole number");
    record_object_open(&value, &object);
    if (st == GG_OK)
        st = spare_check(len, COPIES, err);
    if (st == GG_OK)
        st = read_object(g, r, &object, err);
    record_object_close(&object);
    record_value_clear(&value);
    return st;
}

static bool
number_of_jsonl(const char *text, size_t len, uint64_t *number)
{
    struct record_value object;
    struct gg_error err;
    bool found = record_value_read(text, len, &object, &err) == GG_OK &&
                 jsonl_number(&object, number);

    record_value_clear(&object);
    return found;
}

/* ---- writing ---- */

/* One that nobody has said, and something depends on; or NULL. */
static const uint64_t *
seed_of(const struct record *r)
{
    const struct sampling_options *s = &r->request.sampling;

    return r->request.has_seed || s->params.temperature == 0 || s->none
               ? NULL
               : &s->params.seed;
}

static struct logprobs_texts
texts_of(const struct generate *g, const struct record *r, size_t which,
         const struct answer *a)
{
    bool stop = gg_text_finish(a->made) == GG_FINISH_STOP;

    return (struct logprobs_texts){
        .vocab = g->engine.vocab,
        .flags = g->o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0,
        .goes_on = record_prompt(r, which)->goes_on,
        .text = stop || a->is_parted ? &a->text : NULL,
    };
}

static struct record_answer
answer_of(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a)
{
    struct record_answer out = { .echo = r->out,
                                 .text = a->text,
                                 .reasoning = a->reasoning,
                                 .tool_calls = a->tool_calls,
                                 .logprob = a->logprob,
                                 .finish = a->made ? gg_text_finish(a->made)
                                                   : GG_FINISH_LENGTH,
                                 .logprobs = &a->logprobs,
                                 .texts = texts_of(g, r, which, a),
                                 .seed = seed_of(r) };

    out.ids = gg_text_ids(a->made, &out.n_ids);
    if (g->o->unordered)
        out.stop = gg_text_stop(a->made, &out.n_stop);
    return out;
}

static void
add_jsonl(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct buffer *out)
{
    struct record_answer one = answer_of(g, r, which, a);

    if (gg_text_error(a->made))
        return;
    if (g->o->show_reasoning != SHOW_REASONING)
        one.reasoning.len = 0;
    buffer_add(out, r->text.p, r->text.len);
    jsonl_add_answer(&one, out);
}

static void
write_jsonl(const struct generate *g, struct record *r, const char *message)
{
    const struct buffer *written = message ? NULL : r->answers.written;
    const struct buffer *head = written ? written : &r->text;

    (void)g;
    r->out.len = 0;
    buffer_add(&r->out, head->p, head->len);
    if (message)
        jsonl_add_error(message, &r->out);
    else if (!written)
        jsonl_add_choices(&r->prompt.contest, &r->out);
    if (!message && r->takes_date)
        jsonl_add_date(r->date, &r->out);
    if (written)
        jsonl_add_sampling(&r->request.sampling, &r->out);
    jsonl_end(&r->out);
}

static void
add_batch(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct buffer *out)
{
    struct record_answer one = answer_of(g, r, which, a);

    if (!gg_text_error(a->made))
        batch_add_answer(r->request.batch, which, &one, out);
}

/* A failure is the request's own but where answers had begun and there was
 * room for them, or it was stopped. */
static void
add_failure(const struct generate *g, const struct record *r,
            const char *message, struct buffer *out)
{
    const struct batch *b = r->request.batch;
    bool context = r->status == GG_ERR_CONTEXT;
    bool began = r->answers.n_ended || (b->ready && r->prompt.contest.n);
    struct batch_error e = { .status = !began || context ? 400 : 500,
                             .code = context ? "context_length_exceeded" : NULL,
                             .message = message };

    if (g->o->unordered) {
        stream_tell_error(g, r, began, &e);
        e.message = stream_own_words(g, message);
    }
    batch_add_error(b, r->request.number, &e, out);
}

static void
add_response(const struct generate *g, const struct record *r,
             const struct buffer *answers, size_t n, struct buffer *out)
{
    struct batch_response all = { .number = r->request.number,
                                  .date = r->date,
                                  .run = g->run,
                                  .model = g->engine.path,
                                  .answers = answers,
                                  .n_answers = n,
                                  .n_prompt = r->prompt.n,
                                  .n_made = r->answers.n_made,
                                  .n_cached = g->o->unordered
                                                  ? &r->answers.n_cached
                                                  : NULL,
                                  .seed = seed_of(r),
                                  .sampling = &r->request.sampling };

    for (size_t i = 0; i < r->n_others; i++)
        all.n_prompt += r->others[i].n;
    if (r->prompt.contest.n) {
        all.n_made = r->prompt.contest.list->n_scored;
        all.seed = NULL;
    }
    batch_add_response(r->request.batch, &all, out);
}

/* Where one of several texts was likeliest. */
static void
add_chosen(const struct generate *g, const struct record *r, struct buffer *out)
{
    const struct choice *best = choices_text(r->prompt.contest.list);
    struct record_answer a = { .echo = r->out,
                               .text = { best->text, best->len, 0 },
                               .finish = GG_FINISH_EOG };
    struct buffer answer = { 0 };

    batch_add_answer(r->request.batch, 0, &a, &answer);
    add_response(g, r, &answer, 1, out);
    buffer_clear(&answer);
}

static void
write_batch(const struct generate *g, struct record *r, const char *message)
{
    struct buffer out = { 0 };

    if (!message && (batch_has_vectors(r->request.batch)))
        return; /* it is there */
    if (message)
        add_failure(g, r, message, &out);
    else if (r->prompt.contest.n)
        add_chosen(g, r, &out);
    else
        add_response(g, r, r->answers.written,
                     r->answers.written ? r->answers.n : 0, &out);
    buffer_clear(&r->out);
    r->out = out;
}

static const struct writer batch_writer = { add_batch, write_batch, NULL };

/* ---- an earlier run's ---- */

/* A date that an answer has is that of the job. */
static bool
matches_date(struct generate *g, uint64_t number, int64_t date)
{
    if (date > 0)
        generate_resume_date(g, number, date);
    return date >= 0;
}

static bool
matches_batch(struct generate *g, uint64_t number,
              const struct record_value *object,
              const struct record_value *answer, bool *failed)
{
    struct record_value asked, answered;

    return batch_is_answer(object, answer, &asked, &answered, failed) &&
           request_matches_seed(&g->requests, number, &asked, &answered) &&
           matches_date(g, number, batch_date(&answered));
}

/* The answer has the members that were passed through. */
static bool
matches_plain(struct generate *g, struct record *r,
              const struct record_value *value,
              const struct record_value *answer, bool *failed)
{
    uint64_t number = r->request.number;
    struct record_object object;

    *failed = jsonl_has_error(answer);
    record_object_open(value, &object);
    jsonl_pass_through(&object, &r->text);
    record_object_close(&object);
    return jsonl_is_answer(&r->text, answer->text, answer->len) &&
           request_matches_seed(&g->requests, number, value, answer) &&
           matches_date(g, number, jsonl_date(answer));
}

static bool
matches_jsonl(struct generate *g, struct record *r, const char *text,
              size_t len, const char *out, size_t out_len, bool *failed)
{
    struct record_value object, answer;
    struct gg_error err;
    bool same;

    /* A record that is none has an error for an answer. */
    (void)!record_value_read(text, len, &object, &err);
    same = record_value_read(out, out_len, &answer, &err) == GG_OK;
    *failed = false;
    if (same && batch_is(&object))
        same = matches_batch(g, r->request.number, &object, &answer, failed);
    else if (same)
        same = matches_plain(g, r, &object, &answer, failed);
    record_value_clear(&object);
    record_value_clear(&answer);
    return same;
}

/* An answer that was drawn tells it. */
static bool
sampling_of_jsonl(const char *out, size_t len, char **line)
{
    struct record_value answer;
    struct gg_error err;
    const char *sampling = NULL;
    bool drawn = record_value_read(out, len, &answer, &err) == GG_OK &&
                 jsonl_is_drawn(&answer);

    if (drawn)
        sampling = jsonl_sampling(&answer);
    *line = sampling ? cli_copy(sampling, strlen(sampling)) : NULL;
    record_value_clear(&answer);
    return drawn;
}

static const struct writer writer = { add_jsonl, write_jsonl, NULL };
static const struct form form = { read_jsonl, &writer, number_of_jsonl,
                                  matches_jsonl, sampling_of_jsonl };
const struct form *const jsonl_form = &form;

#else

const struct form *const jsonl_form = NULL;

#endif
