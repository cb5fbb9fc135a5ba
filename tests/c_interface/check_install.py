#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `cmake --install` leaves: the files, the names that libgdn.so exports, and that a C
program which knows nothing but pkg-config compiles and runs, also once the folder has moved.

Exits 1 at the first thing that is not as it must be.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FILES = ["bin/gdn", "include/gdn/gdn.h", "{lib}/libgdn.so", "{lib}/pkgconfig/gdn.pc",
         "share/doc/gdn/LICENSE", "share/doc/gdn/c-interface.md", "share/doc/gdn/complete.c"]


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition, message):
    if not condition:
        sys.exit(message)


def check_exports(library, header):
    """The library exports the functions of the header, and nothing else."""
    text = re.sub(r"//.*", "", header.read_text())
    declared = set(re.findall(r"GDN_API\s[^;(]*?\b(gdn_\w+)\(", text))
    check(len(declared) == text.count("GDN_API ") - text.count("#define GDN_API "),
          f"cannot read the declarations of {header}: {sorted(declared)}")
    exported = set()
    for line in run("nm", "-D", "--defined-only", str(library)).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the name of the version itself
            exported.add(name.split("@")[0])
    check(exported == declared, f"exported, not declared: {sorted(exported - declared)};"
                                f" declared, not exported: {sorted(declared - exported)}")


def check_soname(library, header):
    version = re.search(r"#define GDN_API_VERSION (\d+)", header.read_text())[1]
    dynamic = run("readelf", "-d", str(library))
    check(f"[libgdn.so.{version}]" in dynamic, f"no SONAME libgdn.so.{version}:\n{dynamic}")
    check((library.parent / f"libgdn.so.{version}").exists(), "no file of that name")


def complete(prefix, options, out):
    """Compiles the example against the folder, and returns what it prints."""
    lib = prefix / options.libdir
    environment = {**os.environ, "PKG_CONFIG_PATH": str(lib / "pkgconfig"),
                   "LD_LIBRARY_PATH": str(lib)}
    flags = run("pkg-config", "--cflags", "--libs", "gdn", env=environment).split()
    folders = {os.path.normpath(flag[2:]) for flag in flags if flag[:2] in ("-I", "-L")}
    check(folders == {str(prefix / "include"), str(lib)}, f"pkg-config says {flags}")
    run(options.cc, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", *options.cflag,
        str(prefix / "share/doc/gdn/complete.c"), *flags, "-o", str(out))
    return run(str(out), str(options.source / "models/tiny"), "In the beginning", env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True)
    parser.add_argument("--libdir", required=True, help="below the prefix")
    parser.add_argument("--cflag", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder).resolve() / "first"
        run(options.cmake, "--install", options.build, "--prefix", str(prefix))
        for name in FILES:
            path = prefix / name.format(lib=options.libdir)
            check(path.is_file(), f"{path} is not installed")
        library = prefix / options.libdir / "libgdn.so"
        check_soname(library, prefix / "include/gdn/gdn.h")
        check_exports(library, prefix / "include/gdn/gdn.h")
        text = complete(prefix, options, prefix / "complete")
        check(len(text.split()) > 10, f"the example printed only {text!r}")
        moved = prefix.rename(prefix.parent / "second")
        check(complete(moved, options, moved / "complete") == text, "the text is another one now")
    print("installed, compiled and run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
