"""See defs.bzl."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

find_cc_toolchain = find_cpp_toolchain

def use_cc_toolchain():
    """What a rule's `toolchains` takes.

    Returns:
      the list of the one toolchain type.
    """
    return ["@bazel_tools//tools/cpp:toolchain_type"]
