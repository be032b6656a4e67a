"""The system calls that computing needs, and the BPF program that refuses all others.

Written out here, since libseccomp (which the Python bindings need) is a system library that pip cannot bring, and since
an allow-list of numbers is all that is needed.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass

# Everything that a forked worker calls once its code is loaded: its two pipes, memory, time, its own signals, exit.
# Deliberately absent: whatever takes a path, makes a descriptor, a process or a thread, or names another process.
# Absent too is `fstat`, which newer C libraries express by a call that takes a path.
_X86_64 = {
    "read": 0, "write": 1, "close": 3, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35,
    "getpid": 39, "exit": 60, "gettimeofday": 96, "getrusage": 98, "times": 100, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229,
    "clock_nanosleep": 230, "exit_group": 231, "getcpu": 309, "getrandom": 318, "rseq": 334,
}  # fmt: skip
_AARCH64 = {
    "close": 57, "read": 63, "write": 64, "exit": 93, "exit_group": 94, "futex": 98, "nanosleep": 101,
    "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123, "sched_yield": 124,
    "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139,
    "times": 153, "getrusage": 165, "getcpu": 168, "gettimeofday": 169, "getpid": 172, "getuid": 174,
    "geteuid": 175, "getgid": 176, "getegid": 177, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216,
    "mmap": 222, "mprotect": 226, "madvise": 233, "getrandom": 278, "rseq": 293,
}  # fmt: skip

# What SQLite, and Python around it, call beside these on files and on the line to the caller. Absent are still: making
# a process, a thread or a socket, running a program, and naming another process.
_X86_64_FILES = {
    "open": 2, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "ioctl": 16, "pread64": 17, "pwrite64": 18,
    "access": 21, "sendto": 44, "recvfrom": 45, "uname": 63, "fcntl": 72, "fsync": 74, "fdatasync": 75,
    "ftruncate": 77, "getcwd": 79, "unlink": 87, "readlink": 89, "getrlimit": 97, "setrlimit": 160,
    "getdents64": 217, "openat": 257, "newfstatat": 262, "unlinkat": 263, "readlinkat": 267, "faccessat": 269,
    "fallocate": 285, "prlimit64": 302, "statx": 332, "faccessat2": 439,
}  # fmt: skip
_AARCH64_FILES = {
    "getcwd": 17, "fcntl": 25, "ioctl": 29, "unlinkat": 35, "ftruncate": 46, "fallocate": 47, "faccessat": 48,
    "openat": 56, "getdents64": 61, "lseek": 62, "pread64": 67, "pwrite64": 68, "ppoll": 73, "readlinkat": 78,
    "newfstatat": 79, "fstat": 80, "fsync": 82, "fdatasync": 83, "uname": 160, "getrlimit": 163, "setrlimit": 164,
    "sendto": 206, "recvfrom": 207, "prlimit64": 261, "statx": 291, "faccessat2": 439,
}  # fmt: skip

# Allowed as long as the memory does not become executable: no code but what was loaded before.
_NOT_EXECUTABLE = ("mmap", "mprotect")
_PROT_EXEC = 4
# Allowed with the advices that allocators give, NORMAL, DONTNEED, FREE, HUGEPAGE and NOHUGEPAGE: others poison pages,
# merge them with those of other processes, or keep them from being inherited.
_ADVISING = "madvise"
_ADVICES = (0, 4, 8, 14, 15)
# Protection and advice are both the third argument.
_CHECKED_ARGUMENT = 2

# linux/bpf_common.h and linux/seccomp.h
_LOAD_WORD, _JUMP_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_ARGUMENTS = 0, 4, 16
_KILL, _REFUSE, _ALLOW = 0x80000000, 0x00050000 | errno.EPERM, 0x7FFF0000


@dataclass(frozen=True)
class ProcessorArchitecture:
    """A processor architecture, with the numbers of the permitted system calls."""

    audit: int  # how audit names it
    calls: dict[str, int]  # the numbers of the calls that computing needs
    files: dict[str, int]  # of those that reading a database needs beside them
    seccomp: int  # the number of `seccomp` itself


MACHINES: Mapping[str, ProcessorArchitecture] = {
    "x86_64": ProcessorArchitecture(0xC000003E, _X86_64, _X86_64_FILES, 317),
    "aarch64": ProcessorArchitecture(0xC00000B7, _AARCH64, _AARCH64_FILES, 277),
}


def get_processor_architecture() -> ProcessorArchitecture | None:
    """Return the processor architecture of this machine; None if it is not supported."""
    return MACHINES.get(platform.machine())


def build_filter_program(machine: ProcessorArchitecture, files: bool = False) -> bytes:
    """Build a seccomp filter as `struct sock_filter` entries; `files` allows file access.

    A call of another architecture's interface (32-bit calls reach the same kernel by other numbers) kills the
    process; a call that is not listed, or would make memory executable, or gives advice that no allocator gives, fails
    with EPERM.
    """
    program = [
        _pack_filter_instruction(_LOAD_WORD, _OFFSET_ARCHITECTURE),
        _pack_filter_instruction(_JUMP_EQUAL, machine.audit, if_true=1),
        _pack_filter_instruction(_RETURN, _KILL),
        _pack_filter_instruction(_LOAD_WORD, _OFFSET_NUMBER),
    ]
    for name, number in (machine.calls | machine.files if files else machine.calls).items():
        rule = _build_syscall_rule(name)
        program += [_pack_filter_instruction(_JUMP_EQUAL, number, if_false=len(rule)), *rule]
    return b"".join([*program, _pack_filter_instruction(_RETURN, _REFUSE)])


def _build_syscall_rule(name: str) -> list[bytes]:
    """Return the filter instructions that allow or refuse one listed system call."""
    # Little-endian on both machines: the low word of an argument, all that the kernel reads of these, comes first.
    argument = _pack_filter_instruction(_LOAD_WORD, _OFFSET_ARGUMENTS + 8 * _CHECKED_ARGUMENT)
    refuse, allow = _pack_filter_instruction(_RETURN, _REFUSE), _pack_filter_instruction(_RETURN, _ALLOW)
    if name in _NOT_EXECUTABLE:
        return [argument, _pack_filter_instruction(_JUMP_ANY_BIT, _PROT_EXEC, if_false=1), refuse, allow]
    if name == _ADVISING:
        distances = range(len(_ADVICES), 0, -1)
        checks = [
            _pack_filter_instruction(_JUMP_EQUAL, advice, if_true=steps)
            for advice, steps in zip(_ADVICES, distances, strict=True)
        ]
        return [argument, *checks, refuse, allow]
    return [allow]


def _pack_filter_instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
