/* control_tokenize.c - a text's ids, and the pieces of it that they are */
#include <config.h>

#include "gg-generate/control.h"

#ifdef HAVE_JANSSON

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/spare.h"
#include "common/utf8.h"
#include "gg-generate/generate.h"

/* A request for ids of a text. */
struct asked {
    const char *text; /* NULL: none */
    size_t len;
    unsigned flags; /* of gg_vocab_encode() */
    bool pieces;
};

/* ---- reading ------------------------------------------------------------- */

/* False: the member is neither true nor false, nor absent. */
static bool
take_flag(const json_t *object, const char *name, bool *out,
          struct gg_error *err)
{
    const json_t *v = json_object_get(object, name);

    if (v && !json_is_boolean(v) && !json_is_null(v)) {
        cli_error(err, GG_ERR_FORMAT, "%s: neither true nor false", name);
        return false;
    }
    *out = json_is_true(v);
    return true;
}

/* A text alone goes on with another. */
static enum gg_status
read_asked(const struct gg_vocab *v, const json_t *value, struct asked *a,
           struct gg_error *err)
{
    const json_t *text =
        json_is_object(value) ? json_object_get(value, "content") : value;
    bool ends = false, control = false;

    *a = (struct asked){ .text = json_string_value(text),
                         .len = json_string_length(text),
                         .flags = GG_ENCODE_CONTINUE };
    if (!a->text)
        return cli_error(err, GG_ERR_FORMAT, "tokenize: not a string");
    if (!json_is_object(value))
        return GG_OK;
    if (!take_flag(value, "add_special", &ends, err) ||
        !take_flag(value, "parse_special", &control, err) ||
        !take_flag(value, "with_pieces", &a->pieces, err))
        return GG_ERR_FORMAT;
    a->flags = (ends && gg_vocab_add_bos(v) ? GG_ENCODE_BOS : 0) |
               (ends && gg_vocab_add_eos(v) ? GG_ENCODE_EOS : 0) |
               (control ? GG_ENCODE_SPECIAL : 0);
    return GG_OK;
}

/* ---- writing ------------------------------------------------------------- */

void
control_add_ids(struct buffer *line, const int32_t *ids, size_t n)
{
    buffer_format(line, ",\"ids\":[");
    for (size_t i = 0; i < n; i++)
        buffer_format(line, "%s%" PRId32, i ? "," : "", ids[i]);
    buffer_char(line, ']');
}

static bool
is_utf8(const char *p, size_t n)
{
    bool valid = true;
    size_t more = 1;

    for (; n && more && valid; p += more, n -= more)
        more = utf8_next(p, n, &valid);
    return n == 0 && valid;
}

/* A string, or, where its bytes are no characters, an array of these. */
static void
add_token_text(struct buffer *line, const char *p, size_t n)
{
    if (is_utf8(p, n)) {
        cli_json_add(line, p, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        buffer_format(line, "%c%u", i ? ',' : '[', (unsigned char)p[i]);
    buffer_char(line, ']');
}

static enum gg_status
add_one_token(const struct gg_vocab *v, int32_t id, struct buffer *line,
              struct gg_error *err)
{
    struct gg_decode_state state = { .started = true };
    struct buffer text = { 0 };
    size_t n;
    enum gg_status st =
        gg_vocab_decode(v, &state, id, GG_DECODE_SPECIAL, NULL, 0, &n, err);

    if (st == GG_OK && n) {
        state = (struct gg_decode_state){ .started = true };
        st = gg_vocab_decode(v, &state, id, GG_DECODE_SPECIAL,
                             buffer_room(&text, n), n, &n, err);
    }
    buffer_format(line, "{\"id\":%" PRId32 ",\"piece\":", id);
    add_token_text(line, text.p, n);
    buffer_char(line, '}');
    buffer_clear(&text);
    return st;
}

static enum gg_status
add_all_tokens(const struct gg_vocab *v, const int32_t *ids, size_t n,
               struct buffer *line, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    buffer_format(line, ",\"tokens\":[");
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        if (i)
            buffer_char(line, ',');
        st = add_one_token(v, ids[i], line, err);
    }
    buffer_char(line, ']');
    return st;
}

enum gg_status
control_tokenize(const struct gg_vocab *v, const json_t *value,
                 struct buffer *line, struct gg_error *err)
{
    enum {
        WRITTEN = 48, /* bytes of a token, but for its piece */
    };
    struct asked a;
    struct gg_encoded made;
    enum gg_status st = read_asked(v, value, &a, err);
    size_t most = a.len + 3;
    int32_t *ids;

    if (st == GG_OK)
        st = spare_check(most, sizeof(*ids) + (a.pieces ? WRITTEN : 0), err);
    if (st != GG_OK)
        return st;
    ids = cli_alloc(NULL, most, sizeof(*ids));
    st = gg_vocab_encode(v, a.text, a.len, a.flags, ids, most, &made, err);
    if (st == GG_OK && made.n > most)
        st = cli_error(err, GG_ERR_FORMAT, "tokenize: too many ids");
    if (st == GG_OK)
        control_add_ids(line, ids, made.n);
    if (st == GG_OK && a.pieces)
        st = add_all_tokens(v, ids, made.n, line, err);
    free(ids);
    return st;
}

#endif
