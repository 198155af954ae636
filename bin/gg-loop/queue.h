/* queue.h - a queue of bytes, by lines */
#ifndef LOOP_QUEUE_H
#define LOOP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct queue {
    char *data;
    size_t start, end, cap;
    size_t seen; /* bytes from start without a newline */
};

static inline size_t
queue_size(const struct queue *q)
{
    return q->end - q->start;
}

void
queue_add(struct queue *q, const char *data, size_t n);

/* Takes `n` bytes off the front. */
void
queue_use(struct queue *q, size_t n);

/* Moves everything to the end of another. */
void
queue_move(struct queue *from, struct queue *to);

/* Takes words off the end, up to `n`, and lines that are left with none;
 * returns how many there were. */
unsigned long long
queue_drop_words(struct queue *q, unsigned long long n);

void
queue_clear(struct queue *q);

/* One read() or write() with what the descriptor is ready for; bytes moved, 0
 * at the end of the input, -1 with errno. */
long
queue_read(struct queue *q, int fd);
long
queue_write(struct queue *q, int fd);

/* A line of the token stream, as far as the loop has to understand it. */
struct line {
    const char *text; /* with its newline */
    size_t len;
    bool numbered;
    unsigned long long sequence;
    bool end;   /* nothing, or only a number: the sequence ends */
    bool error; /* the sequence failed */
    /* Its ids, without what says of them: */
    const char *ids;
    size_t ids_len;
    unsigned long long back; /* ids before them that are taken back */
    bool open;               /* its own ids may be taken back */
};

/* Looks at the first line after `at`; false: it is not there as a whole. */
bool
queue_line(struct queue *q, size_t at, struct line *line);

#endif
