/* cli.h - what every tool does the same way
 *
 *     const char cli_name[] = "gg-x";
 *
 *     int
 *     main(int argc, char **argv)
 *     {
 *         cli_start();
 *         parse(argc, argv);
 *         return cli_finish(run());
 *     }
 */
#ifndef COMMON_CLI_H
#define COMMON_CLI_H

#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <gg.h>

enum {
    EXIT_USAGE = 2,
    EXIT_RECORDS = 3, /* all was written, but for records that failed */
};

#define CLI_NORETURN     __attribute__((noreturn))
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- messages: cli.c ---- */

/* Every tool defines its name; main() begins with cli_start(). */
extern const char cli_name[];

/* Puts signals in order; catches a mapped file that shrinks: SIGBUS. start.c */
void
cli_start(void);
/* Who knows whether a file is one that the sandbox keeps from the tool. */
void
cli_explain_by(bool (*of_path)(const char *path));

/* Has `prepare` called before each message: it brings a terminal's cursor to
 * the begin of a line. Up to four of them. */
void
cli_before_messages(void (*prepare)(void));

/* Writes the sentence and returns `status`, so that a failing function can end
 * with it. */
CLI_PRINTF(3, 4)
enum gg_status
cli_error(struct gg_error *err, enum gg_status status, const char *fmt, ...);

/* "NAME: message" on stderr. */
CLI_PRINTF(1, 2) void cli_warn(const char *fmt, ...);
/* Warns, then ends with status 1. Output that cli_output() holds is lost. */
CLI_NORETURN CLI_PRINTF(1, 2) void cli_die(const char *fmt, ...);
/* Says of a text how many bytes have no token and were left out; of 0, nothing.
 */
void
cli_tell_left_out(const char *name, uint64_t n);
/* From now on it is this status, where 1 means something else. */
void
cli_fail_with(int status);
/* True if it is that one. */
bool
cli_is_failure(int status);
/* Warns with a hint at --help, then ends with status 2. */
CLI_NORETURN CLI_PRINTF(1, 2) void cli_misuse(const char *fmt, ...);
/* Shows a message that may have a name from outside in it: nothing that a
 * terminal obeys, nor a newline, is left. What was escaped before stays. Cut
 * to fit; returns buf. All of the above do so. */
char *
cli_escape(char *buf, size_t size, const char *text);

/* Ends with the sentence if the status is not GG_OK; by the signal that came,
 * if it is GG_ERR_ABORTED and one did. */
void
cli_check(enum gg_status status, const struct gg_error *err);

/* As cli_check(), but false where a signal came that has aborted the call: the
 * caller cleans up. */
bool
cli_finished(enum gg_status status, const struct gg_error *err);

void *
cli_alloc(void *p, size_t n, size_t size); /* realloc or die: spare.h */

/* text[0..len) and a NUL, for free(). */
char *
cli_copy(const char *text, size_t len);

/* --version: ends the tool with 0. start.c */
CLI_NORETURN void
cli_version(void);

/* ---- values of options: values.c; anything else ends with status 2 ----
 * `option` is for the message: "--top-k". Numbers are decimal and in the C
 * locale, without blanks; none of them is cut or rounded to fit. */

int64_t
cli_int(const char *option, const char *text, int64_t min, int64_t max);
double
cli_float(const char *option, const char *text, double min, double max);
/* As cli_int(), but a bad number does not end the tool: GG_ERR_ARG. */
enum gg_status
cli_read_int(const char *option, const char *text, int64_t min, int64_t max,
             int64_t *out, struct gg_error *err);
enum gg_status
cli_read_u64(const char *option, const char *text, uint64_t *out,
             struct gg_error *err);
/* A number of bytes, at most 2^50; K, M, G after it are powers of 1024. */
enum gg_status
cli_read_bytes(const char *option, const char *text, int64_t min, uint64_t *out,
               struct gg_error *err);
enum gg_status
cli_read_float(const char *option, const char *text, double min, double max,
               double *out, struct gg_error *err);

/* --special: what becomes of control tokens' names in a text. */
enum special {
    SPECIAL_TEXT,  /* "text": they are text as any other */
    SPECIAL_PARSE, /* "parse": they are those tokens */
    SPECIAL_ERROR, /* "error": there must be none */
};
#define SPECIAL_WORDS "text|parse|error"

/* ---- the model to use: model.c ---- */

/* -m's argument, else $GG_MODEL, else the demo model (which one line says then
 * where stderr is a terminal, unless `quiet`); a name without a slash that is
 * no file here is looked up in $GG_MODEL_PATH, then $XDG_DATA_HOME/gg. ".gguf"
 * may be left out. A static string. */
const char *
cli_model(const char *name, bool quiet);

/* The folder of this program, by /proc, or where there is none by the path it
 * was started with. False: it is not known. */
bool
cli_program_folder(char dir[PATH_MAX]);

/* Ends the tool where the name, or else $GG_MODEL, is no file, but one that
 * gg-fetch takes: it says how. */
void
cli_check_model(const char *name);
/* As cli_check_model(), of an argument. */
void
cli_check_model_file(const char *name);

/* ---- input and output: output.c ---- */

/* Opens FILE for reading; NULL and "-" are standard input. Ends the tool where
 * it is an output: see files.h. */
