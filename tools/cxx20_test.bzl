"""A test that an older standard than C++20 gives one error, which says what to do.

    load("//tools:cxx20_test.bzl", "rouse_cxx20_test")

    rouse_cxx20_test(name = "cxx20_test")

Checks that every header of every public library reaches base/cxx20.h before any line of its own, and
compiles some headers for C++17. Every header would take a minute.
"""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":closures.bzl", "CLOSURES")
load(":rouse_nc_test.bzl", "compile_for_messages")

# The header that most programs include, and headers of components. future/co.h includes <coroutine>, an
# error in C++17 with g++. A header of the wheel includes many others.
_COMPILED = [
    "rouse/base/any_duration.h",
    "rouse/future/co.h",
    "rouse/rouse.h",
    "rouse/sync/mpsc.h",
    "rouse/testing/model/check.h",
    "rouse/timer/wheel/driver.h",
]

def _rouse_cxx20_test_impl(ctx):
    toolchain = find_cc_toolchain(ctx)
    outputs = []
    for header in _COMPILED:
        name = "%s.%s" % (ctx.label.name, header.replace("/", "_"))
        source = ctx.actions.declare_file(name + ".cc")
        ctx.actions.write(source, '#include "%s"\n' % header)
        output = ctx.actions.declare_file(name + ".messages")
        compile_for_messages(ctx, toolchain, source, output, copts = ["-std=c++17"])
        outputs.append(output)

    headers = [
        header
        for dep in ctx.attr.deps
        for header in dep[CcInfo].compilation_context.headers.to_list()
        if "/_virtual_includes/" in header.path and "/rouse/" in header.path
    ]
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = executable, target_file = ctx.file._script, is_executable = True)
    return [DefaultInfo(
        executable = executable,
        runfiles = ctx.runfiles(files = outputs, transitive_files = depset(headers)),
    )]

_rouse_cxx20_test = rule(
    implementation = _rouse_cxx20_test_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "_script": attr.label(
            allow_single_file = True,
            default = Label("//tools:cxx20_test.py"),
        ),
        # Bazel 4 finds the toolchain through this attribute.
        "_cc_toolchain": attr.label(
            default = Label("@bazel_tools//tools/cpp:current_cc_toolchain"),
        ),
    },
    fragments = ["cpp"],
    test = True,
    toolchains = use_cc_toolchain(),
)

def rouse_cxx20_test(name):
    """Checks the headers of all libraries that CLOSURES names.

    Args:
      name: the target.
    """
    _rouse_cxx20_test(
        name = name,
        testonly = True,
        size = "small",
        deps = CLOSURES.keys(),
    )
