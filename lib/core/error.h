/* error.h - filling in a struct gg_error */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include <gg.h>

/* Writes the sentence (err may be NULL) and returns `status`, so that a
 * failing function can end with it. */
__attribute__((format(printf, 3, 4))) enum gg_status
error_set(struct gg_error *err, enum gg_status status, const char *fmt, ...);

/* Puts "prefix: " in front of the sentence; returns `status`. Of a prefix of
 * more than 253 bytes the end is shown. */
__attribute__((format(printf, 3, 4))) enum gg_status
error_prefix(struct gg_error *err, enum gg_status status, const char *fmt, ...);

/* "out of memory" */
enum gg_status
error_nomem(struct gg_error *err);

/* GG_ERR_ARG: a pointer is NULL that must not be. */
enum gg_status
error_null(struct gg_error *err);

/* GG_ERR_ARG: a reserved field of a struct of parameters is not 0. */
#define ERROR_RESERVED(params, err)                                            \
    error_reserved((params)->reserved,                                         \
                   sizeof((params)->reserved) / sizeof(*(params)->reserved),   \
                   err)
enum gg_status
error_reserved(const uintptr_t *reserved, size_t n, struct gg_error *err);

#endif
