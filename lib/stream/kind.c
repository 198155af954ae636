/* kind.c - names the kind of a stream by its first bytes, for messages */
#include <ctype.h>
#include <string.h>

#include <gg-stream.h>

#include "core/error.h"
#include "core/magic.h"
#include "stream/kind.h"
#include "stream/line_rows.h"

const char stream_kind_ids[] = "token ids, of which gg-eval makes logits";
const char stream_kind_table[] =
    "a table; gg-sample reads the table of logits that gg-eval writes";

static const char *
skip_blanks(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    return s;
}

/* Words of a line, those that are numbers or have letters, and TABs. */
struct words {
    size_t n, numbers, letters, tabs;
};

static struct words
count_words(const char *s, const char *end)
{
    struct words w = { 0 };

    for (const char *p = s; p < end; p++)
        w.tabs += *p == '\t';
    while ((s = skip_blanks(s, end)) < end) {
        bool number = true, letter = false;

        w.n++;
        for (; s < end && *s != ' ' && *s != '\t'; s++) {
            number = number && isdigit((unsigned char)*s);
            letter = letter || isalpha((unsigned char)*s) || (*s & 0x80);
        }
        w.numbers += number;
        w.letters += letter;
    }
    return w;
}

static const char *
kind_of_text(const char *s, size_t n)
{
    const char *end = memchr(s, '\n', n);
    struct words w;

    end = end ? end : s + n;
    if (stream_rows_begins(s, (size_t)(end - s)))
        return stream_kind_ids;
    s = skip_blanks(s, end);
    w = count_words(s, end);
    if (s < end && (*s == '{' || *s == '['))
        return "JSON";
    if (w.tabs >= 4)
        return stream_kind_table;
    if (w.n && w.numbers == w.n && w.tabs < 2)
        return stream_kind_ids;
    return w.letters * 2 > w.n ? "text, of which gg-tokenize makes token ids"
                               : NULL;
}

/* Control characters at the begin, where texts have none. */
static bool
is_binary(const unsigned char *s, size_t n)
{
    for (size_t i = 0; i < n && i < 16; i++)
        if (s[i] < 7)
            return true;
    return n && (*s == 0x7f || (*s >= 0x80 && *s < 0xc2));
}

const char *
gg_stream_kind(const void *data, size_t n, bool *is_text)
{
    bool binary = data && is_binary(data, n);
    const char *name = binary ? magic_name(data, n) : NULL;

    if (is_text)
        *is_text = !name;
    if (!data || n == 0 || name)
        return name;
    return binary ? "binary data" : kind_of_text(data, n > 4096 ? 4096 : n);
}

void
stream_add_kind(const void *data, size_t n, const char *wanted,
                struct gg_error *err)
{
    const char *kind = gg_stream_kind(data, n, NULL);
    struct gg_error why;

    if (!kind || kind == wanted || !err)
        return;
    why = *err;
    error_set(err, GG_ERR_FORMAT, "%.300s; this is %s", why.message, kind);
}
