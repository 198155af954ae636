/* lines.c - files of the owner */
#include <config.h>

#include "gg-serve/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"

enum {
    MAX_FILE = 4 << 20,
};

static enum gg_status
take_lines(const char *text, size_t n, owner_lines_taker take, void *context,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;
    int n_taken = 0;

    for (int number = 1; n && st == GG_OK; number++) {
        const char *end = memchr(text, '\n', n);
        size_t line = end ? (size_t)(end - text) : n;
        size_t cut = line && text[line - 1] == '\r' ? line - 1 : line;
        struct gg_error why;

        if (cut && *text != '#') {
            st = take(context, text, cut, &why);
            n_taken++;
        }
        if (st != GG_OK)
            return cli_error(err, st, "line %d: %s", number, why.message);
        line += end != NULL;
        text += line;
        n -= line;
    }
    if (n_taken == 0)
        return cli_error(err, GG_ERR_FORMAT, "there is no line in it");
    return st;
}

static enum gg_status
check_mode(int fd, bool private, struct gg_error *err)
{
    struct stat st;

    if (fstat(fd, &st))
        return cli_error(err, GG_ERR_IO, "%s", strerror(errno));
    if (private && S_ISREG(st.st_mode) && (st.st_mode & 077))
        return cli_error(err, GG_ERR_ARG,
                         "others may read it: chmod 600 makes it its owner's");
    return GG_OK;
}

enum gg_status
owner_lines_read(const char *path, bool private, owner_lines_taker take,
                 void *context, struct gg_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    enum gg_status st;
    char *text;
    size_t n;

    if (fd < 0)
        return cli_error(err, GG_ERR_IO, "%s", strerror(errno));
    st = check_mode(fd, private, err);
    if (st != GG_OK) {
        close(fd);
        return st;
    }
    text = cli_read_all(fd, path, MAX_FILE, &n);
    close(fd);
    if (memchr(text, '\0', n))
        st = cli_error(err, GG_ERR_FORMAT, "there is a NUL in it");
    else
        st = take_lines(text, n, take, context, err);
    explicit_bzero(text, n);
    free(text);
    return st;
}
