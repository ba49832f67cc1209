# Runs a program on a terminal of 24 x 80: what it writes goes to stdout; stdin has keys, and sizes after a zero byte.
import fcntl, os, pty, struct, subprocess, sys, termios, threading

terminal, program_side = pty.openpty()
resize = lambda rows, columns: fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
resize(24, 80)
before = termios.tcgetattr(program_side)
own = lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
child = subprocess.Popen(sys.argv[1:], stdin=program_side, stdout=program_side, stderr=program_side,
                         start_new_session=True, preexec_fn=own)


def type_keys():
    while data := os.read(0, 1):
        if data == b'\0':
            resize(*os.read(0, 2))
        else:
            os.write(terminal, data)
    child.terminate()


def show():
    while True:
        os.write(1, os.read(terminal, 65536))


for work in (type_keys, show):
    threading.Thread(target=work, daemon=True).start()
status = child.wait()
# What is left in the terminal comes before the mark.
threading.Event().wait(0.3)
os.write(1, f'\0{status} {termios.tcgetattr(program_side) == before}'.encode())
