/* Tries one class of what a held command must not be able to do, and prints the name of each thing that worked.
   Arguments: the class, and what it needs. What would harm the machine is tried by a held process alone. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
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
        if (getppid() != 1) TRY("signal to lisle", kill(getppid(), 0));
        int fd = syscall(434, atoi(*more), 0);
        if (fd >= 0) TRY("signal by descriptor", syscall(424, fd, SIGCONT, NULL, 0));
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

/* set-ids FILE: files that run with the rights of their owner or group. FILE is the caller's own, another's or none. */
static void set_ids(char **more) {
    const char *own = "set-id";
    struct stat found;
    int made = open(own, O_CREAT | O_RDWR, 0700);
    int modes[] = {04755, 02755, 06755};
    for (int i = 0; i < 3; i++) {
        int mode = modes[i];
        TRY("chmod", chmod(own, mode));
        TRY("fchmod", fchmod(made, mode));
        TRY("fchmodat", fchmodat(AT_FDCWD, own, mode, 0));
        TRY("fchmodat2", syscall(452, AT_FDCWD, own, mode, 0));
        TRY("chmod of another's", chmod(*more, mode));
        TRY("mknod", mknod("set-id-node", S_IFREG | mode, 0));
        TRY("mknodat", mknodat(AT_FDCWD, "set-id-at", S_IFREG | mode, 0));
        TRY("open", syscall(SYS_open, "set-id-open", O_CREAT | O_WRONLY, mode));
        TRY("openat", openat(AT_FDCWD, "set-id-openat", O_CREAT | O_WRONLY, mode));
        TRY("creat", creat("set-id-creat", mode));
        TRY("temporary", open(".", O_TMPFILE | O_RDWR, mode));
        struct { uint64_t flags, mode, resolve; } how = {O_CREAT | O_WRONLY, mode, 0};
        TRY("openat2", syscall(437, AT_FDCWD, "set-id-openat2", &how, sizeof how));
        if (mkdir("set-id-folder", mode) == 0 && stat("set-id-folder", &found) == 0 && found.st_mode & 06000) puts("mkdir");
        rmdir("set-id-folder");
    }
    const char *names[] = {own, "set-id-node", "set-id-at", "set-id-open", "set-id-openat", "set-id-creat", "set-id-openat2", NULL};
    for (int i = 0; names[i]; i++) {
        if (stat(names[i], &found) == 0 && found.st_mode & 06000) printf("%s has it\n", names[i]);
        unlink(names[i]);
    }
}

static void writes(const char *path) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) { printf("open for writing %s\n", path); close(fd); }
}

/* settings: of the kernel, of control groups, of this process. Nothing is written. */
static void settings(char **more) {
    (void)more;
    const char *paths[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
        "/proc/sys/kernel/ns_last_pid", "/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger", "/proc/self/oom_score_adj",
        "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups", "/proc/self/loginuid", "/proc/self/mem",
        "/proc/self/clear_refs", "/proc/irq/default_smp_affinity", "/proc/mtrr", "/sys/kernel/uevent_helper", "/sys/power/state",
        "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/cgroup.subtree_control", "/sys/kernel/debug/sched/debug", NULL};
    for (int i = 0; paths[i]; i++) writes(paths[i]);
    if (mkdir("/sys/fs/cgroup/lisle-test", 0700) == 0) { puts("control group"); rmdir("/sys/fs/cgroup/lisle-test"); }
}

/* schedules PID…: when others run. */
static void schedules(char **more) {
    for (; *more; more++) {
        int pid = atoi(*more);
        cpu_set_t set;
        struct sched_param normal = {0};
        struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t times[3]; } attr = {48, 0, 0, 0, 0, {0}};
        if (sched_getaffinity(pid, sizeof set, &set) == 0) TRY("processors of another", sched_setaffinity(pid, sizeof set, &set));
        TRY("scheduler of another", sched_setscheduler(pid, SCHED_OTHER, &normal));
        TRY("parameters of another", sched_setparam(pid, &normal));
        TRY("attributes of another", syscall(SYS_sched_setattr, pid, &attr, 0));
        TRY("disk priority of another", syscall(SYS_ioprio_set, 1, pid, 2 << 13 | 4));
    }
}

