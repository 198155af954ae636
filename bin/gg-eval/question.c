/* question.c - questions with several answers to choose from, in JSON */
#include <config.h>

#include "gg-eval/question.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/json.h"
#include "common/records/value.h"

enum {
    MOST_OPTIONS = 1024,
};

void
question_clear(struct question *q)
{
    for (size_t i = 0; i < q->n; i++) {
        buffer_clear(&q->options[i].given);
        buffer_clear(&q->options[i].text);
    }
    free(q->options);
    *q = (struct question){ 0 };
}

#ifdef HAVE_JANSSON

/* ---- texts ---- */

static size_t
count_characters(const char *p, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)p[i] & 0xc0) != 0x80;
    return n;
}

static bool
is_blank(char c)
{
    return c && strchr(" \t\n\r\v\f", c);
}

/* The text without white space at its ends. */
static void
add_stripped(struct buffer *out, const char *p, size_t len)
{
    while (len && is_blank(p[len - 1]))
        len--;
    for (; len && is_blank(*p); p++)
        len--;
    buffer_add(out, p, len);
}

/* In place of each `from` there is `to`, which is no longer. */
static void
replace_all(struct buffer *b, const char *from, const char *to)
{
    size_t n = strlen(from), m = strlen(to), len = 0;

    for (size_t i = 0; i < b->len;) {
        bool found = b->len - i >= n && memcmp(b->p + i, from, n) == 0;

        if (found)
            memcpy(b->p + len, to, m);
        else
            b->p[len] = b->p[i];
        len += found ? m : 1;
        i += found ? n : 1;
    }
    b->len = len;
}

/* Text in brackets goes, with them, if they are on one line. */
static void
drop_brackets(struct buffer *b)
{
    size_t len = 0;

    for (size_t i = 0; i < b->len; i++) {
        size_t end = i;

        while (b->p[i] == '[' && end < b->len && b->p[end] != ']' &&
               b->p[end] != '\n')
            end++;
        if (end > i && end < b->len && b->p[end] == ']')
            i = end;
        else
            b->p[len++] = b->p[i];
    }
    b->len = len;
}

/* Texts of WikiHow have marks in them. */
static void
clean(struct buffer *b)
{
    struct buffer raw = *b;

    *b = (struct buffer){ 0 };
    add_stripped(b, raw.p, raw.len);
    buffer_clear(&raw);
    replace_all(b, " [title]", ". ");
    drop_brackets(b);
    replace_all(b, "  ", " ");
}

/* ---- members ---- */

static enum gg_status
refuse_member(const char *name, const char *what, struct gg_error *err)
{
    return cli_error(err, GG_ERR_FORMAT, "%s: not %s", name, what);
}

static enum gg_status
add_member(const json_t *object, const char *name, struct buffer *out,
           struct gg_error *err)
{
    const json_t *value = json_object_get(object, name);

    if (!json_is_string(value))
        return refuse_member(name, "a string", err);
    buffer_add(out, json_string_value(value), json_string_length(value));
    return GG_OK;
}

/* An index, as a number or a string of digits, from `first` on. */
static bool
read_index(const json_t *value, size_t first, size_t n, size_t *out)
{
    const char *text = cli_json_text(value);
    double x = json_number_value(value);

    if (text && *text && strspn(text, "0123456789") == strlen(text) &&
        strlen(text) < 9)
        x = atoi(text);
    else if (!json_is_number(value))
        return false;
    if (!(x >= (double)first && x < (double)(first + n)) || x != (size_t)x)
        return false;
    *out = (size_t)x - first;
    return true;
}

/* An index from 0 on, or one of the texts of `list`, which goes first. */
static enum gg_status
read_answer(const json_t *object, const char *name, const json_t *list,
            struct question *q, struct gg_error *err)
{
    const json_t *value = json_object_get(object, name);

    for (size_t i = 0; json_is_string(value) && i < q->n; i++)
        if (json_equal(value, json_array_get(list, i))) {
            q->right = i;
            return GG_OK;
        }
    return read_index(value, 0, q->n, &q->right)
               ? GG_OK
               : refuse_member(name,
                               "the place of an option, from 0, or its "
                               "text",
                               err);
}

static void
make_options(struct question *q, size_t n)
{
    q->options = cli_alloc(NULL, n, sizeof(*q->options));
    for (size_t i = 0; i < n; i++)
        q->options[i] = (struct question_option){ 0 };
    q->n = n;
}

/* A blank is between what is given and the text, if neither has one there. */
static void
set_option(struct question_option *o, const struct buffer *given,
           const char *text, size_t len)
{
    bool has = (given->len && is_blank(given->p[given->len - 1])) ||
               (len && is_blank(*text));
    size_t n = given->len;

    while (n && is_blank(given->p[n - 1])) /* these belong to the text */
        n--;
    buffer_add(&o->given, given->p, n);
    buffer_add(&o->text, given->p + n, given->len - n);
    if (!has)
        buffer_char(&o->text, ' ');
    buffer_add(&o->text, text, len);
    o->length = count_characters(text, len);
}

/* ---- shapes ---- */

