/* loop.c - what goes round
 *
 * Nothing here blocks but poll(): so much is moved as each end is ready for.
 * Three queues hold what is on its way: to the command; to standard output;
 * and, in a stream without numbers, what has to wait until standard input has
 * ended. Signals arrive in poll() only. */
#include <config.h>

#include "gg-loop/loop.h"

#include <errno.h>
#include <ggml.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/sandbox.h"
#include "gg-loop/command.h"
#include "gg-loop/held.h"
#include "gg-loop/queue.h"

enum {
    FEED_ENOUGH = 1 << 16, /* bytes to feed: no more is read meanwhile */
    MAX_WAITING = 1 << 27, /* bytes of a line, or for a command */
    GRACE_MS = 1000,       /* for a command that nobody reads any more */
};

struct loop {
    struct command command;
    struct queue in;          /* from standard input, up to a whole line */
    struct queue out;         /* from the command, up to a whole line */
    struct queue feed;        /* to the command */
    struct queue waiting;     /* the same, once standard input has ended */
    struct queue print;       /* to standard output */
    struct held_lines held;   /* the same, once they stay */
    bool in_ended, fed;       /* standard input; a line of it */
    bool numbered;            /* what that line was */
    bool closing;             /* the command gets no more than `feed` has */
    bool unread;              /* nobody reads standard output any more */
    unsigned long long *open; /* numbered sequences that have begun */
    size_t n_open, batch;
    const struct shard *shard;
    sigset_t outside; /* what is blocked only while poll() waits */
};

/* ---- sequences that have begun ---- */

static size_t
find_open(const struct loop *l, unsigned long long sequence)
{
    size_t i = 0;

    while (i < l->n_open && l->open[i] != sequence)
        i++;
    return i;
}

static void
forget(struct loop *l, unsigned long long sequence)
{
    size_t i = find_open(l, sequence);

    if (i < l->n_open)
        l->open[i] = l->open[--l->n_open];
}

/* ---- lines ---- */

/* A line of standard input, unless it has to wait for its turn. */
static bool
take_input_line(struct loop *l, const struct line *line)
{
    shard_check(l->shard, line->numbered, "standard input");
    l->numbered = line->numbered;
    l->fed = true;
    if (!shard_has(l->shard, line->sequence))
        return true;
    if (line->numbered && (line->end || line->error)) {
        forget(l, line->sequence);
    } else if (line->numbered && find_open(l, line->sequence) == l->n_open) {
        if (l->n_open == l->batch)
            return false;
        l->open[l->n_open++] = line->sequence;
    }
    queue_add(&l->feed, line->text, line->len);
    return true;
}

static void
take_input(struct loop *l)
{
    struct line line;

    while (!l->closing && queue_line(&l->in, 0, &line) &&
           take_input_line(l, &line))
        queue_use(&l->in, line.len);
}

/* The command is to be told that its sequence has ended, also where that was
 * by an error: what it holds of it is of no use. */
static void
feed_end(struct loop *l, unsigned long long sequence)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%llu\t\n", sequence);

    queue_add(&l->feed, text, (size_t)n);
}

static void
take_numbered(struct loop *l, const struct line *line, const struct line *next)
{
    if (find_open(l, line->sequence) == l->n_open)
        return; /* nothing of ours */
    if (line->end || line->error) {
        forget(l, line->sequence);
        feed_end(l, line->sequence);
    } else if (!next || !next->end || next->sequence != line->sequence) {
        queue_add(&l->feed, line->text, line->len);
    } /* else it is the last: nobody wants to know what would follow it */
}

static void
take_output_line(struct loop *l, const struct line *line,
                 const struct line *next)
{
    if (l->closing)
        return;
    if (line->numbered)
        take_numbered(l, line, next);
    else if (line->error)
        l->closing = true;
    else
        queue_add(&l->waiting, line->text, line->len);
}

