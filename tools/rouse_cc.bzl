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

The rules ensure the following, so that BUILD files do not have to:

*   Every header in `hdrs` is included as `rouse/<package>/<file>.h`, both here and by a consumer. A
    consumer's own folder `waker/` therefore cannot shadow Rouse's. A header in `srcs` has no such path,
    so a private header is in the `hdrs` of its target. A folder hides a target by the target's
    visibility.
*   Warnings are errors, but only here, because a consumer's compiler can have other warnings.
*   `layering_check` (clang only): a target includes only headers of targets in its own `deps`.
*   `srcs` of a test or benchmark `x` is `["x.cc"]` by default.
*   A header compiles. Bazel 4's toolchain has no `parse_headers`, and clang checks a header's layering only
    when it compiles a source of the same target. Therefore a library without sources gets a source that
    includes the headers. One check is enough: twins, and the configurations of g++ and the sanitizers, omit
    this source.
*   With clang, the headers of other projects that most targets include are precompiled: see
    precompiled_header.bzl. A consumer's libraries and programs have no precompiled header.
*   A precompiled header hides that a header lacks an include. Three other checks find this: `--config=headers`
    compiles each header of a library without sources by itself; tools/debian/check_newest.sh compiles every
    header by itself with g++; and tools/lint checks the includes of each changed header. Elsewhere, a
    library's own source includes its header first, and g++ compiles it without a precompiled header.
*   C++20 comes from .bazelrc. The rules do not set -std, -O or -march, except -O2 for models. Every library
    depends on `//base:cxx20`, without naming it, because every header reaches cxx20.h, which reports an
    older standard.
*   Every library `x` has a twin `x_model`, for models (see docs/guide/model.md): the same sources on
    the model checker's atomics. The `deps` of the twin are the twins of x's `deps`. A twin is built only
    for a target that depends on it.

*   Every library `x` also has a twin `x_scaling`, for the simulator of many cores (testing/scaling/): the
    same sources on the virtual machine's atomics, threads and clocks, with `ROUSE_SCALING` instead of
    `ROUSE_MODEL`, and in the namespace `rouse_scaling`. Both kinds of twins define `ROUSE_TWIN`.

The code of a twin is in another namespace, so that a program that mixes twins and their originals does
not link: a twin defines `ROUSE_MODEL`, and defines `rouse` as `rouse_model`. Every target that depends on
a twin or on the checker gets both definitions.
"""

# Not loaded from defs.bzl, because that file loads protobuf's rules, which rouse_deps() does not declare.
load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")
load("//tools:precompiled_header.bzl", "precompiled_header_copts")

# The repository name is empty only in the main repository. (Bazel prints it with "@" or "@@".)
_IS_MAIN_REPOSITORY = str(Label("//:WORKSPACE")).lstrip("@").startswith("//")

_COPTS = ["-Wall", "-Wextra", "-Werror"] + select({
    "//tools:clang": [
        "-Wthread-safety",
        # Rouse cannot fix warnings of other projects' headers.
        "--system-header-prefix=absl/",
        "--system-header-prefix=gmock/",
        "--system-header-prefix=gtest/",
        "--system-header-prefix=benchmark/",
    ],
    "//conditions:default": [],
}) if _IS_MAIN_REPOSITORY else []

_FEATURES = ["layering_check", "parse_headers"]

# The headers of other projects that most libraries and tests include.
_LIBRARY_HEADERS = "//tools:library_headers"
_TEST_HEADERS = "//tools:test_headers"

# These contain Rouse's headers, too. A target has one of them only if it depends on these headers anyway:
# otherwise, a change of a header would compile targets that do not include it.
_PROGRAM_HEADERS = "//examples:program_headers"
_PROGRAM_TEST_HEADERS = "//examples:program_test_headers"
_RUNTIME_TEST_HEADERS = "//tools:runtime_test_headers"
_MODEL_HEADERS = "//tools:model_headers"
_MODEL_TEST_HEADERS = "//tools:model_test_headers"
_SCALING_HEADERS = "//tools:scaling_headers"

# A test that depends on one of these has _RUNTIME_TEST_HEADERS.
_RUNTIME = [
    "//runtime",
    "//runtime:runtime",
    "//testing/internal:runtime_fixture",
]

def _is_program():
    """Returns whether the package contains programs that use Rouse, rather than Rouse itself."""
    return _IS_MAIN_REPOSITORY and native.package_name().startswith(("examples/", "docs/"))

def _precompiled():
    """Returns the precompiled header of the package's libraries and binaries, or None."""
    if not _IS_MAIN_REPOSITORY:
        return None
    return _PROGRAM_HEADERS if _is_program() else _LIBRARY_HEADERS

