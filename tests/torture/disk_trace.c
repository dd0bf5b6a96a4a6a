/* Preloaded into a server: writes down every change of its database's files, and every time that they are synced.

   DISK_TRACE names the file to append to, DISK_TRACE_OF the path of the database. A line of the trace is a kind (one
   byte), the length of the name, the offset and the length of what follows (32, 64 and 64 bits), the name, and what was
   written. A change is noted after it was made, and a sync after it was done, so that whoever has an answer of the
   server finds in the trace all that the answer rests on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static const char *database;
static char directory[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_TRACE");
    database = getenv("DISK_TRACE_OF");
    if (path == NULL || database == NULL || strlen(database) >= PATH_MAX) return;
    strcpy(directory, database);
    *strrchr(directory, '/') = 0;
    trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_ours(const char *path) {
    size_t length;
    if (trace < 0 || database == NULL) return 0;
    length = strlen(database);
    if (strcmp(path, directory) == 0) return 1;
    return strncmp(path, database, length) == 0
        && (path[length] == 0 || strcmp(path + length, "-wal") == 0 || strcmp(path + length, "-journal") == 0);
}

static int path_of(int file, char *path) {
    char link[64];
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0 && is_ours(path);
}

static void note(char kind, const char *path, uint64_t offset, const void *bytes, uint64_t length) {
    char head[21];
    uint32_t name = strlen(path);
    struct iovec parts[3] = {{head, sizeof head}, {(void *)path, name}, {(void *)bytes, bytes ? length : 0}};
    size_t whole = sizeof head + name + (bytes ? length : 0);
    head[0] = kind;
    memcpy(head + 1, &name, 4);
    memcpy(head + 5, &offset, 8);
    memcpy(head + 13, &length, 8);
    pthread_mutex_lock(&order);
    if (writev(trace, parts, 3) != (ssize_t)whole) abort();
    pthread_mutex_unlock(&order);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t pwritten(ssize_t done, int file, const void *bytes, off_t offset) {
    char path[PATH_MAX];
    if (done > 0 && path_of(file, path)) note('w', path, offset, bytes, done);
    return done;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    return pwritten(REAL(pwrite)(file, bytes, length, offset), file, bytes, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    return pwritten(REAL(pwrite64)(file, bytes, length, offset), file, bytes, offset);
}

ssize_t write(int file, const void *bytes, size_t length) {
    char path[PATH_MAX];
    ssize_t done = REAL(write)(file, bytes, length);
    if (done > 0 && trace >= 0 && file != trace && path_of(file, path))
        note('w', path, lseek(file, 0, SEEK_CUR) - done, bytes, done);
    return done;
}

static int cut(int failed, int file, off_t length) {
    char path[PATH_MAX];
    if (!failed && path_of(file, path)) note('t', path, 0, NULL, length);
    return failed;
}

int ftruncate(int file, off_t length) { return cut(REAL(ftruncate)(file, length), file, length); }

int ftruncate64(int file, off64_t length) { return cut(REAL(ftruncate64)(file, length), file, length); }

static int synced(int failed, int file) {
    char path[PATH_MAX];
    if (!failed && path_of(file, path)) note('s', path, 0, NULL, 0);
    return failed;
}

int fsync(int file) { return synced(REAL(fsync)(file), file); }

int fdatasync(int file) { return synced(REAL(fdatasync)(file), file); }

int unlink(const char *path) {
    int failed = REAL(unlink)(path);
    if (!failed && is_ours(path)) note('u', path, 0, NULL, 0);
    return failed;
}
