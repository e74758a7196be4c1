"""Stands in for `systemctl restart` and `stop` where systemd is not the first process: starts what unit files say.

It stands in front of the real one (debian_root.py), which gets every other verb. Of a unit it keeps to: user and group,
environment, state directories, socket, limits, capabilities, no new privileges, file systems (ProtectSystem, ProtectHome,
PrivateTmp, ProtectProc), memory that is not both written and run, address families and system calls. It does not keep to the
rest: restarts, devices, user namespaces, cgroups. Nothing but the standard library: it runs in roots that have nothing else.
"""

import ctypes
import errno
import os
import pwd
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

FOLDERS = [Path("/etc/systemd/system"), Path("/lib/systemd/system")]
RUNNING = Path("/run/stand-in")
STATE = Path("/var/lib")
LOGS = Path("/var/log")
CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, PR_SET_KEEPCAPS, PR_SET_MDWE = (
    38,
    24,
    47,
    2,
    8,
    65,
)
CAPABILITIES = 41
ALLOW, REFUSE, EQUAL = 0x7FFF0000, 0x00050000, 4
libc = ctypes.CDLL(None, use_errno=True)
Unit = dict[str, list[str]]


def main() -> int:
    verb, *names = [word for word in sys.argv[1:] if not word.startswith("-")] or [""]
    if verb not in ("restart", "stop"):
        return subprocess.call(["/usr/bin/systemctl", *sys.argv[1:]])
    RUNNING.mkdir(exist_ok=True)
    for name in names:
        (restart if verb == "restart" else stop)(name if "." in name else f"{name}.service")
    return 0


def restart(name: str) -> None:
    if name == "postgresql.service":  # of a generator, one for each cluster
        for line in subprocess.check_output(["pg_lsclusters", "--no-header"], text=True).splitlines():
            version, cluster = line.split()[:2]
            subprocess.check_call(["pg_ctlcluster", version, cluster, "restart"])
        return
    unit = read(name)
    if name.endswith(".target"):
        for wanted in " ".join(unit["Wants"]).split():
            restart(wanted)
    elif name.endswith(".service"):
        stop(name)
        start(name, unit)


def read(name: str) -> Unit:
    """A unit with its drop-ins; for a list an empty value begins anew."""
    found: Unit = {}
    for path in files_of(name):
        for line in path.read_text().splitlines():
            if match := re.fullmatch(r"(\w+)=(.*)", line.strip()):
                key, value = match.groups()
                found[key] = [*found.get(key, []), value] if value else []
                found.setdefault("is set", []).append(key)
    if not found:
        raise SystemExit(f"Unit {name} not found.")
    return found


def files_of(name: str) -> list[Path]:
    own = next((folder / name for folder in FOLDERS if (folder / name).exists()), None)
    prefix = f"{name.partition('-')[0]}-.{name.rpartition('.')[2]}.d" if "-" in name else ""
    drop_ins = [
        path for each in (prefix, f"{name}.d") if each for folder in FOLDERS for path in (folder / each).glob("*.conf")
    ]
    return [*([own] if own else []), *sorted(drop_ins)]


def stop(name: str) -> None:
    file = RUNNING / name
    if not file.exists():
        return
    pid = int(file.read_text())
    file.unlink()
    for number, seconds in ((signal.SIGTERM, 40.0), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + seconds
        try:
            os.kill(pid, number)
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.05)
        except ProcessLookupError:
            return


def start(name: str, unit: Unit) -> None:
    sockets = listening(name)
    log = os.open(LOGS / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    if pid := os.fork():
        (RUNNING / name).write_text(str(pid))
        return
    try:
        os.setsid()
        for number in (1, 2):
            os.dup2(log, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        become(unit, sockets)
    except BaseException as problem:
        os.write(2, f"{name}: {problem!r}\n".encode())
    os._exit(1)


def listening(name: str) -> list[socket.socket]:
    file = f"{name.rpartition('.')[0]}.socket"
    if not files_of(file):
        return []
    host, _, port = read(file)["ListenStream"][-1].rpartition(":")
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.bind((host, int(port)))
    opened.listen(4096)
    return [opened]


def become(unit: Unit, sockets: list[socket.socket]) -> None:
    """This process, as the unit wants it to be, and then its program."""
    account = pwd.getpwnam(last(unit, "User", "root"))
    states = [STATE / name for name in " ".join(unit.get("StateDirectory", [])).split()]
    for state in states:
        state.mkdir(exist_ok=True)
        state.chmod(int(last(unit, "StateDirectoryMode", "0755"), 8))
        os.chown(state, account.pw_uid, account.pw_gid)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": account.pw_dir, "USER": account.pw_name}
    for words in unit.get("Environment", []):
        environment |= dict(word.split("=", 1) for word in shlex.split(words))
    for number, opened in enumerate(sockets, start=3):
        os.dup2(opened.fileno(), number)
        os.set_inheritable(number, True)  # also if it had that number already
        environment |= {"LISTEN_FDS": str(len(sockets)), "LISTEN_PID": str(os.getpid())}
    calls = system_calls(unit)  # asked for while that can be read
    close_file_systems(unit, states)
    if limit := last(unit, "LimitNOFILE", ""):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # a container may not raise it
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(int(limit), hard), min(int(limit), hard)))
    os.umask(int(last(unit, "UMask", "0022"), 8))
    os.chdir(last(unit, "WorkingDirectory", "/"))
    give_up_root(unit, account)
    if calls:
        filter_calls(unit, calls)
    command = shlex.split(last(unit, "ExecStart", ""))
    os.execve(command[0], command, environment)


