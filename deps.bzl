"""The repositories that Rouse depends on, for WORKSPACE files. MODULE.bazel names the same versions."""

load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")
load("@bazel_tools//tools/build_defs/repo:utils.bzl", "maybe")

def rouse_deps():
    """Declares the repositories that the libraries need, unless the caller has declared them before."""
    maybe(
        http_archive,
        name = "abseil-cpp",
        # Abseil's status_matchers, a library for tests, uses GoogleTest's old repository name.
        repo_mapping = {"@com_google_googletest": "@googletest"},
        sha256 = "f50e5ac311a81382da7fa75b97310e4b9006474f9560ac46f54a9967f07d4ae3",
        strip_prefix = "abseil-cpp-20240722.0",
        urls = ["https://github.com/abseil/abseil-cpp/releases/download/20240722.0/abseil-cpp-20240722.0.tar.gz"],
    )
    maybe(
        http_archive,
        name = "bazel_skylib",
        sha256 = "bc283cdfcd526a52c3201279cda4bc298652efa898b10b4db0837dc51652756f",
        urls = ["https://github.com/bazelbuild/bazel-skylib/releases/download/1.7.1/bazel-skylib-1.7.1.tar.gz"],
    )
    maybe(
        http_archive,
        name = "platforms",
        sha256 = "218efe8ee736d26a3572663b374a253c012b716d8af0c07e842e82f238a0a7ee",
        urls = ["https://github.com/bazelbuild/platforms/releases/download/0.0.10/platforms-0.0.10.tar.gz"],
    )
    maybe(
        http_archive,
        name = "rules_cc",
        sha256 = "abc605dd850f813bb37004b77db20106a19311a96b2da1c92b789da529d28fe1",
        strip_prefix = "rules_cc-0.0.17",
        urls = ["https://github.com/bazelbuild/rules_cc/releases/download/0.0.17/rules_cc-0.0.17.tar.gz"],
    )

def rouse_dev_deps():
    """Declares the repositories that only Rouse's own tests and benchmarks need. Not for consumers."""
    maybe(
        http_archive,
        name = "google_benchmark",
        # Calls module_version(), which exists only in versions of Bazel with modules.
        patch_cmds = ["sed -i.orig 's/module_version()/None/g' BUILD.bazel"],
        sha256 = "32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981",
        strip_prefix = "benchmark-1.9.1",
        urls = ["https://github.com/google/benchmark/archive/refs/tags/v1.9.1.tar.gz"],
    )
    maybe(
        http_archive,
        name = "googletest",
        sha256 = "78c676fc63881529bf97bf9d45948d905a66833fbfa5318ea2cd7478cb98f399",
        strip_prefix = "googletest-1.16.0",
        urls = ["https://github.com/google/googletest/releases/download/v1.16.0/googletest-1.16.0.tar.gz"],
    )
