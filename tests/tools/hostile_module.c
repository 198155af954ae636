/* hostile_module.c - a module of decoders that somebody has taken over: a "PNG
 * image" says by the byte after its name what is tried */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "media/decode/decoder.h"

/* As in bin/common/media_worker.c. */
struct response {
    int status;
    struct gg_error error;
    struct gg_decoded medium;
};

/* Written to whatever descriptor the child has. */
static void
answer_falsely(const struct response *r)
{
    for (int fd = 1; fd < 64; fd++)
        if (write(fd, r, sizeof(*r)) == (ssize_t)sizeof(*r) && fd > 2)
            break;
    _exit(0);
}

static enum gg_status
tell(struct media_target *t, bool done)
{
    return t->fail(t, GG_ERR_FORMAT, done ? "it could" : "refused");
}

static enum gg_status
be_silent(struct media_target *t)
{
    float samples[2] = { 0, NAN };

    if (t->sound(t, t->limits->rate, 1, 2))
        t->frames(t, samples, 2);
    return GG_OK; /* whatever was said */
}

static enum gg_status
decode(const uint8_t *bytes, size_t size, struct media_target *t)
{
    struct response large = { .medium = { .width = 100000, .height = 100000 } };
    struct response cut = { .medium = { .width = 100, .height = 100 } };
    struct response rude = { .status = 99, .error.message = "\33[2Jgone" };

    switch (size > 8 ? bytes[8] : 0) {
    case 'a':
        abort();
    case 'e':
        _exit(0);
    case 'f':
        return tell(t, open("/etc/passwd", O_RDONLY) >= 0);
    case 's':
        return tell(t, socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    case 'p':
        return tell(t, fork() >= 0 && getpid() > 0);
    case 'm':
        return tell(t, malloc((size_t)1 << 33) != NULL);
    case 'w':
        return tell(t, truncate("/tmp", 0) == 0 || errno == EISDIR);
    case 'l':
        answer_falsely(&large);
        break;
    case 'c':
        answer_falsely(&cut);
        break;
    case 'r':
        answer_falsely(&rude);
        break;
    case 'n':
        return be_silent(t);
    default:
        break;
    }
    return GG_OK; /* without a medium */
}

static const struct media_module module = {
    .version = PACKAGE_VERSION,
    .decoders = { [MEDIA_LIBPNG] = decode },
};

__attribute__((visibility(
    "default"))) extern const struct media_module *const gg_media_module;
const struct media_module *const gg_media_module = &module;
