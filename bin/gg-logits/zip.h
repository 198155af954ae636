/* zip.h - the archives that numpy calls .npz: reading
 *
 * Members are stored or deflated, found by the archive's directory, so that
 * several can be read side by side; sizes may have 64 bits. PKWARE's APPNOTE
 * 6.3 tells the format. */
#ifndef LOGITS_ZIP_H
#define LOGITS_ZIP_H

#include "gg-logits/input.h"

struct zip;

/* `fd` must be one that can be read at any place; both it and the name stay
 * the caller's. */
enum gg_status
zip_open(struct zip **out, int fd, const char *name, struct gg_error *err);
void
zip_close(struct zip *z);

struct zip_member;

/* *out gets NULL where there is no such member. Closed with the archive. */
enum gg_status
zip_find(struct zip *z, const char *name, struct zip_member **out,
         struct gg_error *err);
/* The next n bytes: an npy_read(). Once all were given, the CRC is known to be
 * right. */
enum gg_status
zip_read(void *member, void *out, size_t n, struct gg_error *err);
/* Bytes that were not given. */
uint64_t
zip_left(const struct zip_member *m);
/* "file.npz: logits.npy" */
const char *
zip_name(const struct zip_member *m);

#endif