def last(unit: Unit, key: str, otherwise: str) -> str:
    return (unit.get(key) or [otherwise])[-1]


def close_file_systems(unit: Unit, states: list[Path]) -> None:
    check(libc.unshare(CLONE_NEWNS))
    mount("none", "/", MS_REC | MS_PRIVATE)
    if last(unit, "ProtectSystem", "no") == "strict":
        mount("/", "/", MS_BIND | MS_REC)
        os.chroot("/")
        for state in states:
            mount(str(state), str(state), MS_BIND)
        mount("none", "/", MS_REMOUNT | MS_BIND | MS_RDONLY)
    if last(unit, "PrivateTmp", "no") in ("yes", "true"):
        mount("tmpfs", "/tmp", kind="tmpfs", data="mode=1777")
    if last(unit, "ProtectHome", "no") in ("yes", "true"):
        for home in ("/home", "/root"):
            mount("tmpfs", home, kind="tmpfs", data="mode=000")
    if last(unit, "ProtectProc", "default") == "invisible":
        mount("proc", "/proc", kind="proc", data="hidepid=invisible,subset=pid")


def mount(source: str, target: str, flags: int = 0, kind: str = "", data: str = "") -> None:
    words = [word.encode() if word else None for word in (source, target, kind)]
    check(libc.mount(*words, ctypes.c_ulong(flags), data.encode() or None), target)


def give_up_root(unit: Unit, account: pwd.struct_passwd) -> None:
    ambient = [
        number
        for name, number in (("CAP_NET_ADMIN", 12), ("CAP_NET_BIND_SERVICE", 10))
        if name in last(unit, "AmbientCapabilities", "")
    ]
    if "CapabilityBoundingSet" in unit["is set"] and not unit["CapabilityBoundingSet"]:
        for number in range(CAPABILITIES):
            check(libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
    os.initgroups(account.pw_name, account.pw_gid)
    if ambient:
        check(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    if ambient:
        inherit(ambient)
    if last(unit, "NoNewPrivileges", "no") == "yes":
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if last(unit, "MemoryDenyWriteExecute", "no") == "yes":
        check(libc.prctl(PR_SET_MDWE, 1, 0, 0, 0))


def inherit(capabilities: list[int]) -> None:
    """Keep these, also over the start of another program."""
    bits = sum(1 << number for number in capabilities)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(bits, bits, bits, 0, 0, 0)
    check(libc.capset(header, data))
    for number in capabilities:
        check(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0))


def system_calls(unit: Unit) -> set[str]:
    """Those that the unit leaves; none: it filters nothing."""
    left: set[str] = set()
    for words in unit.get("SystemCallFilter", []):
        named = set().union(*(calls_of(word) for word in words.lstrip("~").split()))
        left = left - named if words.startswith("~") else left | named
    return left


def calls_of(word: str) -> set[str]:
    if not word.startswith("@"):
        return {word}
    listed = subprocess.check_output(["systemd-analyze", "syscall-filter", "--no-pager", word], text=True).splitlines()
    names = [line.strip() for line in listed[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(calls_of(name) for name in names))


class Compare(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def filter_calls(unit: Unit, calls: set[str]) -> None:
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(REFUSE | errno.EPERM))
    families = " ".join(unit.get("RestrictAddressFamilies", [])).split()
    for name in sorted(calls):
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number < 0 or (name == "socket" and families):
            continue
        library.seccomp_rule_add_array(context, ALLOW, number, 0, None)
    for family in families:
        equal = Compare(0, EQUAL, int(getattr(socket, family)), 0)
        number = library.seccomp_syscall_resolve_name(b"socket")
        check(library.seccomp_rule_add_array(context, ALLOW, number, 1, ctypes.byref(equal)))
    check(library.seccomp_load(context))


def check(result: int, about: str = "") -> None:
    if result:
        number = ctypes.get_errno() or -result
        raise OSError(number, os.strerror(number), about)


if __name__ == "__main__":
    sys.exit(main())