def _precompiled_for_test(deps):
    """Returns the precompiled header of a test with these dependencies."""
    if _is_program():
        return _PROGRAM_TEST_HEADERS
    for label in deps:
        if label in _RUNTIME or (label == ":runtime" and native.package_name() == "runtime"):
            return _RUNTIME_TEST_HEADERS
    return _TEST_HEADERS

def _precompiled_copts(header, checks_headers = False):
    """Makes the flags for a target with a precompiled header.

    Args:
      header: the label of the precompiled header, or None.
      checks_headers: whether the target's only source checks the target's headers.

    Returns:
      The flags, for `copts`.
    """
    if not header:
        return []
    return precompiled_header_copts(header, without = "//tools:clang_headers_alone" if checks_headers else None)

def _precompiled_deps(header):
    return [header] if header else []

def _include_prefix(package):
    return "rouse/" + package if package else "rouse"

def _include_all_impl(ctx):
    includes = [
        "#include \"%s/%s\"  // IWYU pragma: keep\n" % (_include_prefix(ctx.label.package), header)
        for header in ctx.attr.headers
    ]
    if ctx.attr.alone:
        sources = {"%s_%d.cc" % (ctx.label.name, i): line for i, line in enumerate(includes)}
    else:
        sources = {ctx.label.name + ".cc": "".join(includes)}
    outs = []
    for name, text in sources.items():
        out = ctx.actions.declare_file(name)
        ctx.actions.write(out, text)
        outs.append(out)
    return [DefaultInfo(files = depset(outs))]

_include_all = rule(
    implementation = _include_all_impl,
    attrs = {
        "alone": attr.bool(doc = "whether each header gets a source of its own"),
        "headers": attr.string_list(mandatory = True),
    },
    doc = "Writes a source that includes headers of its own package.",
)

# The definitions of the model checker, and therefore of every target that depends on the checker.
_MODEL_DEFINES = [
    "ROUSE_TWIN",
    "ROUSE_MODEL",
    "rouse=rouse_model",
]

# Models have millions of executions, for which code without optimization is too slow.
_MODEL_COPTS = ["-O2"]

_MODEL = "//testing/model"

# Ends a test that starts a thread.
_ONE_THREAD = "//testing/internal:one_thread"

# The definitions of the simulator, and therefore of every target that depends on the simulator.
_SCALING_DEFINES = [
    "ROUSE_TWIN",
    "ROUSE_SCALING",
    "rouse=rouse_scaling",
]

_SCALING = "//testing/scaling"

# Has no twin, because its header contains no code.
_CXX20 = "//base:cxx20"

def _twin(label, suffix = "_model"):
    """Returns the label of a library's twin, or `label` itself if the library has no twin."""
    if label.startswith(("@", _MODEL, _SCALING)):
        return label
    if ":" in label:
        return label + suffix
    return label + ":" + label.split("/")[-1] + suffix

