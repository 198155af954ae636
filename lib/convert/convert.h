/* convert.h - model files of older formats, seen as if they were GGUF
 *
 * - ggml, ggmf, ggjt: what ggml's GPT-2 example and llama.cpp read before GGUF;
 * - checkpoints of llama2.c, with their tokenizer.bin beside them.
 * Everything that such a file says is checked as a GGUF file's would be. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "gguf/reader.h"

/* Opens a file that is none of GGUF, as gguf_file_open() does one that is.
 * Without GGUF_OPEN_ALL, a tensor whose blocks must be rewritten has no data.
 * *format gets the name of the format, which is static. */
enum gg_status
convert_open(const char *path, unsigned flags, struct gguf_file *out,
             const char **format, struct gg_error *err);

#endif
