#!/usr/bin/env python3
"""release_test.py: makes releases of a small repository with tools/release."""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

RELEASE = pathlib.Path("tools/release").resolve()

FILES = {
    ".gitignore": "/dist/\n",
    "CHANGELOG.md": "# Changelog\n\n## 0.1.0 (not yet released)\n\n- Everything.\n",
    "MODULE.bazel": 'module(\n    name = "rouse",\n    version = "0.1.0",\n)\n',
    "README.md": "# Rouse\n\n<!-- tools/release writes MODULE.bazel -->\n<!-- tools/release ends -->\n\nOr:\n\n"
                 "<!-- tools/release writes WORKSPACE -->\nold\n<!-- tools/release ends -->\n\nMore.\n",
    "examples/consumer_module/MODULE.bazel": 'bazel_dep(name = "rouse", version = "0.1.0")\n',
    "tools/release.cfg": "[github]\nowner =\nrepository = rouse\nmaintainer =\nmaintainer_id =\n",
}
CONFIG = "[github]\nowner = acme\nrepository = alarm\nmaintainer = roadrunner\nmaintainer_id = 7\n"
URL = "https://github.com/acme/alarm/releases/download/v0.1.0/rouse-0.1.0.tar.gz"


class ReleaseTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        # Neither the user's configuration nor the clock affects the commits.
        self.env = dict(os.environ, HOME=folder.name, GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="A",
                        GIT_AUTHOR_EMAIL="a@example.com", GIT_COMMITTER_NAME="C",
                        GIT_COMMITTER_EMAIL="c@example.com", GIT_AUTHOR_DATE="1700000000 +0000",
                        GIT_COMMITTER_DATE="1700000000 +0000")
        for path, text in FILES.items():
            self.write(path, text)
        shutil.copy(RELEASE, self.root / "tools/release")
        self.git("init", "--quiet")
        self.save()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.root, env=self.env, check=True,
                              stdout=subprocess.PIPE).stdout.decode().strip()

    def save(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "all: change something")

    def configure(self):
        self.write("tools/release.cfg", CONFIG)
        self.save()

    def run_release(self, *arguments):
        return subprocess.run(["tools/release", *arguments], cwd=self.root, env=self.env, check=False,
                              capture_output=True, text=True)

    def release(self, *arguments):
        result = self.run_release(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def assert_refused(self, message, *arguments):
        """The release must fail with one line, and change nothing."""
        before = self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag")
        result = self.run_release(*arguments)
        self.assertEqual((result.returncode, result.stderr, result.stdout),
                         (1, f"tools/release: {message}\n", ""))
        self.assertEqual(
            before, (self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag")))
        self.assertFalse((self.root / "dist").exists())

    def test_refuses_what_is_not_a_version(self):
        self.configure()
        for version in "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0+build", "1.0.0\n":
            self.assert_refused(f'"{version}" is not a version; write MAJOR.MINOR.PATCH, such as 0.1.0 or '
                                "1.0.0-rc.1", version)

    def test_asks_for_settings(self):
        self.assert_refused("tools/release.cfg has no value for owner, maintainer, maintainer_id; write the "
                            "values there and commit the file", "0.1.0")
        self.write("tools/release.cfg", CONFIG.replace("7", "seven"))
        self.save()
        self.assert_refused('tools/release.cfg: maintainer_id is "seven"; write the number of the GitHub '
                            "login", "0.1.0")

    def test_refuses_changes_that_are_not_committed(self):
        self.configure()
        self.write("new.h", "")
        self.assert_refused("new.h is not committed; commit or remove it", "0.1.0")
        self.write("README.md", "changed")
        self.assert_refused("README.md and 1 more are not committed; commit or remove them", "0.1.0")

    def test_refuses_a_version_that_exists(self):
        self.configure()
        self.git("tag", "v0.1.0")
        self.assert_refused("the tag v0.1.0 exists; choose another version, or delete the tag if it was never "
                            "published", "0.1.0")
        self.git("tag", "--delete", "v0.1.0")
        self.write("CHANGELOG.md", "## 0.2.0 (not yet released)\n\n## 0.1.0 (2026-01-01)\n")
        self.save()
        self.assert_refused('CHANGELOG.md has the heading "## 0.1.0 (2026-01-01)"; choose another version',
                            "0.1.0")

    def test_refuses_a_changelog_without_changes(self):
        self.configure()
        self.write("CHANGELOG.md", "## 0.1.0 (2026-01-01)\n")
        self.save()
        self.assert_refused("CHANGELOG.md: has no heading that ends in (not yet released); write ## 0.2.0 "
                            "(not yet released) above the changes", "0.2.0")

    def test_refuses_a_readme_without_the_lines(self):
        self.configure()
        self.write("README.md", "# Rouse\n")
        self.save()
        self.assert_refused("README.md has no lines <!-- tools/release writes MODULE.bazel --> and "
                            "<!-- tools/release ends -->; write them around the snippet", "0.1.0")

    def test_a_dry_run_writes_nothing(self):
        self.configure()
        before = self.git("rev-parse", "HEAD")
        self.assertIn("tag the commit v0.1.0", self.release("--dry-run", "0.1.0"))
        self.assertEqual(self.git("status", "--porcelain", "--ignored"), "")
        self.assertEqual((self.git("rev-parse", "HEAD"), self.git("tag")), (before, ""))

    def test_release(self):
        self.configure()
        self.release("0.1.0")
        data = (self.root / "dist/rouse-0.1.0.tar.gz").read_bytes()
        digest = hashlib.sha256(data)
        integrity = "sha256-" + base64.b64encode(digest.digest()).decode()

        # The archive is made of the commit with the tag.
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            names = archive.getnames()
            changelog = archive.extractfile("rouse-0.1.0/CHANGELOG.md").read().decode()
        self.assertEqual({name.split("/")[0] for name in names}, {"rouse-0.1.0"})
        self.assertRegex(changelog, r"(?m)^## 0\.1\.0 \(\d{4}-\d\d-\d\d\)$")
        self.assertEqual(changelog, self.git("show", "v0.1.0:CHANGELOG.md") + "\n")
        self.assertEqual(self.read("dist/rouse-0.1.0.tar.gz.sha256"),
                         f"{digest.hexdigest()}  rouse-0.1.0.tar.gz\n")

        # The commit after it names the archive.
        self.assertEqual(self.git("rev-parse", "v0.1.0^{commit}"), self.git("rev-parse", "HEAD~1"))
        self.assertEqual(self.git("status", "--porcelain"), "")
        self.assertEqual(json.loads(self.read(".bcr/source.json")),
                         {"integrity": integrity, "strip_prefix": "rouse-0.1.0", "url": URL})
        metadata = json.loads(self.read(".bcr/metadata.template.json"))
        self.assertEqual(metadata["repository"], ["github:acme/alarm"])
        self.assertEqual(metadata["maintainers"], [{"name": "roadrunner", "github": "roadrunner", "github_user_id": 7}])
        self.assertIn("\n* @roadrunner\n", self.read(".github/CODEOWNERS"))
        readme = self.read("README.md")
        self.assertIn(f'    integrity = "{integrity}",\n    strip_prefix = "rouse-0.1.0",\n    urls = ["{URL}"]',
                      readme)
        self.assertIn(f'    sha256 = "{digest.hexdigest()}",\n', readme)
        self.assertNotIn("old", readme)
        self.assertTrue(readme.endswith("\n\nMore.\n"))
        self.release("--check")

    def test_the_next_release_changes_every_version(self):
        self.configure()
        self.release("0.1.0")
        changelog = self.read("CHANGELOG.md")
        self.write("CHANGELOG.md", "## 0.1.1 (not yet released)\n\n" + changelog)
        self.save()
        self.release("0.2.0-rc.1")
        self.assertRegex(self.read("CHANGELOG.md"), r"\A## 0\.2\.0-rc\.1 \(20")
        for path in "MODULE.bazel", "examples/consumer_module/MODULE.bazel":
            self.assertIn('version = "0.2.0-rc.1"', self.read(path))
        self.assertNotIn("0.1.0", self.read("README.md"))

    def test_the_same_commit_gives_the_same_archive(self):
        self.configure()
        start = self.git("rev-parse", "HEAD")
        self.release("0.1.0")
        first = (self.root / "dist/rouse-0.1.0.tar.gz").read_bytes()
        self.git("reset", "--quiet", "--hard", start)
        self.git("tag", "--delete", "v0.1.0")
        self.git("config", "tar.umask", "0077")
        self.release("--output", "dist/again", "0.1.0")
        second = (self.root / "dist/again/rouse-0.1.0.tar.gz").read_bytes()
        self.assertEqual(first, second)
        # The header has neither a time nor a name.
        self.assertEqual(first[3:8], bytes(5))
        self.assertTrue(gzip.decompress(first))

    def test_check(self):
        result = self.run_release("--check")
        self.assertEqual((result.returncode, result.stderr), (
            1, "tools/release: the snippets of README.md are not those of the last release; change them in "
            "tools/release, and run tools/release --readme\n"))
        self.release("--readme")
        self.release("--check")
        self.assertIn('local_repository(\n    name = "rouse",\n    path = "../rouse",\n)', self.read("README.md"))


if __name__ == "__main__":
    unittest.main()