/* All options after one text; `cleans` as hellaswag wants it. */
static enum gg_status
read_list(const json_t *object, const char *name, const struct buffer *given,
          bool cleans, struct question *q, struct gg_error *err)
{
    const json_t *list = json_object_get(object, name);
    size_t n = json_array_size(list);

    if (n < 2 || n > MOST_OPTIONS)
        return refuse_member(name, "a list of 2 to 1024 texts", err);
    make_options(q, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(list, i);
        struct buffer text = { 0 };

        if (!json_is_string(one) || json_string_length(one) == 0)
            return refuse_member(name, "a list of texts", err);
        buffer_add(&text, json_string_value(one), json_string_length(one));
        if (cleans)
            clean(&text);
        set_option(&q->options[i], given, text.p, text.len);
        buffer_clear(&text);
    }
    return GG_OK;
}

static enum gg_status
read_own(const json_t *object, struct question *q, struct gg_error *err)
{
    struct buffer given = { 0 };
    enum gg_status st = add_member(object, "prompt", &given, err);

    if (st == GG_OK)
        st = read_list(object, "choices", &given, false, q, err);
    buffer_clear(&given);
    return st == GG_OK ? read_answer(object, "answer",
                                     json_object_get(object, "choices"), q, err)
                       : st;
}

/* The second part of a context begins with a capital, which is its only one. */
static enum gg_status
add_context(const json_t *object, struct buffer *out, struct gg_error *err)
{
    enum gg_status st;
    size_t from;

    if (!json_object_get(object, "ctx_a"))
        return add_member(object, "ctx", out, err);
    st = add_member(object, "ctx_a", out, err);
    buffer_char(out, ' ');
    from = out->len;
    if (st == GG_OK)
        st = add_member(object, "ctx_b", out, err);
    for (size_t i = from; i < out->len; i++) {
        unsigned char c = (unsigned char)out->p[i];

        if (c < 0x80)
            out->p[i] = (char)(i == from ? toupper(c) : tolower(c));
    }
    return st;
}

static enum gg_status
read_hellaswag(const json_t *object, struct question *q, struct gg_error *err)
{
    struct buffer given = { 0 };
    enum gg_status st = GG_OK;

    if (json_object_get(object, "activity_label")) {
        st = add_member(object, "activity_label", &given, err);
        buffer_add(&given, ": ", 2);
    }
    if (st == GG_OK)
        st = add_context(object, &given, err);
    clean(&given);
    if (st == GG_OK)
        st = read_list(object, "endings", &given, true, q, err);
    buffer_clear(&given);
    if (st == GG_OK &&
        !read_index(json_object_get(object, "label"), 0, q->n, &q->right))
        st = refuse_member("label", "the place of an ending, from 0", err);
    return st;
}

/* The sentence up to the gap, with an option in it, is given; all have the
 * rest. */
static enum gg_status
read_winogrande(const json_t *object, struct question *q, struct gg_error *err)
{
    static const char *const names[] = { "option1", "option2" };
    const char *sentence = cli_json_text(json_object_get(object, "sentence")),
               *gap;
    struct buffer rest = { 0 };
    enum gg_status st = GG_OK;

    gap = sentence ? strchr(sentence, '_') : NULL;
    if (!gap)
        return refuse_member("sentence", "a text with a gap, _", err);
    add_stripped(&rest, gap + 1, strlen(gap + 1));
    make_options(q, 2);
    for (size_t i = 0; i < 2 && st == GG_OK; i++) {
        struct buffer given = { 0 };

        buffer_add(&given, sentence, (size_t)(gap - sentence));
        st = add_member(object, names[i], &given, err);
        set_option(&q->options[i], &given, rest.p, rest.len);
        buffer_clear(&given);
    }
    if (st == GG_OK && rest.len == 0)
        st =
            refuse_member("sentence", "a text that goes on after the gap", err);
    buffer_clear(&rest);
    if (st == GG_OK &&
        !read_index(json_object_get(object, "answer"), 1, 2, &q->right))
        st = refuse_member("answer", "1 or 2", err);
    return st;
}

static const struct {
    const char *member; /* that only this shape has */
    enum gg_status (*read)(const json_t *object, struct question *q,
                           struct gg_error *err);
} shapes[] = {
    { "endings", read_hellaswag },
    { "option1", read_winogrande },
    { "choices", read_own },
};

enum gg_status
question_read(const char *line, size_t len, struct question *q,
              struct gg_error *err)
{
    struct record_value value;
    enum gg_status st = record_value_read(line, len, &value, err);
    size_t i = 0, n = sizeof(shapes) / sizeof(shapes[0]);

    *q = (struct question){ 0 };
    while (i < n && !json_object_get(value.json, shapes[i].member))
        i++;
    if (st == GG_OK)
        st = i < n ? shapes[i].read(value.json, q, err)
                   : cli_error(err, GG_ERR_FORMAT,
                               "neither choices, nor endings, nor option1");
    record_value_clear(&value);
    return st;
}

#else

enum gg_status
question_read(const char *line, size_t len, struct question *q,
              struct gg_error *err)
{
    (void)line;
    (void)len;
    *q = (struct question){ 0 };
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "built without Jansson, which reads JSON");
}

#endif
