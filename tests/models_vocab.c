/* models_vocab.c - the small byte-level vocabulary of the tests' models */
#include "models_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* GPT-2 writes each byte as a visible character: itself where it is one in
 * Latin-1, else the next free one from U+0100 on. */
static int
byte_to_codepoint(int byte)
{
    int next = 256;

    for (int b = 0; b < 256; b++) {
        bool visible = (b > 32 && b < 127) || (b > 160 && b != 173);

        if (b == byte)
            return visible ? b : next;
        next += !visible;
    }
    return 0;
}

static void
write_byte_token(char *out, int byte)
{
    int c = byte_to_codepoint(byte);

    if (c < 128)
        snprintf(out, 16, "%c", c);
    else
        snprintf(out, 16, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 63));
}

void
models_add_vocab(struct gguf_context *gguf, int n)
{
    enum {
        SIZE = 24,
        CONTROL = 3,
        UNUSED = 5
    };
    int n_merges = n - 257 < 676 ? n - 257 : 676;
    char(*text)[SIZE] = calloc((size_t)n * 2, SIZE);
    const char **all = calloc((size_t)n * 2, sizeof(*all));
    const char **merges = all + n;
    int32_t *types = calloc((size_t)n, sizeof(*types));

    for (int i = 0; i < n; i++) {
        int j = i - 256, a = 'a' + j % 26,
            b = 'a' + (5 * (j % 26) + j / 26) % 26;

        all[i] = text[i];
        types[i] = 1;
        if (i < 256) {
            write_byte_token(text[i], i);
        } else if (j < n_merges) {
            snprintf(text[i], SIZE, "%c%c", a, b);
            snprintf(text[n + j], SIZE, "%c %c", a, b);
            merges[j] = text[n + j];
        } else {
            snprintf(text[i], SIZE, "<unused%d>", i);
            types[i] = UNUSED;
        }
    }
    snprintf(text[n - 1], SIZE, "<|control|>");
    types[n - 1] = CONTROL;
    gguf_set_val_str(gguf, "tokenizer.ggml.model", "gpt2");
    gguf_set_val_str(gguf, "tokenizer.ggml.pre", "gpt-2");
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", all, (size_t)n);
    gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types,
                      (size_t)n);
    gguf_set_arr_str(gguf, "tokenizer.ggml.merges", merges, (size_t)n_merges);
    free(text);
    free(all);
    free(types);
}
