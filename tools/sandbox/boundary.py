"""The boundary around the calling process: seccomp, Landlock and resource limits.

Landlock is called directly: the Python bindings cover its files, not the signals and abstract sockets of later kernels,
and a rule set that allows nothing is two system calls.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache

from .syscalls import build_filter_program, get_processor_architecture
from .terms import Boundary

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_PR_GET_SECCOMP, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 21, 23, 24
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1
_CAP_DAC_READ_SEARCH = 2
_LOW = 0xFFFFFFFF
_SIGKILL = 9
_CAPABILITY_VERSION = 0x20080522

# These three numbers are the same on every architecture.
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF, _LANDLOCK_VERSION_FLAG = 444, 446, 1

# Access rights by the version that brought them (linux/landlock.h): how many bits of each kind are handled.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_NETWORK_RIGHTS = {4: 2}
_SCOPES = {6: 2}

MISSING_SECCOMP = "this kernel has no seccomp filters"
MISSING_LANDLOCK = "this kernel has no Landlock (Linux 5.13 or newer, enabled at boot)"


class _LandlockRulesetAttributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _SeccompFilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


@cache
def _load_libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def has_seccomp() -> bool:
    """Whether the kernel supports seccomp, which filters system calls."""
    return _load_libc().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def landlock_version() -> int:
    """Return the version of the kernel's Landlock interface; 0 if Landlock is missing."""
    version: int = _load_libc().syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION_FLAG)
    return max(0, version)


def die_with_parent() -> None:
    """Have the kernel kill this process when the parent ends, and hide its memory."""
    _call_prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    _call_prctl(_PR_SET_DUMPABLE, 0)


def confine(boundary: Boundary) -> None:
    """Confine this process permanently; after an OSError the process must not go on."""
    if boundary == "none_i_trust_this_code":
        return
    _drop_capabilities()
    _call_prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if boundary == "kernel":
        _apply_landlock_ruleset()
    _apply_syscall_filter()


def confine_reader_process() -> None:
    """Restrict this process to computing, its socket, and reading and writing files.

    It starts no program, process or thread and makes no socket; nothing opens it again. Where the kernel has no
    filters, or this processor's calls are not known, nothing is closed.
    """
    if has_seccomp() and get_processor_architecture() is not None:
        _call_prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _apply_syscall_filter(files=True)


def drop_unneeded_capabilities(*paths: str) -> None:
    """Drop the capabilities of root permanently, except reading if `paths` need it.

    It must be called before the first thread starts. Root reads files that are closed to everybody else: where that is
    what it takes to read `paths`, the right to read (and no other) is kept.
    """
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    _check_libc_result(_load_libc().capget(header, sets))
    capabilities = sets[1] | sets[4] << 32
    if capabilities:
        _set_capabilities(0, capabilities)
        readable = all(os.access(path, os.R_OK, effective_ids=True) for path in paths)
        _set_capabilities(capabilities, capabilities)
        _drop_capabilities(0 if readable else capabilities & 1 << _CAP_DAC_READ_SEARCH)


def _drop_capabilities(exceptions: int = 0) -> None:
    """Drop the capabilities of root permanently, except those in `exceptions`."""
    capability = 0
    while _load_libc().prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) >= 0:
        # Refused to who is not root, and then there is nothing to drop.
        _load_libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        capability += 1
    # The question past the last one failed, and nobody is to take that for an error of their own.
    ctypes.set_errno(0)
    _set_capabilities(exceptions, exceptions)


def _set_capabilities(effective: int, permitted: int) -> None:
    low, high = (effective & _LOW, permitted & _LOW, 0), (effective >> 32, permitted >> 32, 0)
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)(*low, *high)
    _check_libc_result(_load_libc().capset(header, sets))


def _apply_landlock_ruleset() -> None:
    """Apply a Landlock ruleset that denies every access right."""
    version = landlock_version()
    if version == 0:
        raise OSError(MISSING_LANDLOCK)
    rights = (_FILE_RIGHTS, _NETWORK_RIGHTS, _SCOPES)
    bits = (max((bits for since, bits in kind.items() if since <= version), default=0) for kind in rights)
    attributes = _LandlockRulesetAttributes(*((1 << count) - 1 for count in bits))
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    ruleset = _check_libc_result(_load_libc().syscall(_LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), size, 0))
    _check_libc_result(_load_libc().syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _apply_syscall_filter(files: bool = False) -> None:
    """Apply the system call filter to all threads of this process."""
    machine = get_processor_architecture()
    if machine is None:
        raise OSError("this processor's system calls are not known to the sandbox")
    steps = build_filter_program(machine, files)
    program = _SeccompFilterProgram(len(steps) // 8, steps)
    thread = _check_libc_result(
        _load_libc().syscall(
            machine.seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC, ctypes.byref(program)
        )
    )
    if thread:
        raise OSError("another thread has a system call filter of its own")


def _call_prctl(option: int, value: int) -> None:
    _check_libc_result(_load_libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0))


def _check_libc_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def measure_address_space() -> int:
    """Return the size of this process's address space in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def limit_worker_resources() -> None:
    """Set resource limits that forbid file writes, new processes and core dumps."""
    import resource  # not on Windows, where all else of this module can be imported

    for kind in ("FSIZE", "CORE", "NPROC", "MEMLOCK", "MSGQUEUE"):
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))


def limit_process_resources(pid: int, seconds: float, memory_bytes: int) -> None:
    """Limit the CPU time and address space of a process of the same user."""
    import resource

    for kind, value in ((resource.RLIMIT_CPU, int(seconds) + 2), (resource.RLIMIT_AS, memory_bytes)):
        hard = resource.prlimit(pid, kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, kind, (value, value))
