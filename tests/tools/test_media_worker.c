/* test_media_worker.c - media are decoded in a process of their own, which can
 * do no harm if a decoder is taken over */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/media_worker.h"
#include "harness/tap.h"

const char cli_name[] = "test_media_worker";

static struct gg_error err;

static struct gg_decoded *
decode_text(const char *bytes, size_t size, enum gg_status *st)
{
    struct gg_decoded *m = NULL;

    err.message[0] = '\0';
    *st = media_worker_decode(bytes, size, NULL, &m, &err);
    return m;
}

static enum gg_status
status_of(const char *bytes, size_t size)
{
    enum gg_status st;

    gg_decoded_free(decode_text(bytes, size, &st));
    return st;
}

#define TEXT(string) string, sizeof(string) - 1

static int
count_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void
test_media(void)
{
    enum gg_status st;
    struct gg_decoded *m = decode_text(TEXT("P6 2 1 255\nabcdef"), &st);
    int before, wrong = 0;

    ok(st == GG_OK && m->width == 2 && m->height == 1 &&
           memcmp(m->rgb, "abcdef", 6) == 0,
       "an image");
    gg_decoded_free(m);
    is(status_of(TEXT("P6 2 1 255\nabc")), GG_ERR_TRUNCATED, "a damaged one");
    is((const char *)err.message,
       "the image of 2 x 1 pixels ends in their midst", "in words");
    is(status_of(TEXT("P6 50000 50000 255\n")), GG_ERR_NOMEM, "a bomb");
    is(status_of("", 0), GG_ERR_UNSUPPORTED, "nothing");
    before = count_descriptors();
    for (int i = 0; i < 30; i++)
        wrong += status_of(TEXT("P5 2 1 255\nab")) != GG_OK;
    is(wrong, 0, "many");
    is(count_descriptors(), before, "no descriptor stays open");
}

/* Pixels that are more than a socket holds, both ways. */
static void
test_large(void)
{
    enum {
        SIDE = 1500
    };
    size_t head = strlen("P6 1500 1500 255\n"), n = 3 * SIDE * SIDE;
    char *file = malloc(head + n);
    struct gg_decoded *m;
    enum gg_status st;

    if (!file)
        abort();
    memcpy(file, "P6 1500 1500 255\n", head);
    for (size_t i = 0; i < n; i++)
        file[head + i] = (char)(i * i >> 5);
    m = decode_text(file, head + n, &st);
    ok(st == GG_OK && memcmp(m->rgb, file + head, n) == 0, "a large image");
    gg_decoded_free(m);
    free(file);
}

#define PNG "\x89PNG\r\n\x1a\n"

static void
check_refused(const char *what, const char *name)
{
    char file[10] = PNG;

    file[8] = *what;
    is(status_of(file, 9), GG_ERR_FORMAT, name);
    is((const char *)err.message, "refused", name);
}

static void
check_error(const char *what, enum gg_status want, const char *name)
{
    char file[10] = PNG;

    file[8] = *what;
    is(status_of(file, 9), want, name);
    ok(err.message[0] && !strpbrk(err.message, "\33\n"), err.message);
}

static void
test_taken_over(void)
{
    check_error("a", GG_ERR_FORMAT, "it aborts");
    check_error("e", GG_ERR_FORMAT, "it ends");
    check_error("z", GG_ERR_FORMAT, "it says all is well, without a medium");
    check_error("n", GG_ERR_FORMAT, "a sound with a NaN");
    check_error("l", GG_ERR_NOMEM, "a false answer, too large");
    check_error("c", GG_ERR_FORMAT, "a false answer, without pixels");
    check_error("r", GG_ERR_FORMAT, "a false answer that clears a screen");
    check_refused("f", "a file");
    check_refused("s", "a socket");
#ifndef GG_INSTRUMENTED
    check_refused("m", "much memory");
    check_refused("p", "a process");
    check_refused("w", "a file's size");
#endif
    is(status_of(TEXT("P5 2 1 255\nab")), GG_OK, "and the next one");
}

int
main(void)
{
    const char *build = getenv("top_builddir");
    char path[4096];

    snprintf(path, sizeof(path), "%s/tests/.libs/hostile_module.so",
             build ? build : "..");
    setenv("GG_MEDIA_MODULE", path, 1);
    is(status_of(TEXT("P5 2 1 255\nab")), GG_ERR_IO, "none was started");
    ok(media_worker_start(), "a worker");
    test_media();
    test_large();
    if (access(path, R_OK) == 0) /* not in a static build */
        test_taken_over();
    media_worker_end();
    is(status_of(TEXT("P5 2 1 255\nab")), GG_ERR_IO, "it has ended");
    return tap_done();
}
