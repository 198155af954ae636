/* fuzz_tokenizer.c - tokenizer.json of Hugging Face's folders: a word at most,
 * or a vocabulary whose ids give any text back
 *
 * The first byte says whose folder the rest is the tokenizer.json of. */
#include <gg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "folders.h"
#include "fuzz.h"
#include "vocab/vocab.h"

const char fuzz_name[] = "tokenizer";

static void
check(bool right)
{
    if (!right)
        abort();
}

static void
encode(const struct gg_vocab *v, const char *text, size_t len)
{
    static int32_t ids[4096];
    struct gg_encoded made;
    struct gg_decode_state state = { 0 };
    char back[256];
    size_t n;

    if (gg_vocab_encode(v, text, len, GG_ENCODE_SPECIAL, ids, 4096, &made,
                        NULL) != GG_OK)
        return;
    for (size_t i = 0; i < made.n && i < 4096; i++) {
        check(ids[i] >= 0 && ids[i] < gg_vocab_size(v));
        check(gg_vocab_decode(v, &state, ids[i], GG_DECODE_SPECIAL, back,
                              sizeof(back), &n, NULL) == GG_OK);
    }
}

static void
ask(const struct gg_vocab *v, const char *text, size_t len)
{
    size_t n;

    for (int32_t id = 0; id < gg_vocab_size(v); id++) {
        const char *token = gg_vocab_token(v, id, &n);
        int32_t found = gg_vocab_find(v, token, n);

        check(found <= id || !(v->types[id] & VOCAB_PIECE));
        check(found >= 0 || n == 0);
    }
    check(gg_vocab_bos(v) < gg_vocab_size(v) &&
          gg_vocab_eos(v) < gg_vocab_size(v));
    encode(v, "hello world, it's  100 <s>\xc3\xa9\xff\n", 27);
    encode(v, text, len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gg_vocab *v = NULL;
    struct gg_error err = { "" };
    size_t of, tail = size < 64 ? size : 64;

    folders_make();
    if (size < 1)
        return 0;
    of = data[0] % N_FOLDERS;
    fuzz_write(folders_path(of, "tokenizer.json"), data + 1, size - 1);
    if (gg_vocab_open(folders_path(of, NULL), &v, &err) == GG_OK)
        ask(v, (const char *)data + size - tail, tail);
    else
        check(!v && err.message[0]);
    gg_vocab_free(v);
    return 0;
}

/* Before any input has replaced them. */
static uint8_t *
input_of(size_t of, size_t *size)
{
    uint8_t *data = fuzz_file(folders_path(of, "tokenizer.json"), 1, size);

    data[0] = (uint8_t)of;
    return data;
}

/* The makers' files; small ones of kinds that no maker of models has. */
static const char *const texts[] = {
    "\1{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],"
    "[\"<s>\",0],[\"</s>\",0],[\"\\u2581\",-2],[\"a\",-3],[\"\\u2581a\",-1.5]],"
    "\"byte_fallback\":false},\"normalizer\":{\"type\":\"Precompiled\","
    "\"precompiled_charsmap\":\"AAAAAGI=\"},\"added_tokens\":[]}",
    "\1{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"vocab\":{"
    "\"[PAD]\":0,\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"a\":4,\"##b\":5}},"
    "\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":true}}",
    "\1{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"
    "\"merges\":[\"a b\",[\"a\",\"b\"]],\"byte_fallback\":true},"
    "\"added_tokens\":[{\"id\":3,\"content\":\"<s>\",\"special\":true}],"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"
    "\"Split\",\"pattern\":{\"Regex\":\"x\"},\"behavior\":\"Isolated\"},{"
    "\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}}",
};

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static uint8_t *made[N_FOLDERS];
    static size_t sizes[N_FOLDERS];
    const void *from;
    uint8_t *data;

    folders_make();
    for (size_t k = 0; k < N_FOLDERS; k++)
        made[k] = made[k] ? made[k] : input_of(k, &sizes[k]);
    if (i >= N_FOLDERS + sizeof(texts) / sizeof(texts[0]))
        return NULL;
    from = i < N_FOLDERS ? (const void *)made[i] : texts[i - N_FOLDERS];
    *size = i < N_FOLDERS ? sizes[i] : strlen(texts[i - N_FOLDERS]);
    data = malloc(*size);
    check(data != NULL);
    return memcpy(data, from, *size);
}
