/* labels.c - what scores of a text or of its tokens say, as TSV or JSON */
#include <config.h>

#include "gg-eval/labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/json.h"

/* Tokens one after another that are of one kind. */
struct span {
    int32_t label; /* of the first one */
    double sum;    /* of their probabilities */
    size_t n;
    struct gg_range at;
};

void
labels_init(struct labels *l)
{
    l->p = cli_alloc(NULL, (size_t)l->classifier.n, sizeof(*l->p));
    l->sorted = cli_alloc(NULL, (size_t)l->classifier.n, sizeof(*l->sorted));
}

void
labels_clear(struct labels *l)
{
    free(l->p);
    free(l->sorted);
    buffer_clear(&l->out);
}

/* ---- names --------------------------------------------------------------- */

/* Where the file has no name, as transformers names it; `made` has room. */
static const char *
label_name(const struct labels *l, int32_t i, char made[32], size_t *len)
{
    const char *name = gg_model_label(l->model, i, len);

    if (!name)
        *len = (size_t)snprintf(made, 32, "LABEL_%" PRId32, i);
    return name ? name : made;
}

/* "B-PER" and "I-PER" are of the kind PER; a name without a mark is as if it
 * had I. */
static bool
begins_span(const char *name, size_t len)
{
    return len >= 2 && !memcmp(name, "B-", 2);
}

static const char *
kind_of_span(const char *name, size_t *len)
{
    bool marked =
        *len >= 2 && (name[0] == 'B' || name[0] == 'I') && name[1] == '-';

    *len -= marked ? 2 : 0;
    return marked ? name + 2 : name;
}

/* The name of a span follows the first hyphen of its label. */
static const char *
span_name(const char *name, size_t *len)
{
    const char *hyphen = memchr(name, '-', *len);

    *len -= hyphen ? (size_t)(hyphen + 1 - name) : 0;
    return hyphen ? hyphen + 1 : name;
}

/* Tokens that are nothing. */
static bool
is_outside(const char *name, size_t len)
{
    return len == 1 && *name == 'O';
}

/* ---- text ---------------------------------------------------------------- */

static void
add_text(struct labels *l, const char *text, size_t len)
{
    if (l->json) {
        cli_json_add(&l->out, text, len);
        return;
    }
    gg_escape(buffer_room(&l->out, 4 * len + 1), 4 * len + 1, text, len);
    l->out.len += strlen(l->out.p + l->out.len);
}

/* The number of the line, its first column. */
static void
begin_row(struct labels *l, uint64_t line)
{
    if (!l->json)
        buffer_format(&l->out, "%" PRIu64 "\t", line);
}

static void
add_label(struct labels *l, const char *name, size_t len, double score)
{
    if (l->json)
        buffer_format(&l->out, "{\"label\":");
    add_text(l, name, len);
    buffer_format(&l->out, l->json ? ",\"score\":%.6f" : "\t%.6f", score);
}

static void
add_rated(struct labels *l, const struct rated *r)
{
    char made[32];
    size_t len;
    const char *name = label_name(l, r->label, made, &len);

    add_label(l, name, len, r->p);
}

static void
end_row(struct labels *l)
{
    buffer_format(&l->out, l->json ? "}" : "\n");
}

/* Another element of a list in JSON. */
static void
next_element(struct labels *l)
{
    char last = l->out.len ? l->out.p[l->out.len - 1] : '[';

    if (l->json && last != '[')
        buffer_char(&l->out, ',');
}

static void
open_list(struct labels *l, uint64_t line, const char *name)
{
    l->out.len = 0;
    if (l->json)
        buffer_format(&l->out, "{\"line\":%" PRIu64 ",\"%s\":[", line, name);
}

static void
close_list(struct labels *l)
{
    if (l->json)
        buffer_format(&l->out, "]}\n");
    fwrite(l->out.p, 1, l->out.len, stdout);
    cli_flush();
}

/* ---- scores -------------------------------------------------------------- */

static void
rate(struct labels *l, const float *scores)
{
    struct gg_error err;

    cli_check(gg_classifier_rate(&l->classifier, scores, l->p, &err), &err);
}

static int32_t
find_likeliest(const struct labels *l)
{
    int32_t best = 0;

    for (int32_t i = 1; i < l->classifier.n; i++)
        if (l->p[i] > l->p[best])
            best = i;
    return best;
}

static int
compare_rated(const void *a, const void *b)
{
    const struct rated *x = a, *y = b;

    return x->p > y->p   ? -1
           : x->p < y->p ? 1
                         : (x->label > y->label) - (x->label < y->label);
}

/* Labels that are to be written, the likeliest first; returns how many. */
static int32_t
sort_labels(struct labels *l)
{
    int32_t n = l->classifier.n, best = find_likeliest(l);

    if (!l->all) {
        l->sorted[0] = (struct rated){ best, l->p[best] };
        return 1;
    }
    for (int32_t i = 0; i < n; i++)
        l->sorted[i] = (struct rated){ i, l->p[i] };
    qsort(l->sorted, (size_t)n, sizeof(*l->sorted), compare_rated);
    return n;
}

