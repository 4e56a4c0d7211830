/* Tries everything that a command closed in read-only must not be able to do. Prints the name of each thing that worked.
   Arguments: a file that exists, the process number of somebody else, a listening port on loopback, a unix socket. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define TRY(name, call) do { if ((call) >= 0) puts(name); } while (0)

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    const char *file = argv[1];
    int other = atoi(argv[2]), port = atoi(argv[3]), fd, n;
    struct timeval times[2] = {{1, 0}, {1, 0}};
    struct rlimit limit = {1, 1};
    char beside[4096];
    snprintf(beside, sizeof beside, "%s.new", file);

    TRY("open for writing", open(file, O_WRONLY));
    TRY("open for appending", open(file, O_WRONLY | O_APPEND));
    TRY("open for reading, emptied", open(file, O_RDONLY | O_TRUNC));
    TRY("openat for reading, emptied", syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_TRUNC));
    TRY("create", open(beside, O_CREAT | O_WRONLY, 0600));
    TRY("create without a name", open("/tmp", O_TMPFILE | O_RDWR, 0600));
    TRY("truncate", truncate(file, 0));
    TRY("chmod", chmod(file, 0777));
    TRY("chown", chown(file, 1, 1));
    TRY("utimes", utimes(file, times));
    TRY("setxattr", setxattr(file, "user.x", "x", 1, 0));
    TRY("unlink", unlink(file));
    TRY("rename", rename(file, beside));
    TRY("link", link(file, beside));
    TRY("symlink", symlink(file, beside));
    TRY("mkdir", mkdir(beside, 0700));
    TRY("mknod", mknod(beside, S_IFREG | 0600, 0));
    TRY("fifo", mkfifo(beside, 0600));
    fd = open(file, O_RDONLY);
    if (fd >= 0) {
        TRY("fchmod", fchmod(fd, 0777));
        TRY("fchown", fchown(fd, 1, 1));
        TRY("futimens", futimens(fd, NULL));
        TRY("fsetxattr", fsetxattr(fd, "user.x", "x", 1, 0));
        TRY("ftruncate", ftruncate(fd, 0));
        TRY("fallocate", fallocate(fd, 0, 0, 1 << 20));
        void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) puts("shared map for writing");
        char again[64];
        snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
        TRY("open anew through /proc", open(again, O_RDWR));
    } else {
        puts("CANNOT READ");
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un unix_to = {.sun_family = AF_UNIX};
    strncpy(unix_to.sun_path, argv[4], sizeof unix_to.sun_path - 1);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0) { puts("tcp socket"); TRY("tcp connect", connect(fd, (void *)&to, sizeof to)); }
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd >= 0) { puts("udp socket"); TRY("udp send", sendto(fd, "x", 1, 0, (void *)&to, sizeof to)); }
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0) { puts("unix socket"); TRY("unix connect", connect(fd, (void *)&unix_to, sizeof unix_to)); }
    TRY("netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
    TRY("raw socket", socket(AF_INET, SOCK_RAW, 1));

    TRY("signal", kill(other, SIGCONT));
    /* The first process of a namespace takes no signals from it, and is ours. */
    if (getppid() != 1) TRY("signal to the parent", kill(getppid(), 0));
    TRY("ptrace attach", ptrace(PTRACE_ATTACH, other, 0, 0));
    TRY("limits of another", prlimit(other, RLIMIT_CORE, &limit, NULL));
    TRY("priority of another", setpriority(PRIO_PROCESS, other, 19));
    n = snprintf(beside, sizeof beside, "/proc/%d/mem", other);
    TRY("memory of another", open(beside, O_RDWR));

    TRY("user namespace", unshare(CLONE_NEWUSER));
    TRY("mount namespace", unshare(CLONE_NEWNS));
    TRY("user namespace by clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    TRY("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
    TRY("chroot", chroot("/tmp"));
    TRY("io_uring", syscall(SYS_io_uring_setup, 1, NULL) >= 0 || (errno != ENOSYS && errno != EPERM) ? 0 : -1);
    TRY("clone3", syscall(435, NULL, 0) >= 0 || errno != ENOSYS ? 0 : -1);
    TRY("openat2", syscall(437, AT_FDCWD, file, NULL, 0) >= 0 || errno != ENOSYS ? 0 : -1);
    TRY("rename by exchange", syscall(SYS_renameat2, AT_FDCWD, file, AT_FDCWD, "/tmp", 2));
    TRY("typing at the terminal", ioctl(0, TIOCSTI, "x"));
    TRY("handles", syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0) >= 0 || errno != EPERM ? 0 : -1);
    TRY("process memory", syscall(SYS_process_vm_writev, other, NULL, 0, NULL, 0, 0) >= 0 || errno != EPERM ? 0 : -1);
    TRY("descriptor of another", syscall(438, other, 0, 0) >= 0 || errno != EPERM ? 0 : -1);
    TRY("shared memory", syscall(SYS_shmget, IPC_PRIVATE, 4096, 0600));
    TRY("clock", syscall(SYS_clock_settime, 0, NULL) >= 0 || errno != EPERM ? 0 : -1);
    TRY("bpf", syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno != EPERM ? 0 : -1);
    (void)n;

    /* A program without a file has the same bounds: it runs this again, which must not get further. */
    if (argc == 5) {
        int memory = memfd_create("again", 0), self = open("/proc/self/exe", O_RDONLY);
        char again[64], buffer[65536];
        ssize_t count;
        while (self >= 0 && (count = read(self, buffer, sizeof buffer)) > 0)
            if (write(memory, buffer, count) != count) return 3;
        snprintf(again, sizeof again, "/proc/self/fd/%d", memory);
        char *arguments[] = {argv[0], argv[1], argv[2], argv[3], argv[4], "again", NULL};
        fflush(stdout);
        execv(again, arguments);
        return 4;
    }
#ifdef __x86_64__
    /* The same call under its number of the x32 table ends the program. */
    pid_t child = fork();
    if (child == 0) {
        syscall(0x40000000 + SYS_getpid);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) puts("x32 call");
#endif
    return 0;
}
