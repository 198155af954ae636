/* vocab.c - opens the vocabulary of a model file */
#include "vocab/vocab.h"

#include "api/file.h"

enum gg_status
gg_vocab_open(const char *path, struct gg_vocab **out, struct gg_error *err)
{
    struct gguf_file file;
    struct gg_vocab *v;
    enum gg_status st;

    if (!path || !out)
        return error_null(err);
    st = api_open(path, GGUF_OPEN_KEYS, &file, NULL, err);
    if (st != GG_OK)
        return st;
    st = api_check_model(file.gguf, err);
    if (st == GG_OK)
        st = vocab_load(file.gguf, &v, err);
    if (st == GG_OK) {
        v->file = file;
        *out = v;
    } else {
        gguf_file_close(&file);
    }
    return st;
}
