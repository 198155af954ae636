/* tokens.c - tokens, types and scores */
#include "convert/tokens.h"

#include <math.h>
#include <stdio.h>

#include "core/check.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name

#define END  "<|endoftext|>"
#define MARK "\xe2\x96\x81" /* U+2581: a blank, for SentencePiece */

enum {
    FIRST_BYTE = 3, /* id of byte 0 */
    LAST_BYTE = FIRST_BYTE + 255,
    LONGEST_MADE = 16, /* "<0xHH>", "<empty 123456>" */
};

/* ---- both kinds --------------------------------------------------------- */

/* Tokens in the making: texts in one piece of memory. */
struct made {
    struct gguf_str *text;
    int32_t *types;
    char *bytes;
    size_t used;
};

static void
made_clear(struct made *t)
{
    mem_free(t->text);
    mem_free(t->types);
    mem_free(t->bytes);
}

/* Room for n tokens that have at most `factor` times the bytes of these. */
static bool
made_init(struct made *t, const struct gguf_str *tokens, size_t n,
          size_t factor)
{
    size_t total = 0;

    *t = (struct made){ 0 };
    for (size_t i = 0; i < n; i++)
        if (!check_add(total, tokens[i].n, &total))
            return false;
    if (!check_mul(total, factor, &total) ||
        !check_add(total, n * LONGEST_MADE, &total))
        return false;
    t->text = mem_array(n, sizeof(*t->text));
    t->types = mem_array(n, sizeof(*t->types));
    t->bytes = mem_alloc(total);
    return t->text && t->types && t->bytes;
}

static void
set_lists(struct convert_model *m, const struct made *t, size_t n)
{
    gguf_set_strings(m->gguf, KEY("tokens"), t->text, n);
    gguf_set_arr_data(m->gguf, KEY("token_type"), GGUF_TYPE_INT32, t->types, n);
}

/* ---- BPE ---------------------------------------------------------------- */

static bool
is_end(const struct gguf_str *s)
{
    return s->n == strlen(END) && memcmp(s->s, END, s->n) == 0;
}

enum gg_status
convert_tokens_set_bpe(struct convert_model *m, const struct gguf_str *tokens,
                       size_t n, struct gg_error *err)
{
    struct made t;
    enum gg_status st = made_init(&t, tokens, n, 2) ? GG_OK : error_nomem(err);

    for (size_t i = 0; st == GG_OK && i < n; i++) {
        char *to = t.bytes + t.used;
        size_t len = convert_tokens_show(&tokens[i], to);

        t.text[i] = (struct gguf_str){ to, len };
        t.types[i] = is_end(&tokens[i]) ? GG_TOKEN_CONTROL : GG_TOKEN_NORMAL;
        t.used += len;
        if (!is_end(&tokens[i]))
            continue;
        gguf_set_val_u32(m->gguf, KEY("bos_token_id"), (uint32_t)i);
        gguf_set_val_u32(m->gguf, KEY("eos_token_id"), (uint32_t)i);
    }
    if (st == GG_OK) {
        gguf_set_val_str(m->gguf, KEY("model"), "gpt2");
        gguf_set_val_str(m->gguf, KEY("pre"), "gpt-2");
        set_lists(m, &t, n);
        st = convert_merges_set(m, tokens, t.text, n, err);
    }
    made_clear(&t);
    return st;
}

/* ---- SentencePiece ------------------------------------------------------- */

static bool
is_byte_name(const struct gguf_str *s)
{
    return s->n == 6 && memcmp(s->s, "<0x", 3) == 0 && s->s[5] == '>';
}

static size_t
put_marked(const struct gguf_str *s, char *out)
{
    char *to = out;

    for (size_t i = 0; i < s->n; i++) {
        if (s->s[i] == ' ') {
            memcpy(to, MARK, strlen(MARK));
            to += strlen(MARK);
        } else {
            *to++ = s->s[i];
        }
    }
    return (size_t)(to - out);
}

/* Writes token `id` to `out`; returns its length. */
static size_t
put_spm(const struct gguf_str *s, size_t id, char *out, int32_t *type)
{
    static const char *const control[] = { "<unk>", "<s>", "</s>" };

    *type = GG_TOKEN_NORMAL;
    if (id < 3) {
        *type = id ? GG_TOKEN_CONTROL : GG_TOKEN_UNKNOWN;
        return (size_t)snprintf(out, LONGEST_MADE, "%s", control[id]);
    }
    if (id <= LAST_BYTE && (s->n == 1 || is_byte_name(s))) {
        *type = GG_TOKEN_BYTE;
        return (size_t)snprintf(out, LONGEST_MADE, "<0x%02X>",
                                (unsigned)(id - FIRST_BYTE));
    }
    if (s->n == 0) { /* GGUF's vocabularies name every token */
        *type = GG_TOKEN_CONTROL;
        return (size_t)snprintf(out, LONGEST_MADE, "<empty %zu>", id);
    }
    return put_marked(s, out);
}

/* The score in LLaMA's tokenizer.model: the order of merging, but for two
 * blanks, which are merged last. */
static float
score_by_id(const struct gguf_str *s, size_t id)
{
    if (id == LAST_BYTE + 1 && s->n == 2 && memcmp(s->s, "  ", 2) == 0)
        return -1e9f;
    return id > LAST_BYTE ? (float)(LAST_BYTE + 1) - (float)id : 0;
}

static enum gg_status
set_scores(struct convert_model *m, const struct gguf_str *tokens,
           const float *scores, size_t n, struct gg_error *err)
{
    float *made = mem_array(n, sizeof(*made));

    if (!made)
        return error_nomem(err);
    for (size_t i = 0; i < n; i++) {
        made[i] = scores ? scores[i] : score_by_id(&tokens[i], i);
        if (!isfinite(made[i])) {
            mem_free(made);
            return convert_bad(m, err, "the score of token %zu is no number",
                               i);
        }
    }
    gguf_set_arr_data(m->gguf, KEY("scores"), GGUF_TYPE_FLOAT32, made, n);
    mem_free(made);
    return GG_OK;
}

enum gg_status
convert_tokens_set_spm(struct convert_model *m, const struct gguf_str *tokens,
                       const float *scores, size_t n, struct gg_error *err)
{
    struct made t;
    enum gg_status st =
        made_init(&t, tokens, n, strlen(MARK)) ? GG_OK : error_nomem(err);

    for (size_t i = 0; st == GG_OK && i < n; i++) {
        char *to = t.bytes + t.used;
        size_t len = put_spm(&tokens[i], i, to, &t.types[i]);

        t.text[i] = (struct gguf_str){ to, len };
        t.used += len;
    }
    if (st == GG_OK)
        st = set_scores(m, tokens, scores, n, err);
    if (st == GG_OK) {
        gguf_set_val_str(m->gguf, KEY("model"), "llama");
        set_lists(m, &t, n);
        gguf_set_val_u32(m->gguf, KEY("unknown_token_id"), 0);
        gguf_set_val_u32(m->gguf, KEY("bos_token_id"), 1);
        gguf_set_val_u32(m->gguf, KEY("eos_token_id"), 2);
    }
    made_clear(&t);
    return st;
}
