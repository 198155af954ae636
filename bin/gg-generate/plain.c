/* plain.c - records of text: lines, or what NUL ends */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "gg-generate/records.h"

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of "NUMBER<TAB>" that the text begins with, blanks before it as cat -n
 * writes them; 0: of none. */
static size_t
read_number(const char *text, size_t len, uint64_t *number)
{
    size_t n = 0, digits;

    while (n < len && text[n] == ' ')
        n++;
    *number = 0;
    for (digits = n; n < len && is_digit(text[n]); n++)
        if (__builtin_mul_overflow(*number, UINT64_C(10), number) ||
            __builtin_add_overflow(*number, (uint64_t)(text[n] - '0'), number))
            return 0;
    return n > digits && n < len && text[n] == '\t' ? n + 1 : 0;
}

static bool
number_of_plain(const char *text, size_t len, uint64_t *number)
{
    return read_number(text, len, number) > 0;
}

static enum gg_status
read_plain(struct generate *g, struct record *r, const char *text, size_t len,
           struct gg_error *err)
{
    size_t at = 0;

    r->sequence = r->request.number;
    if (g->o->numbered) {
        at = read_number(text, len, &r->sequence);
        if (at == 0)
            return cli_error(err, GG_ERR_FORMAT,
                             "does not begin with a number and a tab");
        buffer_add(&r->text, text, at);
    }
    return record_take_prompt(g, r, text + at, len - at, err);
}

/* Newlines and backslashes, so that a record stays a line; as
 * `gg-tokenize -d --lines` has it. */
static void
add_escaped(struct buffer *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\n')
            buffer_add(out, "\\n", 2);
        else if (text[i] == '\\')
            buffer_add(out, "\\\\", 2);
        else
            buffer_char(out, text[i]);
}

/* The likeliest choice, or the scores of all. */
static void
add_choice(const struct generate *g, const struct gg_choices *c,
           struct buffer *out)
{
    const struct choice *best = choices_text(c->list);

    if (g->o->scores)
        choices_add_scores(c, '\t', out);
    else
        buffer_add(out, best->text, best->len);
}

static void
add_plain(const struct generate *g, const struct record *r, size_t which,
          const struct answer *a, struct buffer *out)
{
    (void)g, (void)r, (void)which;
    buffer_add(out, a->shown.p, a->shown.len);
}

/* A failed answer is empty, or as far as it went: the reason goes to standard
 * error only. The prompt of --echo stands in r->out. */
static void
write_plain(const struct generate *g, struct record *r, const char *message)
{
    struct buffer echo = r->out;
    char end = g->o->form == FORM_NULL ? '\0' : '\n';
    bool chosen = r->prompt.contest.n && !message;

    r->out = (struct buffer){ 0 };
    buffer_add(&r->out, r->text.p, r->text.len);
    if (r->answers.written)
        buffer_add(&echo, r->answers.written->p, r->answers.written->len);
    if (chosen)
        add_choice(g, &r->prompt.contest, &echo);
    if (end == '\n' && !(chosen && g->o->scores))
        add_escaped(&r->out, echo.p, echo.len);
    else
        buffer_add(&r->out, echo.p, echo.len);
    buffer_char(&r->out, end);
    buffer_clear(&echo);
}

/* Only a number can tell. */
static bool
matches_plain(struct generate *g, struct record *r, const char *text,
              size_t len, const char *out, size_t out_len, bool *failed)
{
    uint64_t number;
    size_t n = g->o->numbered ? read_number(text, len, &number) : 0;

    (void)r;
    *failed = false;
    return n <= out_len && (n == 0 || memcmp(text, out, n) == 0);
}

static const struct writer writer = { add_plain, write_plain, NULL };
const struct form plain_form = { read_plain, &writer, number_of_plain,
                                 matches_plain, NULL };