def rouse_cc_library(
        name,
        srcs = [],
        hdrs = [],
        deps = [],
        model_deps = [],
        scaling_deps = [],
        checker = False,
        simulator = False,
        tags = [],
        defines = [],
        copts = [],
        features = [],
        **kwargs):
    """A cc_library whose headers are included as `rouse/<package>/<file>.h`.

    Args:
      name: the target, with the name of its header.
      srcs: sources.
      hdrs: headers.
      deps: the libraries that sources and headers include.
      model_deps: further libraries that they include if `ROUSE_MODEL` is defined.
      scaling_deps: further libraries that they include if `ROUSE_SCALING` is defined.
      checker: whether the library is a part of the model checker, which has no twins.
      simulator: whether the library is a part of the simulator of many cores, which has no twins.
      tags: as for cc_library.
      defines: as for cc_library.
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_library.
    """

    precompiled = _precompiled() if srcs or hdrs else None
    cxx20 = [_CXX20] if native.package_name() != "base" or name != "cxx20" else []
    if _IS_MAIN_REPOSITORY:
        # Every program of this workspace is linked statically. A shared library would never be used.
        kwargs["linkstatic"] = True
    checks = []
    if hdrs and not srcs and _IS_MAIN_REPOSITORY:
        _include_all(
            name = name + "_include_all",
            alone = select({
                "//tools:headers_alone": True,
                "//conditions:default": False,
            }),
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
        deps = deps + cxx20 + _precompiled_deps(precompiled),
        tags = tags,
        copts = _COPTS + (_MODEL_COPTS if checker else []) + _precompiled_copts(precompiled, checks_headers = not srcs) + copts,
        defines = defines + (_MODEL_DEFINES if checker else []) + (_SCALING_DEFINES if simulator else []),
        features = _FEATURES + features,
        include_prefix = _include_prefix(native.package_name()),
        **kwargs
    )
    if not checker and not simulator:
        scaling_precompiled = _SCALING_HEADERS if srcs and _IS_MAIN_REPOSITORY else None
        cc_library(
            name = name + "_scaling",
            srcs = srcs,
            hdrs = hdrs,
            deps = [_twin(label, "_scaling") for label in deps] + scaling_deps + cxx20 + _precompiled_deps(scaling_precompiled),
            tags = tags + ["manual"],
            defines = defines + _SCALING_DEFINES,
            copts = _COPTS + _precompiled_copts(scaling_precompiled) + copts,
            features = _FEATURES + features,
            include_prefix = _include_prefix(native.package_name()),
            **kwargs
        )
        twin_precompiled = _MODEL_HEADERS if srcs and _IS_MAIN_REPOSITORY else None
        cc_library(
            name = name + "_model",
            srcs = srcs,
            hdrs = hdrs,
            deps = [_twin(label) for label in deps] + model_deps + cxx20 + _precompiled_deps(twin_precompiled),
            tags = tags + ["manual"],
            defines = defines + _MODEL_DEFINES,
            copts = _COPTS + _MODEL_COPTS + _precompiled_copts(twin_precompiled) + copts,
            features = _FEATURES + features,
            include_prefix = _include_prefix(native.package_name()),
            **kwargs
        )

def rouse_foreign_library(name, linkopts):
    """A library that is no part of Rouse: a flag, which by default names the system's library.

    A workspace with another copy sets `--@rouse//<package>:<name>=<label>` in .bazelrc.

    Args:
      name: the flag.
      linkopts: what links the system's library, the target `system_NAME`.
    """
    native.label_flag(
        name = name,
        build_setting_default = ":system_" + name,
        visibility = ["//visibility:public"],
    )
    cc_library(
        name = "system_" + name,
        linkopts = linkopts,
        tags = ["manual"],
    )

    # The twins of libraries name these.
    for suffix in ["_model", "_scaling"]:
        native.alias(
            name = name + suffix,
            actual = ":" + name,
            tags = ["manual"],
            visibility = ["//%s:__subpackages__" % native.package_name()],
        )

