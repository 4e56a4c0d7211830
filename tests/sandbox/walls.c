/* Tries one class of what a held command must not be able to do, and prints the name of each thing that worked.
   Arguments: the class, and what it needs. What would harm the machine is tried by a held process alone. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRY(name, call) do { errno = 0; if ((call) >= 0) puts(name); } while (0)
/* A call that the kernel has looked into counts, too. */
#define REACH(name, call) do { errno = 0; if ((call) >= 0 || (errno != EPERM && errno != ENOSYS)) printf("%s: %s\n", name, strerror(errno)); } while (0)

static void opens(const char *path, int how) {
    int fd = open(path, how | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0) { printf("open %s\n", path); close(fd); }
}

/* devices FOLDER PATH…: others' terminals, and what lies in /dev on a usual machine. */
static void devices(char **more) {
    const char *names[] = {"tty0", "tty1", "console", "vcs", "vcs1", "vcsa", "vcsu", "kmsg", "mem", "port", "kvm", "fuse", "hwrng",
        "loop0", "loop-control", "vda", "sda", "nvme0n1", "dm-0", "net/tun", "input/event0", "uinput", "snd/timer", "dri/card0",
        "hpet", "rtc0", "btrfs-control", "autofs", "cpu/0/msr", "userfaultfd", "vhost-vsock", "mapper/control", NULL};
    char path[4096];
    for (int i = 0; names[i]; i++) {
        snprintf(path, sizeof path, "/dev/%s", names[i]);
        opens(path, O_RDONLY);
        opens(path, O_WRONLY);
    }
    snprintf(path, sizeof path, "%s/disk", *more);
    TRY("mknod of a disk", mknod(path, S_IFBLK | 0600, makedev(7, 0)));
    TRY("mknod of memory", mknod(path, S_IFCHR | 0600, makedev(1, 1)));
    for (more++; *more; more++) { opens(*more, O_RDONLY); opens(*more, O_WRONLY); }
    DIR *dir = opendir("/dev/pts");
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') printf("a terminal %s is there\n", entry->d_name);
}

static void can_be_read(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return;
    if (read(fd, &byte, 1) == 1) printf("read %s\n", path);
    close(fd);
}

/* processes PID…: their memory, variables, descriptors. */
static void processes(char **more) {
    const char *names[] = {"environ", "mem", "maps", "stack", "syscall", "auxv", "exe", NULL};
    const char *links[] = {"fd/0", "root/etc", "cwd/.", "ns/mnt", NULL};
    char path[4096], byte;
    for (; *more; more++) {
        int pid = atoi(*more);
        /* The first process of a namespace of its own is lisle's, and no other. */
        if (pid == 1 && getppid() == 1) continue;
        for (int i = 0; names[i]; i++) {
            snprintf(path, sizeof path, "/proc/%d/%s", pid, names[i]);
            can_be_read(path);
        }
        for (int i = 0; links[i]; i++) {
            snprintf(path, sizeof path, "/proc/%d/%s", pid, links[i]);
            opens(path, O_RDONLY);
        }
        struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
        TRY("memory of another", process_vm_readv(pid, &here, 1, &there, 1, 0));
        TRY("attached", ptrace(PTRACE_SEIZE, pid, 0, 0));
        int fd = syscall(434, pid, 0);
        if (fd >= 0) TRY("descriptor of another", syscall(438, fd, 0, 0));
        if (fd >= 0) TRY("namespaces of another", setns(fd, CLONE_NEWNS));
    }
}

/* signals PID…: they must not be there to be signalled. */
static void signals(char **more) {
    char path[4096];
    for (; *more; more++) {
        TRY("signal", kill(atoi(*more), SIGCONT));
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
        TRY("limits of another", syscall(SYS_prlimit64, atoi(*more), RLIMIT_CORE, NULL, &limit));
        TRY("priority of another", setpriority(PRIO_PROCESS, atoi(*more), 19));
        if (getppid() != 1) TRY("priority of all", setpriority(PRIO_USER, 0, getpriority(PRIO_USER, 0)));
        TRY("queued signal", sigqueue(atoi(*more), SIGCONT, (union sigval){0}));
        snprintf(path, sizeof path, "/proc/%s/cmdline", *more);
        if (getppid() == 1) opens(path, O_RDONLY);
    }
}

struct attr { uint64_t set, clr, propagation, userns; };

/* memory KEY [made|gone]: a segment of another program, which this is where a word follows. */
static void memory(char **more) {
    int id = shmget(atoi(*more), 1, more[1] ? IPC_CREAT | 0666 : 0);
    if (more[1] && strcmp(more[1], "gone") == 0) { shmctl(id, IPC_RMID, NULL); return; }
    if (more[1]) { *(char *)shmat(id, NULL, 0) = 'x'; return; }
    TRY("shared memory", id);
    void *there = shmat(id, NULL, SHM_RDONLY);
    if (there != (void *)-1) printf("shared memory holds %c\n", *(char *)there);
}

