"""See defs.bzl."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

find_cc_toolchain = find_cpp_toolchain

def use_cc_toolchain():
    """The value of a rule's `toolchains`.

    Returns:
      a list of the type of the C++ toolchain.
    """
    return ["@bazel_tools//tools/cpp:toolchain_type"]