/* watches FOLDER: what happens in it. */
static void watches(char **more) {
    int fd = inotify_init1(IN_CLOEXEC);
    TRY("watched", inotify_add_watch(fd, *more, IN_CREATE));
    REACH("watched as a whole", syscall(SYS_fanotify_init, 0x200, 0));
}

/* queues NAME [made|gone]: of messages, which this makes where a word follows. */
static void queues(char **more) {
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    if (more[1] && strcmp(more[1], "gone") == 0) { mq_unlink(*more); return; }
    mqd_t queue = mq_open(*more, more[1] ? O_CREAT | O_RDWR : O_RDWR, 0666, &attr);
    if (!more[1]) TRY("queue", queue);
}

/* oracle HIDDEN MISSING: two paths that must look the same, whether they are there or not. */
static void oracle(char **more) {
    char beside[4096];
    struct stat found;
    struct { struct file_handle handle; char space[128]; } handle;
    int results[2][16], mount;
    for (int i = 0; i < 2; i++) {
        const char *path = more[i];
        int *to = results[i], watch = inotify_init1(IN_CLOEXEC);
        handle.handle.handle_bytes = sizeof handle.space;
        char *arguments[] = {(char *)path, NULL};
        snprintf(beside, sizeof beside, "%s/x", path);
#define SEEN(call) (errno = 0, *to++ = (call) >= 0 ? 0 : errno)
        SEEN(open(path, O_RDONLY));
        SEEN(open(path, O_PATH));
        SEEN(open(beside, O_RDONLY));
        SEEN(open(path, O_WRONLY));
        SEEN(stat(path, &found));
        SEEN(access(path, F_OK));
        SEEN(mkdir(path, 0700));
        SEEN(rmdir(path));
        SEEN(unlink(path));
        SEEN(rename(path, "moved"));
        SEEN(rename("free/file", path));
        SEEN(link(path, "linked"));
        SEEN(symlink("x", path));
        SEEN(execv(path, arguments));
        SEEN(inotify_add_watch(watch, path, IN_CREATE));
        SEEN(name_to_handle_at(AT_FDCWD, path, &handle.handle, &mount, 0));
    }
    for (int i = 0; i < 16; i++)
        if (results[0][i] != results[1][i]) printf("call %d tells: %s, %s\n", i, strerror(results[0][i]), strerror(results[1][i]));
}

/* arguments TEXT: of the processes around this one, which every process can read, say nothing of places. */
static void arguments(char **more) {
    int pids[] = {1, getppid()};
    char path[64], text[65536];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%d/cmdline", pids[i]);
        int fd = open(path, O_RDONLY);
        ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text);
        if (size > 0 && memmem(text, size, *more, strlen(*more))) printf("%s names %s\n", path, *more);
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

/* refuse FLAGS PROGRAM ARGUMENT…: runs a program without namespaces of these kinds, as in a container; with 0 without
   Landlock, as on a kernel that has none. */
static int refuse(char **more) {
    uint32_t flags = strtoul(*more, NULL, 0);
    struct sock_filter spaces[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_filter landlock[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof spaces / sizeof *spaces, spaces};
    if (flags == 0) program = (struct sock_fprog){sizeof landlock / sizeof *landlock, landlock};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 3;
    execv(more[1], more + 1);
    return 4;
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "refuse") == 0) return refuse(argv + 2);
    struct { const char *name; int harmless; void (*call)(char **); } all[] = {
        {"devices", 0, devices}, {"processes", 1, processes}, {"signals", 1, signals}, {"mounts", 0, mounts},
        {"sockets", 1, sockets}, {"memory", 1, memory}, {"renames", 0, renames}, {"calls", 0, calls}, {"terminals", 0, terminals},
        {"reads", 1, reads}, {"descriptors", 1, descriptors}, {"set-ids", 0, set_ids}, {"settings", 1, settings},
        {"schedules", 1, schedules}, {"watches", 1, watches}, {"queues", 1, queues}, {"oracle", 0, oracle}, {"arguments", 1, arguments}};
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