/* mounts PATH: the path is read-only for this program. */
static void mounts(char **more) {
    char *path = *more;
    struct attr writable = {0, 1, 0, 0};
    for (int again = 0; again < 2; again++) {
        int fd = syscall(SYS_open_tree, AT_FDCWD, path, 1 | O_CLOEXEC);
        if (fd >= 0) {
            puts("a mount is cloned");
            TRY("and made writable", syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &writable, sizeof writable));
            TRY("and attached", syscall(SYS_move_mount, fd, "", AT_FDCWD, "/", 4));
        }
        TRY("a clone with attributes", syscall(467, AT_FDCWD, path, 1, &writable, sizeof writable));
        TRY("made writable", syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &writable, sizeof writable));
        TRY("remount", mount("none", path, NULL, MS_REMOUNT | MS_BIND, NULL));
        TRY("bind", mount("/", path, NULL, MS_BIND | MS_REC, NULL));
        TRY("tmpfs", mount("none", "/", "tmpfs", 0, NULL));
        TRY("proc", mount("none", "/proc", "proc", 0, NULL));
        TRY("umount", umount2(path, MNT_DETACH));
        TRY("umount of the root", umount2("/", MNT_DETACH));
        TRY("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
        TRY("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0));
        TRY("pivot_root", syscall(SYS_pivot_root, "/", "/"));
        TRY("chroot", chroot("/usr"));
        int first = open("/proc/1/ns/mnt", O_RDONLY);
        if (first >= 0) TRY("namespace of another", setns(first, 0));
        TRY("mount namespace", unshare(CLONE_NEWNS));
        TRY("user namespace", unshare(CLONE_NEWUSER));
        TRY("both", unshare(CLONE_NEWUSER | CLONE_NEWNS));
        TRY("network namespace", unshare(CLONE_NEWUSER | CLONE_NEWNET));
        TRY("clone3", syscall(SYS_clone3, NULL, 0) >= 0 || errno != ENOSYS ? 0 : -1);
        /* The same in a namespace of its own, if it gets one. */
        if (again == 0) {
            int child = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
            if (child > 0) { waitpid(child, NULL, 0); puts("user namespace by clone"); }
            if (child != 0) break;
        }
    }
}

static int to_path(struct sockaddr_un *to, const char *path) {
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    if (path[0] == '@') {
        memcpy(to->sun_path + 1, path + 1, strlen(path + 1));
        return offsetof(struct sockaddr_un, sun_path) + strlen(path);
    }
    strncpy(to->sun_path, path, sizeof to->sun_path - 1);
    return sizeof *to;
}

/* sockets STREAM ABSTRACT DATAGRAM: addresses of another program. */
static void sockets(char **more) {
    struct sockaddr_un to;
    for (int i = 0; i < 2; i++) {
        int size = to_path(&to, more[i]);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd >= 0 && connect(fd, (void *)&to, size) == 0) printf("connected to %s\n", more[i]);
    }
    int size = to_path(&to, more[2]), kinds[] = {SOCK_DGRAM, SOCK_RAW}, pair[2];
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_UNIX, kinds[i], 0);
        if (fd >= 0 && sendto(fd, "x", 1, 0, (void *)&to, size) == 1) puts("datagram sent");
        if (socketpair(AF_UNIX, kinds[i], 0, pair) == 0) {
            if (sendto(pair[0], "x", 1, 0, (void *)&to, size) == 1) puts("datagram sent by one of a pair");
            if (connect(pair[0], (void *)&to, size) == 0) puts("one of a pair connected");
        }
    }
    for (int family = 0; family < 50; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
        for (int kind = 1; kind <= 5; kind++)
            if (socket(family, kind, 0) >= 0) { printf("socket of family %d\n", family); break; }
        if (socketpair(family, SOCK_STREAM, 0, pair) >= 0) printf("pair of family %d\n", family);
    }
    for (int protocol = 1; protocol < 32; protocol++)
        if (socket(AF_NETLINK, SOCK_RAW, protocol) >= 0) printf("netlink %d\n", protocol);
    TRY("raw socket", socket(AF_INET, SOCK_RAW, 1));
    REACH("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
}

/* renames FOLDER: a/b/protected in it is read-only, a and a/b are pinned. */
static void renames(char **more) {
    if (chdir(*more)) return;
    TRY("rename of a parent", rename("a", "z"));
    TRY("rename of the folder", rename("a/b", "a/z"));
    TRY("rename of the file", rename("a/b/protected", "a/b/z"));
    TRY("exchange", syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "free", 2));
    TRY("exchange within", syscall(SYS_renameat2, AT_FDCWD, "a/b", AT_FDCWD, "free", 2));
    TRY("rename over it", rename("free/file", "a/b/protected"));
    TRY("unlink", unlink("a/b/protected"));
    TRY("write", open("a/b/protected", O_WRONLY));
    TRY("link and write", link("a/b/protected", "free/link") < 0 ? -1 : open("free/link", O_WRONLY));
    TRY("chmod", chmod("a/b/protected", 0777));
    TRY("utimes", utimensat(AT_FDCWD, "a/b/protected", NULL, 0));
    TRY("truncate", truncate("a/b/protected", 0));
}

static void in_child(const char *name, void (*call)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) { call(); _exit(0); }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status)) puts(name);
}