int
cli_open_input(const char *path);
/* The input's name in messages: "standard input", or the path. */
const char *
cli_input_name(const char *path);
/* All of it in memory, and a NUL after it; *len gets the bytes before the NUL.
 * The caller frees it. Ends the tool where there are more than `max`. */
char *
cli_read_all(int fd, const char *name, size_t max, size_t *len);
/* Says of a text that begins as a picture, a model or a logit stream does what
 * it seems to be: it is taken as text. */
void
cli_tell_kind(const char *name, const char *text, size_t len);
/* A hint after arguments that are no FILE: "; a text goes after -p". */
void
cli_hint_file(const char *hint);
/* argv[first], where there is one, which cannot be opened with that hint; NULL.
 * Ends the tool where there are more, or `other` names a file, too. */
const char *
cli_one_file(int argc, char **argv, int first, const char *other);
/* Ends the tool: `name` holds more than `max` bytes, a number of MiB; `what`
 * says of which thing, as "the prompt". */
CLI_NORETURN void
cli_too_long(const char *name, const char *what, size_t max);

/* Bytes of the mark (U+FEFF) that some editors put in front of UTF-8: a text
 * with a form, such as JSON, may begin with it. */
static inline size_t
cli_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Makes -o FILE the standard output: under a temporary name next to it, renamed
 * by cli_finish(), removed by every other end; one that was there gives it its
 * mode, its group and, as far as the process may, its owner. A special file
 * (a FIFO, /dev/null) is opened as it is; a name such as /dev/fd/3 is that
 * descriptor, whatever it has open; NULL and "-" change nothing. The name is
 * copied. Ends the tool where FILE is an input, or a symbolic link to
 * nothing: see files.h. */
void
cli_output(const char *path);

/* As cli_output(), for one more: the output so far is complete, and appears
 * with all the others, or not at all. */
void
cli_output_next(const char *path);

/* Messages call standard output so from now on; the name is copied. */
void
cli_name_output(const char *path);

/* The status of a tool that has come to the end of its input: `failed` says
 * that some record was bad, `records` that it was one of many. */
static inline int
cli_status(bool failed, bool records)
{
    return !failed ? 0 : records ? EXIT_RECORDS : 1;
}

/* True if some output has its temporary name. */
bool
cli_output_waits(void);

/* Opens a file that gets the name `name`, which is `final` without symbolic
 * links, after all outputs. `changed` is the file that it replaces, which
 * files_lock() has locked: another one is not replaced. `created`: this tool
 * made that one, and it goes where all go. */
int
cli_replace(const char *name, const char *final, int changed, bool created);

/* Opens a file that is apart from the outputs: cli_close_aside() gives it its
 * name, as its mode and owner are given to those, and every end of the tool
 * before that removes it. One at a time; what fails ends the tool. */
FILE *
cli_open_aside(const char *path);
void
cli_close_aside(const char *path, FILE *file);

/* All files get their names, or, where a signal comes before, none. */
void
cli_commit(void);

/* Refuses to write binary to a terminal: status 2. */
void
cli_refuse_terminal(void);

/* Whether somebody sees standard output there: not where a launcher reads it,
 * which may do so by way of a terminal. */
bool
cli_output_is_terminal(void);
void
cli_relayed_output(void); /* a launcher does */

/* Called where the tool fails, before it ends. */
void
cli_before_end(void (*end)(void));

/* Sends stdout's text on, so that whoever reads it need not wait; dies if
 * that fails, unless a caught signal came, which has ended the reader, too. */
void
cli_flush(void);

/* Flushes, closes and checks stdout, so that whoever reads it sees its end
 * while this tool goes on; dies if something was lost. */
void
cli_close_output(void);

/* Ends main(): closes stdout as above unless that was done, and gives all files
 * their names, unless the status says that the tool failed: then they go, and
 * old ones stay. Returns the status to exit with; a full disk is 1. */
int
cli_finish(int status);

/* Removes temporary files; safe in a signal handler. */
void
cli_drop_output(void);
/* Has that remove the file `path`, too; NULL: not any more. */
void
cli_discard_too(const char *path);

/* ---- signals: signal.c ---- */

/* HUP, INT and TERM set a flag instead of ending the tool at once; a second
 * one ends it. Calls that wait return early, again and again: a reader's
 * GG_ERR_ABORTED. PIPE, which may follow when a whole pipe is told to end, is
 * ignored from then on. */
void
cli_catch_signals(void);
/* The signal that came, or 0. */
int
cli_signal(void);
/* As if it had not come: who requested that an answer stop goes on. */
void
cli_forget_signal(void);

/* The first SIGTERM asks for an end soon from now on, and is none that came:
 * cli_drains() tells it. */
void
cli_drain_by_signal(void);
bool
cli_drains(void);
/* For ggml_abort_callback: true once a signal came. */
bool
cli_aborted(void *unused);
/* Ends the process as the signal would have, after cleaning up. */
CLI_NORETURN void
cli_raise(int sig);

/* Holds back all signals but those of a fault of the thread's own, until
 * sigprocmask(SIG_SETMASK, before, NULL). */
void
cli_hold_signals(sigset_t *before);
/* pthread_create(), with signals left to the thread that starts it. */
int
cli_start_thread(pthread_t *thread, void *(*run)(void *), void *data);

/* Sets the function by which cli_discard_output() drops outputs, also when a
 * signal ends the tool. */
void
cli_discard_by(void (*drop)(void));
void
cli_discard_output(void);
/* For cli_start(). */
void
cli_init_signals(void);

#endif
