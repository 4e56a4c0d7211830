/* A library that writes to stdout and stderr by itself, once the file STRAY is there. Loaded into lisle with LD_PRELOAD. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void *write_when_told(void *told) {
    struct stat found;
    while (stat(told, &found) != 0) usleep(1000);
    fputs("a stray word on stderr\n", stderr);
    fputs("a stray word on stdout\n", stdout);
    fflush(stdout);
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    char *told = getenv("STRAY");
    /* Only in the first process. */
    unsetenv("LD_PRELOAD");
    if (told != NULL) pthread_create(&thread, NULL, write_when_told, told);
}