/* Lines are copied as they are complete, then fed. */
static void
take_output(struct loop *l)
{
    struct line line, next;

    while (queue_line(&l->out, 0, &line)) {
        bool follows = queue_line(&l->out, line.len, &next) && next.numbered;

        take_output_line(l, &line, follows ? &next : NULL);
        if (!held_add(&l->held, &line, &l->print)) {
            command_kill(&l->command, SIGTERM);
            cli_die("the command takes back ids that it has not held back");
        }
        queue_use(&l->out, line.len);
    }
    if (l->held.size > MAX_WAITING) {
        command_kill(&l->command, SIGTERM);
        cli_too_long("the command", "what it may take back", MAX_WAITING);
    }
}

/* ---- events ---- */

/* Ends the tool, and the command, where what waits in the queue is too much. */
static void
check_size(const struct loop *l, const struct queue *q, const char *name,
           const char *what)
{
    if (queue_size(q) <= MAX_WAITING)
        return;
    command_kill(&l->command, SIGTERM);
    cli_too_long(name, what, MAX_WAITING);
}

/* As check_size(), for a line whose end is missing. */
static void
check_open_line(const struct loop *l, struct queue *q, const char *name)
{
    struct line line;

    if (!queue_line(q, 0, &line))
        check_size(l, q, name, "a line");
}

static void
read_input(struct loop *l)
{
    long n = queue_read(&l->in, STDIN_FILENO);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0)
        cli_warn("standard input: %s", strerror(errno));
    if (n <= 0) {
        if (queue_size(&l->in)) /* a last line without its newline */
            queue_add(&l->in, "\n", 1);
        l->in_ended = true;
    }
    check_open_line(l, &l->in, "standard input");
}

static void
read_output(struct loop *l)
{
    long n = queue_read(&l->out, l->command.output);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        held_end(&l->held, &l->print);
        queue_move(&l->out, &l->print); /* what lacks its newline */
        command_close(&l->command.output);
        l->closing = true;
    }
}

static void
stop_feeding(struct loop *l)
{
    queue_clear(&l->feed);
    l->closing = true;
}

static void
write_feed(struct loop *l)
{
    if (queue_write(&l->feed, l->command.input) < 0 && errno != EAGAIN &&
        errno != EINTR)
        stop_feeding(l);
}

static void
write_print(struct loop *l)
{
    if (queue_write(&l->print, STDOUT_FILENO) >= 0 || errno == EAGAIN ||
        errno == EINTR)
        return;
    if (errno != EPIPE) {
        const char *why = strerror(errno);

        command_kill(&l->command, SIGTERM);
        cli_die("standard output: %s", why);
    }
    l->unread = true;
}

/* Moves lines on, as the last events allow. */
static void
advance_loop(struct loop *l)
{
    take_input(l);
    if (l->in_ended && queue_size(&l->in) == 0) {
        queue_move(&l->waiting, &l->feed);
        if (!l->fed || (l->numbered && l->n_open == 0))
            l->closing = true;
    }
    if (queue_size(&l->feed) > 0)
        write_feed(l);
    if (l->closing && queue_size(&l->feed) == 0)
        command_close(&l->command.input);
}

/* A program of the command has said that it will print no more: what the
 * command would do with the rest of its input, nobody wants to know. */
static void
hear_news(struct loop *l)
{
    char byte[16];

    if (read(l->command.news, byte, sizeof(byte)) > 0 && !l->numbered)
        stop_feeding(l);
}

/* A whole line that take_input() has left waits for its turn. */
static bool
want_input(struct loop *l)
{
    struct line line;

    return !l->in_ended && !l->closing && queue_size(&l->feed) < FEED_ENOUGH &&
           !queue_line(&l->in, 0, &line);
}

