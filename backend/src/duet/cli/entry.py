# SPDX-License-Identifier: GPL-2.0-or-later
"""main(): runs a verb and turns any error into two lines and an exit code.

Exit codes: 0 done, 1 unexpected error, 2 unusable input, 3 the host cannot do it, 4 a guest kernel
failed, 130 interrupted. Verbs that judge a kernel have the exit codes of `output.py`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from typer.core import TyperGroup
from typer.exceptions import TyperException

from duet.base.errors import DuetError, InputError
from duet.cli.app import app
from duet.cli.options import typed
from duet.cli.output import STOP, OutputFull, code_of, fail, judges, plain_output, silence

INTERRUPTED = 130


def main(
    arguments: list[str] | None = None, program: TyperGroup = app, called: str = "./duet"
) -> int:
    """Run one command; return its exit code.

    Args:
        program: the group of commands. A tool that calls main() may pass a group of its own.
        called: name of the program in the remedies of errors.
    """
    with plain_output():
        return _run(arguments, program, called)


def _run(arguments: list[str] | None, program: TyperGroup, called: str) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given
    # vng and its helpers call each other by name, so PATH must contain the Python environment.
    programs = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", os.defpath)])
    try:
        with typed(given):
            name = called.removeprefix("./")
            code = program.main(given, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except OutputFull as error:
        silence(sys.stdout)
        with contextlib.suppress(OutputFull):  # standard error may be full as well
            fail(error, as_json=False)
        return _code(error, given)
    except DuetError as error:
        _report(error, as_json)
        return _code(error, given)
    except TyperException as error:
        wrapped = InputError(
            _sentence(error.format_message()),
            remedy=f"See {called} {_verb(given, program)}--help.",
        )
        _report(wrapped, as_json)
        return _code(wrapped, given)
    except (KeyboardInterrupt, EOFError):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe (as `| head` does). Without silence(), Python would print
        # an error at exit.
        silence(sys.stdout)
        return STOP if judges(given) else 1
    except Exception as error:
        if os.environ.get("DUET_DEBUG"):
            raise
        unexpected = DuetError(
            f"an unexpected error occurred ({type(error).__name__}: {error}).",
            remedy="Run it again with DUET_DEBUG=1 for a traceback, and report it.",
        )
        unexpected.code = "unexpected"
        _report(unexpected, as_json)
        return _code(unexpected, given)
    return code if isinstance(code, int) else 0


def _code(error: DuetError, given: list[str]) -> int:
    return code_of(error) if judges(given) else error.exit_code


def _report(error: DuetError, as_json: bool) -> None:
    """Print an error. If the output device is full, print nothing and raise nothing."""
    try:
        fail(error, as_json)
        sys.stdout.flush()
    except OutputFull:
        silence(sys.stdout)
        silence(sys.stderr)


def _verb(given: list[str], program: TyperGroup) -> str:
    return next((f"{word} " for word in given if word in program.commands), "")


def _sentence(text: str) -> str:
    """Turn typer's message into one sentence."""
    flat = " ".join(text.split())
    return flat if flat.endswith((".", "?")) else f"{flat}."
