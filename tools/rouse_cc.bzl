"""The C++ rules of this workspace. A BUILD file reads like Abseil's:

    load("//tools:rouse_cc.bzl", "rouse_cc_library", "rouse_cc_test")

    package(default_visibility = ["//visibility:private"])

    rouse_cc_library(
        name = "waker",
        srcs = ["waker.cc"],
        hdrs = ["waker.h"],
        visibility = ["//visibility:public"],
        deps = [
            ":poll_result",
            "//base:panic",
            "@abseil-cpp//absl/base:core_headers",
        ],
    )

    rouse_cc_test(
        name = "waker_test",
        deps = [":waker"],
    )

What the rules see to, so that BUILD files need not:

*   Every header in `hdrs` is included as `rouse/<package>/<file>.h`, here and by a consumer, whose own
    `waker/` therefore cannot shadow ours. A header in `srcs` has no such path: a private header
    is in the `hdrs` of the target that it belongs to. What a room hides, its targets' visibility hides.
*   Warnings are errors, but only here: a consumer's compiler may know warnings that ours does not.
*   `layering_check` (clang only): a target includes only headers of targets in its own `deps`.
*   `srcs` of a test or benchmark `x` is `["x.cc"]` by default.
*   A header compiles by itself. Bazel 4's toolchain has no `parse_headers`, and it is by compiling
    some source of the same target that clang checks a header's layering. So a library of headers alone
    gets a source that includes them; any other's own source includes its header first. Once is enough:
    not in a twin, nor in g++'s and the sanitizers' configurations.
*   C++20 comes from .bazelrc; there is no -std, -O or -march here.
*   Every library `x` has a twin `x_model`, for models (see docs/model.md): the same sources on the model
    checker's atomics. Its `deps` are the twins of x's. Nothing builds it but what depends on it.

A twin's code is in another namespace, so that a program which mixes twins with what they are twins of
does not link: `ROUSE_MODEL` comes with `rouse` defined as `rouse_model`. Whatever depends on a twin or on
the checker gets both definitions.
"""

# Not from defs.bzl: that loads protobuf's rules, which rouse_deps() does not declare.
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

# The repository name is empty only in the main repository. (Bazel prints it with "@" or "@@".)
_IS_MAIN_REPOSITORY = str(Label("//:WORKSPACE")).lstrip("@").startswith("//")

_COPTS = ["-Wall", "-Wextra", "-Werror"] + select({
    "//tools:clang": [
        "-Wthread-safety",
        # What Abseil's and GoogleTest's headers do is not ours to warn of.
        "--system-header-prefix=absl/",
        "--system-header-prefix=gmock/",
        "--system-header-prefix=gtest/",
        "--system-header-prefix=benchmark/",
    ],
    "//conditions:default": [],
}) if _IS_MAIN_REPOSITORY else []

_FEATURES = ["layering_check", "parse_headers"]

def _include_prefix(package):
    return "rouse/" + package if package else "rouse"

def _include_all_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.write(out, "".join([
        "#include \"%s/%s\"  // IWYU pragma: keep\n" % (_include_prefix(ctx.label.package), header)
        for header in ctx.attr.headers
    ]))
    return [DefaultInfo(files = depset([out]))]

_include_all = rule(
    implementation = _include_all_impl,
    attrs = {"headers": attr.string_list(mandatory = True)},
    doc = "Writes a source that includes headers of its own package.",
)

# What the model checker itself is compiled with, and thereby all that depends on it.
_MODEL_DEFINES = [
    "ROUSE_MODEL",
    "rouse=rouse_model",
]

# Millions of executions are too many for code that is not optimized.
_MODEL_COPTS = ["-O2"]

_MODEL = "//testing/model"

def _twin(label):
    """The label of the twin of a library; itself for what has none."""
    if label.startswith("@") or label.startswith(_MODEL):
        return label
    if ":" in label:
        return label + "_model"
    return label + ":" + label.split("/")[-1] + "_model"

