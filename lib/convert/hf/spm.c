/* spm.c - tokenizer.model: SentencePiece's, a message of protocol buffers
 *
 * The fields are those of sentencepiece_model.proto; of the numbers of a
 * field, the lowest three bits say how its value is written. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <string.h>

#include "convert/hf/tokens.h"
#include "core/cursor.h"
#include "core/mem.h"

#define KEY(name) "tokenizer.ggml." name

enum wire {
    VARINT = 0,
    EIGHT = 1,
    BYTES = 2,
    FOUR = 5,
};

enum {
    PIECES = 1, /* of the model */
    TRAINER = 2,
    NORMALIZER = 3,
    PIECE = 1, /* of a piece */
    SCORE = 2,
    TYPE = 3,
    MODEL_TYPE = 3, /* of the trainer */
    MODEL_UNIGRAM = 1,
    MODEL_BPE = 2,
    CHARSMAP = 2,  /* of the normalizer */
    ADD_BLANK = 3, /* its add_dummy_prefix */
    SQUEEZE = 4,   /* its remove_extra_whitespaces */
};

struct field {
    uint64_t number, value; /* of VARINT and FOUR */
    struct cursor bytes;    /* of BYTES */
};

static uint64_t
take_varint(struct cursor *c)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b = cursor_u8(c);

        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    c->bad = true;
    return 0;
}

/* False: there is no further one, or the cursor is bad. */
static bool
next_field(struct cursor *c, struct field *f)
{
    uint64_t tag, n;
    const void *p;

    if (c->bad || !cursor_left(c))
        return false;
    tag = take_varint(c);
    *f = (struct field){ .number = tag >> 3 };
    switch (tag & 7) {
    case VARINT:
        f->value = take_varint(c);
        break;
    case EIGHT:
        f->value = cursor_u64(c);
        break;
    case BYTES:
        n = take_varint(c);
        p = cursor_take(c, n);
        f->bytes = cursor_over(p, p ? (size_t)n : 0);
        break;
    case FOUR:
        f->value = cursor_u32(c);
        break;
    default:
        c->bad = true;
    }
    return !c->bad;
}

struct piece {
    const char *text;
    size_t len;
    float score;
    int32_t type;
};

static bool
read_piece(struct cursor c, struct piece *p)
{
    struct field f;
    uint32_t bits;

    *p = (struct piece){ .text = "", .type = GG_TOKEN_NORMAL };
    while (next_field(&c, &f))
        if (f.number == PIECE && f.bytes.pos) {
            p->text = (const char *)f.bytes.pos;
            p->len = cursor_left(&f.bytes);
        } else if (f.number == SCORE) {
            bits = (uint32_t)f.value;
            memcpy(&p->score, &bits, sizeof(bits));
        } else if (f.number == TYPE) {
            p->type = f.value >= 1 && f.value <= 6 ? (int32_t)f.value : 0;
        }
    return !c.bad && p->type && isfinite(p->score);
}

static uint64_t
model_type(struct cursor c)
{
    uint64_t type = MODEL_UNIGRAM;
    struct field f;

    while (next_field(&c, &f))
        if (f.number == MODEL_TYPE)
            type = f.value;
    return type;
}

bool
convert_hf_spm_is_unigram(const struct hf_tokens *t)
{
    struct cursor c = cursor_over(t->map.data, t->map.size);
    struct field f;

    while (next_field(&c, &f))
        if (f.number == TRAINER)
            return model_type(f.bytes) == MODEL_UNIGRAM;
    return false;
}

static void
read_trainer(struct hf_tokens *t, struct cursor c)
{
    if (!t->kind->unigram && model_type(c) != MODEL_BPE)
        core_json_bad(&t->h->here, GG_ERR_UNSUPPORTED,
                      "tokenizer.model: is neither BPE nor Unigram, which "
                      "these models have");
}

static void
read_normalizer(struct hf_tokens *t, struct cursor c)
{
    bool blank = true, squeeze = true;
    struct field f;

    while (next_field(&c, &f))
        if (f.number == ADD_BLANK)
            blank = f.value != 0;
        else if (f.number == SQUEEZE)
            squeeze = f.value != 0;
        else if (f.number == CHARSMAP && t->kind->unigram)
            convert_hf_set_charsmap(t, f.bytes.pos, cursor_left(&f.bytes));
    gguf_set_val_bool(t->h->gguf, KEY("add_space_prefix"), blank);
    if (t->kind->unigram)
        gguf_set_val_bool(t->h->gguf, KEY("remove_extra_whitespaces"), squeeze);
}

/* XLM-R puts four tokens of its own in front, and one at the end. */
static int64_t
moved_id(int64_t id)
{
    static const int64_t first[] = { 3, 0, 2 }; /* <unk>, <s>, </s> */

    return id < 3 ? first[id] : id + 1;
}

static void
put_moved(struct hf_tokens *t)
{
    convert_hf_token_put(t, 1, "<pad>", 5, GG_TOKEN_CONTROL);
    if (convert_hf_good(t->h) && !t->types[t->n - 1])
        convert_hf_token_put(t, t->n - 1, "<mask>", 6, GG_TOKEN_CONTROL);
}

static void
put_piece(struct hf_tokens *t, int64_t id, const struct piece *p)
{
    if (t->moved)
        id = moved_id(id);
    convert_hf_token_put(t, id, p->text, p->len, p->type);
    if (convert_hf_good(t->h))
        t->scores[id] = p->score;
}

void
convert_hf_spm_tokens(struct hf_tokens *t)
{
    struct cursor c = cursor_over(t->map.data, t->map.size);
    struct field f;
    struct piece p;
    int64_t id = 0;

    while (convert_hf_good(t->h) && next_field(&c, &f))
        if (f.number == PIECES && read_piece(f.bytes, &p))
            put_piece(t, id++, &p);
        else if (f.number == PIECES)
            core_json_bad(&t->h->here, GG_ERR_FORMAT,
                          "tokenizer.model: piece %lld makes no sense",
                          (long long)id);
        else if (f.number == TRAINER)
            read_trainer(t, f.bytes);
        else if (f.number == NORMALIZER)
            read_normalizer(t, f.bytes);
    if (convert_hf_good(t->h) && (c.bad || id == 0))
        core_json_bad(
            &t->h->here, GG_ERR_FORMAT,
            "tokenizer.model: is no model of SentencePiece, or is cut");
    if (convert_hf_good(t->h) && t->moved)
        put_moved(t);
}

#endif
