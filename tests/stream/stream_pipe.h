/* stream_pipe.h - bytes to a descriptor that a reader can be given */
#ifndef STREAM_PIPE_H
#define STREAM_PIPE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file without a name that holds the bytes, read from its start. */
static inline int
pipe_holding(const void *data, size_t size)
{
    FILE *f = tmpfile();
    int fd = f ? dup(fileno(f)) : -1;

    if (fd < 0 || fwrite(data, 1, size, f) != size || fclose(f) ||
        lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

/* All that was written to the file, from its start; *size gets the bytes. */
static inline uint8_t *
pipe_contents(int fd, size_t *size)
{
    off_t end = lseek(fd, 0, SEEK_END);
    uint8_t *data = malloc((size_t)end + 1);

    if (end < 0 || !data || pread(fd, data, (size_t)end, 0) != end)
        abort();
    *size = (size_t)end;
    return data;
}

/* A pipe into which a child writes the bytes one by one. */
static inline int
pipe_dripping(const void *data, size_t size)
{
    const char *p = data;
    int fd[2];

    fflush(stdout);
    if (pipe(fd))
        abort();
    if (fork() == 0) {
        close(fd[0]);
        while (size-- && write(fd[1], p++, 1) == 1)
            ;
        _exit(0);
    }
    close(fd[1]);
    return fd[0];
}

#endif