def rouse_cc_library(
        name,
        srcs = [],
        hdrs = [],
        deps = [],
        model_deps = [],
        checker = False,
        tags = [],
        defines = [],
        copts = [],
        features = [],
        **kwargs):
    """A cc_library whose headers are included as `rouse/<package>/<file>.h`.

    Args:
      name: the target; named like its one header.
      srcs: sources.
      hdrs: headers.
      deps: what sources and headers include.
      model_deps: what they include besides with `ROUSE_MODEL` defined.
      checker: whether it is a part of the model checker, which has no twin.
      tags: as for cc_library.
      defines: as for cc_library.
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_library.
    """
    checks = []
    if hdrs and not srcs and _IS_MAIN_REPOSITORY:
        _include_all(
            name = name + "_include_all",
            headers = hdrs,
        )
        checks = select({
            "//tools:trusts_headers": [],
            "//conditions:default": [":" + name + "_include_all"],
        })
    cc_library(
        name = name,
        srcs = srcs + checks,
        hdrs = hdrs,
        deps = deps,
        tags = tags,
        copts = _COPTS + (_MODEL_COPTS if checker else []) + copts,
        defines = defines + (_MODEL_DEFINES if checker else []),
        features = _FEATURES + features,
        include_prefix = _include_prefix(native.package_name()),
        **kwargs
    )
    if not checker:
        cc_library(
            name = name + "_model",
            srcs = srcs,
            hdrs = hdrs,
            deps = [_twin(label) for label in deps] + model_deps,
            tags = tags + ["manual"],
            defines = defines + _MODEL_DEFINES,
            copts = _COPTS + _MODEL_COPTS + copts,
            features = _FEATURES + features,
            include_prefix = _include_prefix(native.package_name()),
            **kwargs
        )

def rouse_cc_binary(name, copts = [], features = [], **kwargs):
    """A cc_binary with this workspace's warnings.

    Args:
      name: the target.
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_binary.
    """
    cc_binary(
        name = name,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        **kwargs
    )

def _own_source(name, srcs):
    return [name + ".cc"] if srcs == None else srcs

def rouse_cc_test(
        name,
        srcs = None,
        size = "small",
        main = True,
        deps = [],
        tags = [],
        copts = [],
        features = [],
        **kwargs):
    """A cc_test that uses GoogleTest and GoogleMock; it need not name them in `deps`.

    Where Bazel can, it has a network of its own: ports and names of sockets are nobody else's.

    Tags with a meaning here: "model" (exhaustive, on the model checker), "stress" (real threads).

    Args:
      name: the target; the library's name and `_test`.
      srcs: sources; by default `NAME.cc`.
      size: as for cc_test.
      main: whether GoogleTest's main() is linked; False where the sources have their own.
      deps: what the sources include, GoogleTest excepted.
      tags: as for cc_test.
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_test.
    """
    gtest = ["@googletest//:gtest"] + (["@googletest//:gtest_main"] if main else [])
    cc_test(
        name = name,
        srcs = _own_source(name, srcs),
        size = size,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        linkstatic = True,
        tags = tags + ["block-network"],
        deps = deps + gtest,
        **kwargs
    )

def rouse_model_test(name, deps = [], copts = [], tags = [], timeout = "moderate", **kwargs):
    """A test of models: its deps are taken from the twins. It need not name the checker's gtest.h.

    Args:
      name: the target; the library's name and `_model_test`.
      deps: libraries, as another test of them would name them.
      copts: further flags, for this target alone.
      tags: besides "model".
      timeout: models compute, for some ten seconds where nothing else does.
      **kwargs: as for rouse_cc_test.
    """
    rouse_cc_test(
        name = name,
        deps = [_twin(label) for label in deps] + [
            _MODEL,
            _MODEL + ":check",
            _MODEL + ":gtest",
        ],
        copts = _MODEL_COPTS + copts,
        tags = ["model"] + tags,
        timeout = timeout,
        **kwargs
    )

def rouse_cc_benchmark(name, srcs = None, deps = [], tags = [], copts = [], features = [], **kwargs):
    """A Google Benchmark binary: `tools/bazel run -c opt //waker:waker_benchmark`.

    Args:
      name: the target; the library's name and `_benchmark`.
      srcs: sources; by default `NAME.cc`.
      deps: what the sources include, Google Benchmark excepted.
      tags: besides "benchmark".
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_binary.
    """
    cc_binary(
        name = name,
        srcs = _own_source(name, srcs),
        testonly = True,
        copts = _COPTS + copts,
        features = _FEATURES + features,
        linkstatic = True,
        tags = ["benchmark"] + tags,
        deps = deps + [
            "@google_benchmark//:benchmark",
            "@google_benchmark//:benchmark_main",
        ],
        **kwargs
    )
