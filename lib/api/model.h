/* model.h - what a struct gg_model ties together */
#ifndef API_MODEL_H
#define API_MODEL_H

#include "gguf/reader.h"
#include "graph/model.h"

struct gg_model {
    struct gguf_file file; /* with its shards; the rest points into it */
    struct gguf_file mtp;  /* of MTP layers in a file of their own, or empty */
    struct gguf_file *adapter_files; /* n_adapters; the same */
    struct model_adapter_file *adapters;
    size_t n_adapters;
    struct gg_vocab *vocab;
    struct model *model;
    const char *note; /* about the device; static; or NULL */
    char *notes;      /* this and that of the file, if both are there */
};

#endif
