"""The first moments of a child process: tie its life to the parent, give up root, become the program.

Run as a script (`python -I -S launch.py PARENT SIGNAL UID GID FOLDER SOCKETS PROGRAM ARG...`), because code between fork and
exec is not safe in a parent with threads. It imports nothing of ours, so that it is quick.
"""

import ctypes
import os
import signal
import sys

FOLDER_NUMBER = 100
FIRST_SOCKET = 3
"""Where systemd puts them, too."""
SOCKETS_ASIDE = 200
PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    parent, death_signal, uid, gid = (int(text) for text in arguments[:4])
    folder, sockets, *command = arguments[4:]
    if folder != "-":
        os.dup2(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), FOLDER_NUMBER, inheritable=True)
    if sockets != "-":
        # Away from the numbers that they get, then there.
        away = [os.dup2(int(number), SOCKETS_ASIDE + index) for index, number in enumerate(sockets.split(","))]
        for index, number in enumerate(away):
            os.dup2(number, FIRST_SOCKET + index, inheritable=True)
            os.close(number)
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":  # after setuid, which clears the setting
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the setting took hold
            sys.exit(1)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execv(command[0], command)
    except OSError as problem:
        sys.exit(f"cannot run {command[0]}: {problem.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
