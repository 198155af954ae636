/* files.h - which files are read, written, or changed: none is both an input
 * and an output by mistake
 *
 * What is opened is noted, by device and inode: by cli_open_input(), by the
 * library, which tells of each file that it opens, and by cli_output(). A file
 * that would be both ends the tool with a sentence and status 2, before
 * anything is written. Only regular files count. */
#ifndef COMMON_FILES_H
#define COMMON_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* For cli_start(). */
void
files_init(void);

/* Notes an open file as one that is read. */
void
files_read(const char *path, int fd);

/* Notes `path` as one that is written; `final` gets its name without symbolic
 * links. Ends the tool, too, where it is such a link to nothing, or one that
 * another output has. Returns the descriptor of files_change(), if this is the
 * file and no other file was read, or -1. */
int
files_write(const char *path, char final[PATH_MAX]);

/* Notes what is open as one that is written where it lies. */
void
files_write_open(const char *path, int fd);

/* Ends the tool if a file of this name is read. */
void
files_keep(const char *path);

/* True if it is there, and then in *st. A symbolic link that leads to no file,
 * and whatever hides the answer, ends the tool. */
bool
files_are_there(const char *path, struct stat *st);

/* Opens a regular file with these flags, or ends the tool. */
int
files_open(const char *path, int flags);

/* Opens a regular file as files_open() does, and locks it until the
 * descriptor is closed. Ends the tool where another process has the lock.
 * `shared`: others may, too. If all who replace a file lock it first, this is
 * the one that has the name while it is locked. */
int
files_lock(const char *path, int flags, bool shared);

/* Both for one that is written, where it lies or by files_write(). The library
 * may read it if it is the file `read_back`, which may be NULL. */
int
files_write_locked(const char *path, int flags, const char *read_back,
                   char final[PATH_MAX]);

/* True if `path` names the file that is open. */
bool
files_are_one(int fd, const char *path);

/* Locks a file that is read first, by its descriptor or by the library, and
 * then replaced by files_write(). */
int
files_change(const char *path, int flags);

/* That, if `out` is `in` and it is allowed; otherwise files_write() refuses the
 * name and says that --in-place would replace the file. */
void
files_change_if_same(const char *in, const char *out, bool allowed);

#endif
