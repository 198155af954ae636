/* file.h - opens a model file by its first bytes */
#ifndef API_FILE_H
#define API_FILE_H

#include "gguf/reader.h"

/* gguf_file_open() for every format that is known here. *format, which may be
 * NULL, gets the name of its format, which is static. */
enum gg_status
api_open(const char *path, unsigned flags, struct gguf_file *out,
         const char **format, struct gg_error *err);

/* GG_ERR_UNSUPPORTED: it is no model, but something that goes with one. */
enum gg_status
api_check_model(const struct gguf_context *gguf, struct gg_error *err);

#endif