static void
wait_for_events(struct loop *l)
{
    bool feed = queue_size(&l->feed) > 0, print = queue_size(&l->print) > 0;
    bool room = queue_size(&l->print) < FEED_ENOUGH;
    struct pollfd p[] = {
        { want_input(l) ? STDIN_FILENO : -1, POLLIN, 0 },
        { room ? l->command.output : -1, POLLIN, 0 },
        { l->command.input, feed ? POLLOUT : 0, 0 },
        { STDOUT_FILENO, print ? POLLOUT : 0, 0 },
        { l->command.news, POLLIN, 0 },
    };

    if (ppoll(p, sizeof(p) / sizeof(p[0]), NULL, &l->outside) < 0)
        return;
    if (p[0].revents)
        read_input(l);
    if (p[1].revents) {
        read_output(l);
        hear_news(l); /* which was sent before what was read */
        take_output(l);
        check_open_line(l, &l->out, "the command");
        check_size(l, &l->waiting, "the command",
                   "what waits for the end of standard input");
    } else if (p[4].revents) {
        hear_news(l);
    }
    if (p[2].revents & POLLERR)
        stop_feeding(l); /* nobody reads it any more */
    if (p[3].revents & POLLERR)
        l->unread = true;
    else if (p[3].revents)
        write_print(l);
}

/* ---- the end ---- */

static void
nothing(int sig)
{
    (void)sig; /* SIGCHLD only has to end a poll() */
}

static void
arrange_signals(struct loop *l)
{
    struct sigaction act = { .sa_handler = nothing };
    sigset_t held;

    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGCHLD, &act, NULL);
    sigemptyset(&held);
    sigaddset(&held, SIGHUP);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGCHLD);
    sigprocmask(SIG_BLOCK, &held, &l->outside);
}

/* Waits for the command, for so long. */
static bool
wait_a_moment(struct loop *l)
{
    int64_t end = ggml_time_ms() + GRACE_MS, left;
    int status;

    while (!command_has_ended(&l->command, &status)) {
        struct timespec t = { .tv_nsec = 0 };

        left = end - ggml_time_ms();
        if (left <= 0)
            return false;
        t.tv_sec = left / 1000;
        t.tv_nsec = left % 1000 * 1000000;
        ppoll(NULL, 0, &t, &l->outside);
    }
    return true;
}

/* Ends the command before its time, and then this process by `sig`. */
CLI_NORETURN static void
end_all(struct loop *l, int sig)
{
    if (sig != SIGPIPE) /* before an end of input could be mistaken for one */
        command_kill(&l->command, sig);
    command_close(&l->command.input);
    command_close(&l->command.output);
    if (!wait_a_moment(l)) {
        command_kill(&l->command, SIGTERM);
        wait_a_moment(l);
    }
    cli_raise(sig);
}

static void
clear_loop(struct loop *l)
{
    queue_clear(&l->in);
    queue_clear(&l->out);
    queue_clear(&l->feed);
    queue_clear(&l->waiting);
    held_end(&l->held, &l->print);
    queue_clear(&l->print);
    free(l->open);
}

int
loop_run(const char *command, const struct loop_options *o)
{
    struct loop l = { .batch = o->batch, .shard = &o->shard };
    bool ended = false;
    int status = 0;

    ggml_time_init();
    l.open = cli_alloc(NULL, o->batch, sizeof(*l.open));
    arrange_signals(&l);
    command_start(&l.command, command);
    sandbox_play(SANDBOX_FILTER);
    sandbox_keep_job(l.command.pid);
    sandbox_enter(o->verbose); /* the command has none */
    while (!ended || l.command.output >= 0 || queue_size(&l.print)) {
        wait_for_events(&l);
        advance_loop(&l);
        if (cli_signal())
            end_all(&l, cli_signal());
        if (l.unread)
            end_all(&l, SIGPIPE);
        ended = ended || command_has_ended(&l.command, &status);
    }
    if (!l.fed && status == 0) {
        cli_warn("standard input: no prompt");
        status = EXIT_FAILURE;
    }
    clear_loop(&l);
    return status;
}
