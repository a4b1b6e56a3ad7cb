"""Tests of the wheels. TOOLGUARD_BINARY names the program of this machine."""

import ast
import base64
import csv
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
import build_wheels

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


class Wheel(unittest.TestCase):
    def build(self, *platforms, version="1.2.3-rc.1"):
        """Builds wheels in a directory of its own, and returns the paths."""
        out = tempfile.mkdtemp(dir=self.directory)
        programs = tempfile.mkdtemp(dir=self.directory)
        shutil.copy(os.environ["TOOLGUARD_BINARY"], programs + "/toolguard")
        pathlib.Path(programs, "toolguard.exe").write_bytes(b"MZ")
        command = [sys.executable, str(HERE / "build_wheels.py"), "--version", version, "--out", out, *[f"{p}={programs}" for p in platforms]]
        run = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd="/", env={**os.environ, "TZ": "Asia/Tokyo"})
        return [pathlib.Path(line) for line in run.stdout.decode().splitlines()]

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = temporary.name

    def test_install(self):
        """The wheel is installed in a fresh environment, works, and leaves nothing when it is removed."""
        (path,) = self.build("linux_" + ARCH)
        env = self.directory + "/env"
        subprocess.run(["/usr/bin/python3", "-m", "venv", env], check=True)
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TOOLGUARD_BINARY")}
        clean["PATH"] = env + "/bin:" + clean["PATH"]

        def run(*command):
            return subprocess.run(command, stdout=subprocess.PIPE, check=True, env=clean, cwd=self.directory).stdout.decode()

        def files():
            return sorted(str(p) for p in pathlib.Path(env).rglob("*") if "__pycache__" not in p.parts)

        before = files()
        run("pip", "install", "--no-index", "--quiet", "--disable-pip-version-check", str(path))
        self.assertEqual(shutil.which("toolguard", path=clean["PATH"]), env + "/bin/toolguard")
        version = run("toolguard", "version").split()[1]
        code = "import toolguard_transcripts as t; print(t.binary(), t.version(), t.check([{'role': 'user', 'content': 'hi'}])['errors'])"
        self.assertEqual(run("python", "-c", code).split(), [env + "/bin/toolguard", version, "0"])
        # Without the environment's programs on the PATH, too.
        clean["PATH"] = "/usr/bin:/bin"
        self.assertEqual(run(env + "/bin/python", "-c", code).split(), [env + "/bin/toolguard", version, "0"])
        self.assertIn("toolguard-transcripts", run(env + "/bin/pip", "show", "--disable-pip-version-check", "toolguard-transcripts"))
        use = pathlib.Path(self.directory, "use.py")
        use.write_text("import toolguard_transcripts as t\nreveal_type(t.check([])['worst'])\nreveal_type(list(t.filter_rows(['x'])))\n")
        said = run("/usr/bin/mypy", "--strict", "--python-executable", env + "/bin/python", str(use))
        self.assertRegex(said, r'(?s)"Union\[builtins\.str, None\]".*"builtins\.list\[Tuple\[builtins\.str, toolguard_transcripts\.Verdict\]\]"')
        run(env + "/bin/pip", "uninstall", "--yes", "--quiet", "--disable-pip-version-check", "toolguard-transcripts")
        self.assertEqual(files(), before)

    def test_same_bytes(self):
        """Wheels for all platforms are the same in a second build, and their records are true."""
        first, second = self.build(*build_wheels.TAGS), self.build(*build_wheels.TAGS)
        self.assertEqual(len(first), 6)
        for a, b in zip(first, second):
            self.assertEqual(a.name, b.name)
            self.assertEqual(a.read_bytes(), b.read_bytes())
            windows = "win_" in a.name
            with zipfile.ZipFile(a) as z:
                self.assertIsNone(z.testzip())
                info = "toolguard_transcripts-1.2.3rc1.dist-info/"
                record = {r[0]: r[1:] for r in csv.reader(io.StringIO(z.read(info + "RECORD").decode()))}
                self.assertEqual(sorted(record), sorted(z.namelist()))
                for name, (sum_, size) in record.items():
                    if not name.endswith("/RECORD"):
                        data = z.read(name)
                        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                        self.assertEqual((sum_, size), ("sha256=" + digest, str(len(data))))
                program = "toolguard_transcripts-1.2.3rc1.data/scripts/toolguard" + (".exe" if windows else "")
                self.assertEqual(z.getinfo(program).external_attr >> 16, 0o100755)
                for name in ("py.typed", "__init__.py"):
                    self.assertIn("toolguard_transcripts/" + name, record)
                for name in ("LICENSE", "THIRD_PARTY_NOTICES", "METADATA", "WHEEL"):
                    self.assertIn(info + name, record)

    def test_oldest(self):
        """The files are in the syntax of the oldest Python that the metadata name."""
        oldest = re.search(r"Requires-Python: >=(\d+)\.(\d+)\n", build_wheels.METADATA)
        files = [HERE / "build_wheels.py", *(HERE / "toolguard_transcripts").glob("*.py")]
        self.assertGreaterEqual(len(files), 4)
        for file in files:
            ast.parse(file.read_text(encoding="utf-8"), feature_version=(int(oldest[1]), int(oldest[2])))

    def test_versions(self):
        for given, want in {
            "1.2.3": "1.2.3", "v1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1", "v1.2.3-4-gabc123-dirty": "1.2.3+4.gabc123.dirty",
            "506f492d": "0.0.0+506f492d", "dev": "0.0.0+dev", "1.2.3-SNAPSHOT-506f492d": "1.2.3+snapshot.506f492d",
        }.items():  # fmt: skip
            self.assertEqual(build_wheels.public_version(given), want)
        run = subprocess.run([sys.executable, str(HERE / "build_wheels.py"), "--version", "1.0.0", "--out", self.directory, "plan9_mips=x"], stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"expected OS_ARCH=DIRECTORY with one of linux_amd64", run.stderr)


if __name__ == "__main__":
    unittest.main()