def rouse_cc_binary(name, deps = [], copts = [], features = [], **kwargs):
    """A cc_binary with this workspace's warnings.

    Args:
      name: the target.
      deps: the libraries that the sources include.
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_binary.
    """
    precompiled = _precompiled()
    cc_binary(
        name = name,
        deps = deps + _precompiled_deps(precompiled),
        copts = _COPTS + _precompiled_copts(precompiled) + copts,
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
        one_thread = False,
        precompiled = "",
        deps = [],
        tags = [],
        copts = [],
        features = [],
        **kwargs):
    """A cc_test that uses GoogleTest and GoogleMock, without naming them in `deps`.

    If Bazel supports this, the test has a network of its own: no other process uses its ports and names
    of sockets.

    Tags with a meaning here: "model" (on the model checker or the simulator), "stress" (real threads),
    "one-thread" (from `one_thread`).

    Args:
      name: the target; the library's name and `_test`.
      srcs: sources; by default `NAME.cc`.
      size: as for cc_test.
      main: whether GoogleTest's main() is linked. False if the sources have their own main().
      one_thread: whether the test starts no thread, so that CI need not run it under ThreadSanitizer. The test
        fails if it starts a thread.
      precompiled: the precompiled header that is included first; None if the sources themselves must be the
        first to include a header.
      deps: the libraries that the sources include, except GoogleTest.
      tags: as for cc_test.
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_test.
    """
    if precompiled == "":
        precompiled = _precompiled_for_test(deps)
    gtest = ["@googletest//:gtest"] + (["@googletest//:gtest_main"] if main else [])
    cc_test(
        name = name,
        srcs = _own_source(name, srcs),
        size = size,
        copts = _COPTS + _precompiled_copts(precompiled) + copts,
        features = _FEATURES + features,
        linkstatic = True,
        tags = tags + ["block-network"] + (["one-thread"] if one_thread else []),
        deps = deps + gtest + ([_ONE_THREAD] if one_thread else []) + _precompiled_deps(precompiled),
        **kwargs
    )

def rouse_model_test(name, deps = [], copts = [], tags = [], timeout = "moderate", **kwargs):
    """A test of models. It is linked with the twins of `deps`, and does not name the checker's gtest.h.

    Args:
      name: the target; the library's name and `_model_test`.
      deps: the libraries, with the same names as in any other test.
      copts: further flags, for this target alone.
      tags: besides "model".
      timeout: long by default, because models compute for about ten seconds on an idle machine.
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
        precompiled = _MODEL_TEST_HEADERS,
        tags = ["model"] + tags,
        timeout = timeout,
        **kwargs
    )

def rouse_scaling_test(name, deps = [], tags = [], **kwargs):
    """A test on the simulator of many cores. It is linked with the twins of `deps`.

    Args:
      name: the target.
      deps: the libraries, with the same names as in any other test.
      tags: besides "model", which excludes the test from the configurations in which models are not run.
      **kwargs: as for rouse_cc_test.
    """
    rouse_cc_test(
        name = name,
        deps = [_twin(label, "_scaling") for label in deps],
        tags = ["model"] + tags,
        **kwargs
    )

def rouse_cc_benchmark(name, srcs = None, deps = [], tags = [], copts = [], features = [], **kwargs):
    """A Google Benchmark binary: `tools/bazel run -c opt //waker:waker_benchmark`.

    Args:
      name: the target; the library's name and `_benchmark`.
      srcs: sources; by default `NAME.cc`.
      deps: the libraries that the sources include, except Google Benchmark.
      tags: besides "benchmark".
      copts: further flags, for this target alone.
      features: further features, for this target alone.
      **kwargs: as for cc_binary.
    """
    precompiled = _precompiled()
    cc_binary(
        name = name,
        srcs = _own_source(name, srcs),
        testonly = True,
        copts = _COPTS + _precompiled_copts(precompiled) + copts,
        features = _FEATURES + features,
        linkstatic = True,
        tags = ["benchmark"] + tags,
        deps = deps + [
            "@google_benchmark//:benchmark",
            "@google_benchmark//:benchmark_main",
        ] + _precompiled_deps(precompiled),
        **kwargs
    )
