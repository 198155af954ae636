/* media_worker.h - decodes media in a process of its own
 *
 * Decoders parse what anybody may have sent. They run in a process that was
 * forked before a model was opened and threads were started, and for each
 * medium in a child of it, which can open no file and no socket, and has bounds
 * on memory and time. What comes back is checked. Who passes SANDBOX_MEDIA to
 * sandbox_keep() has it started by sandbox_enter().
 */
#ifndef COMMON_MEDIA_WORKER_H
#define COMMON_MEDIA_WORKER_H

#include <gg-media.h>

/* False: errno says why there is none. */
bool
media_worker_start(void);

/* As gg_media_decode(), there. GG_ERR_FORMAT, too, if the child died or took
 * too long: an error of this medium alone. One thread at a time. */
enum gg_status
media_worker_decode(const void *bytes, size_t size,
                    const struct gg_decode_limits *limits,
                    struct gg_decoded **out, struct gg_error *err);

/* Ends it and waits. */
void
media_worker_end(void);

#endif