#ifdef __x86_64__
static void x32(void) { syscall(0x40000000 + SYS_getpid); }
static void old_table(void) {
    long result = 20;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
}
#endif

/* calls FOLDER: into the kernel itself. */
static void calls(char **more) {
    int dir = open(*more, O_RDONLY | O_DIRECTORY);
    char text[64];
    REACH("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
#ifdef SYS_kexec_file_load
    REACH("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0));
#endif
    REACH("quotactl", syscall(SYS_quotactl, 0x80000700, "/dev/none", 0, NULL));
    REACH("quotactl_fd", syscall(443, dir, 0x80000700, 0, NULL));
    REACH("syslog", syscall(SYS_syslog, 3, text, sizeof text));
    REACH("size of the log", syscall(SYS_syslog, 10, NULL, 0));
    REACH("freeze", ioctl(dir, 0xc0045877, 0));
    REACH("thaw", ioctl(dir, 0xc0045878, 0));
    REACH("io_uring_enter", syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0));
    REACH("io_uring_register", syscall(SYS_io_uring_register, -1, 0, NULL, 0));
    REACH("bpf", syscall(SYS_bpf, 0, NULL, 0));
    REACH("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
    REACH("add_key", syscall(SYS_add_key, "user", "x", "x", 1, -3));
    REACH("request_key", syscall(SYS_request_key, "user", "x", NULL, 0));
    REACH("keyctl", syscall(SYS_keyctl, 0, -3, 0));
    REACH("handles", syscall(SYS_open_by_handle_at, dir, NULL, 0));
    REACH("fanotify", syscall(SYS_fanotify_init, 0, 0));
    REACH("userfaultfd", syscall(SYS_userfaultfd, 1));
    REACH("module", syscall(SYS_finit_module, -1, "", 0));
    REACH("clock", syscall(SYS_clock_settime, 99, NULL));
    REACH("swap", syscall(SYS_swapoff, "/none"));
    REACH("name of the host", syscall(SYS_sethostname, NULL, -1));
    REACH("setns", syscall(SYS_setns, -1, 0));
    REACH("a call of tomorrow", syscall(560, 0));
#ifdef __x86_64__
    REACH("ports", syscall(SYS_iopl, 3));
    in_child("x32 call", x32);
    in_child("call of the 32-bit table", old_table);
#endif
}

/* terminals: typing for their user. */
static void terminals(char **more) {
    (void)more;
    int fds[3] = {0, open("/dev/tty", O_RDWR | O_NOCTTY), posix_openpt(O_RDWR | O_NOCTTY)};
    for (int i = 0; i < 3; i++) {
        int line = 0;
        REACH("TIOCSTI", ioctl(fds[i], TIOCSTI, "x"));
        /* Only the low half of the number counts for the kernel. */
        REACH("TIOCSTI with more", syscall(SYS_ioctl, fds[i], 0x100000000UL | TIOCSTI, "x"));
        REACH("TIOCLINUX", ioctl(fds[i], 0x541c, "\3"));
        REACH("TIOCCONS", ioctl(fds[i], TIOCCONS, 0));
        REACH("TIOCSETD", ioctl(fds[i], TIOCSETD, &line));
    }
}

/* reads PATH…: files and folders that are not in the list. */
static void reads(char **more) {
    char path[4096], target[4096];
    struct stat found;
    for (; *more; more++) {
        opens(*more, O_RDONLY);
        const char *ways[] = {"/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../../../../../..", NULL};
        for (int i = 0; ways[i]; i++) {
            snprintf(path, sizeof path, "%s%s", ways[i], *more);
            opens(path, O_RDONLY);
        }
        TRY("hard link", link(*more, "linked"));
        if (symlink(*more, "led") == 0) { opens("led", O_RDONLY); unlink("led"); }
        int first = open("/", O_PATH | O_DIRECTORY);
        snprintf(path, sizeof path, "../../../../../..%s", *more);
        if (openat(first, path, O_RDONLY) >= 0) puts("above the root");
        TRY("executed", access(*more, X_OK) == 0 && readlink(*more, target, sizeof target) > 0 ? 0 : -1);
        if (getppid() == 1 && stat(*more, &found) == 0) printf("%s is there\n", *more);
    }
}

/* descriptors: what whoever started lisle has left open. */
static void descriptors(char **more) {
    char byte;
    (void)more;
    for (int fd = 3; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0) { printf("descriptor %d%s\n", fd, read(fd, &byte, 1) == 1 ? " can be read" : ""); }
}

int main(int argc, char **argv) {
    struct { const char *name; int harmless; void (*call)(char **); } all[] = {
        {"devices", 0, devices}, {"processes", 1, processes}, {"signals", 1, signals}, {"mounts", 0, mounts},
        {"sockets", 1, sockets}, {"memory", 1, memory}, {"renames", 0, renames}, {"calls", 0, calls}, {"terminals", 0, terminals},
        {"reads", 1, reads}, {"descriptors", 1, descriptors}};
    int held = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_SECCOMP) == 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            if (!held && !all[i].harmless) return 3;
            all[i].call(argv + 2);
            return 0;
        }
    return 2;
}
