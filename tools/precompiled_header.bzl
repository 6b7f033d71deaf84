"""A precompiled header, which targets include instead of parsing the same headers again.

    load("//tools:precompiled_header.bzl", "rouse_precompiled_header")

    rouse_precompiled_header(
        name = "test_headers",
        header = "test_headers.h",
        deps = ["@googletest//:gtest"],
    )

A target that depends on `:test_headers`, and has `precompiled_header_copts("//tools:test_headers")` in its
`copts`, is compiled as if the header were included first. Without it, other projects' headers take two
thirds of the time to compile a library, and half of the time to compile a test. With g++, the rule does
nothing: g++ 12 takes as much time to load a precompiled header of this size as to parse the headers.

clang stores absolute paths of headers, but each action has a folder of its own. Actions therefore call
their folder /proc/self/cwd, as Bazel's own compilations do. clang's "sysroot" is this folder, which makes
the stored paths relative, so that Bazel recognizes them in the list of headers that clang writes.
"""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_FOLDER = "/proc/self/cwd"

PrecompiledHeaderInfo = provider(
    doc = "Tells a rule that calls the compiler itself how to include the header.",
    fields = {"flags": "the compiler's flags; none with a compiler that does not use precompiled headers"},
)

def _flags(pch):
    return [
        "-include-pch",
        pch,
        "-Xclang",
        "-isysroot",
        "-Xclang",
        ".",
        # clang would refuse flags that differ but do not change these headers, such as those of
        # layering_check and -O, and headers with another time. Bazel compiles the header again if a
        # file or a flag has changed.
        "-Xclang",
        "-fno-validate-pch",
    ]

def precompiled_header_copts(label, without = None):
    """Makes the flags for a target that depends on a precompiled header.

    Args:
      label: the label of the precompiled header, as //PACKAGE:NAME.
      without: a config_setting, more special than //tools:clang, with which the header is not used.

    Returns:
      The flags, for `copts`.
    """
    branches = {
        "//tools:clang": _flags("$(BINDIR)/%s.pch" % label[2:].replace(":", "/")),
        "//conditions:default": [],
    }
    if without:
        branches[without] = []
    return select(branches)

def _rouse_precompiled_header_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + ["layering_check", "module_maps"],
    )
    if cc_toolchain.compiler != "clang":
        return [CcInfo(), PrecompiledHeaderInfo(flags = [])]
    context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    pch = ctx.actions.declare_file(ctx.label.name + ".pch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        source_file = ctx.file.header.path,
        output_file = pch.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + [
            "-xc++-header",
            "-Xclang",
            "-relocatable-pch",
            "-Xclang",
            "-isysroot",
            "-Xclang",
            _FOLDER,
            # The same input gives the same file.
            "-Xclang",
            "-fno-pch-timestamp",
            # Otherwise, each target would instantiate the templates that the headers use, which takes 1.4 s for
            # GoogleTest and Abseil.
            "-fpch-instantiate-templates",
        ],
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
    )
    environment = cc_common.get_environment_variables(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        env = dict(environment, PWD = _FOLDER),
        inputs = depset([ctx.file.header], transitive = [context.headers, cc_toolchain.all_files]),
        outputs = [pch],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.file.header.short_path,
    )

    # The headers are inputs of the dependent target, because clang looks for them, but their folders are
    # not searched.
    return [
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([pch, ctx.file.header], transitive = [context.headers]),
        )),
        PrecompiledHeaderInfo(flags = _flags(pch.path)),
    ]

rouse_precompiled_header = rule(
    implementation = _rouse_precompiled_header_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    doc = "Compiles a header for the targets that depend on the rule.",
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