/* ---- texts --------------------------------------------------------------- */

static void
write_label(struct labels *l, const struct labelled *text)
{
    int32_t n;

    rate(l, text->scores);
    n = sort_labels(l);
    open_list(l, text->line, "labels");
    for (int32_t i = 0; i < n; i++) {
        next_element(l);
        begin_row(l, text->line);
        add_rated(l, &l->sorted[i]);
        end_row(l);
    }
    close_list(l);
}

/* ---- tokens -------------------------------------------------------------- */

static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Where the token is, without blanks around it. */
static struct gg_range
place_of(const struct labelled *text, size_t i)
{
    struct gg_range r = { i, i + 1 };

    if (!text->text)
        return r;
    r = text->ranges[i];
    while (r.begin < r.end && is_blank(text->text[r.begin]))
        r.begin++;
    while (r.begin < r.end && is_blank(text->text[r.end - 1]))
        r.end--;
    return r;
}

static void
add_place(struct labels *l, const struct labelled *text, struct gg_range at)
{
    buffer_format(&l->out,
                  l->json ? ",\"begin\":%zu,\"end\":%zu" : "\t%zu\t%zu",
                  at.begin, at.end);
    if (!text->text)
        return;
    buffer_format(&l->out, l->json ? ",\"text\":" : "\t");
    add_text(l, text->text + at.begin, at.end - at.begin);
}

static void
write_span(struct labels *l, const struct labelled *text, const struct span *s)
{
    char made[32];
    size_t len;
    const char *name = label_name(l, s->label, made, &len);

    if (s->n == 0)
        return;
    name = span_name(name, &len);
    if (is_outside(name, len))
        return;
    next_element(l);
    begin_row(l, text->line);
    add_label(l, name, len, s->sum / (double)s->n);
    add_place(l, text, s->at);
    end_row(l);
}

/* Whether a token of that label continues the span: it is of the same kind,
 * and does not begin another one. */
static bool
goes_on(const struct labels *l, const struct span *s, int32_t label)
{
    char made[2][32];
    size_t n, len;
    const char *name = label_name(l, label, made[0], &n);
    const char *of = label_name(l, s->label, made[1], &len);

    if (s->n == 0 || begins_span(name, n))
        return false;
    name = kind_of_span(name, &n);
    of = kind_of_span(of, &len);
    return n == len && !memcmp(name, of, n);
}

static void
take_token(struct labels *l, const struct labelled *text, struct span *s,
           size_t i)
{
    int32_t label = find_likeliest(l);
    struct gg_range at = place_of(text, i);

    if (!goes_on(l, s, label)) {
        write_span(l, text, s);
        *s = (struct span){ .label = label, .at = at };
    }
    s->sum += l->p[label];
    s->n++;
    s->at.end = at.end;
}

/* A token as it is: all its labels, or the likeliest. */
static void
write_token(struct labels *l, const struct labelled *text, size_t i)
{
    struct gg_range at = place_of(text, i);
    int32_t n = sort_labels(l);

    for (int32_t k = 0; k < n; k++) {
        next_element(l);
        begin_row(l, text->line);
        add_rated(l, &l->sorted[k]);
        add_place(l, text, at);
        end_row(l);
    }
}

/* Tokens around a text have no part in it. */
static bool
is_around(const struct labels *l, int32_t id)
{
    const struct gg_vocab *v = gg_model_vocab(l->model);

    return id == gg_vocab_bos(v) || id == gg_vocab_eos(v);
}

static void
write_tokens(struct labels *l, const struct labelled *text)
{
    struct span s = { 0 };

    open_list(l, text->line, l->tokens ? "tokens" : "spans");
    for (size_t i = 0; i < text->n_ids; i++) {
        if (is_around(l, text->ids[i]))
            continue;
        rate(l, text->scores + i * (size_t)l->classifier.n);
        if (l->tokens)
            write_token(l, text, i);
        else
            take_token(l, text, &s, i);
    }
    write_span(l, text, &s);
    close_list(l);
}

void
labels_write(struct labels *l, const struct labelled *text)
{
    if (l->classifier.pooling == GG_POOL_TOKENS)
        write_tokens(l, text);
    else
        write_label(l, text);
}

void
labels_fail(struct labels *l, uint64_t line, const char *message)
{
    l->out.len = 0;
    if (l->json) {
        buffer_format(&l->out, "{\"line\":%" PRIu64 ",\"error\":", line);
        cli_json_add(&l->out, message, strlen(message));
        buffer_format(&l->out, "}\n");
    } else {
        buffer_format(&l->out, "%" PRIu64 "\t!%s\n", line, message);
    }
    fwrite(l->out.p, 1, l->out.len, stdout);
    cli_flush();
}
