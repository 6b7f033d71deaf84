"""A test that wrong code does not compile, and that the compiler's message gives the reason.

    load("//tools:rouse_nc_test.bzl", "rouse_cc_nc_test")

    rouse_cc_nc_test(
        name = "co_nc_test",
        cases = {"DISCARDED_CO": "ignoring return(ed)? value .*nodiscard"},
        clang_cases = {"DANGLING_CAPTURE": "temporary .* will be destroyed"},
        deps = [":co"],
    )

The source is compiled once for each case, with `-DROUSE_NC_<case>`. The compilation must fail, and a
diagnostic must match the extended regular expression:

    #ifdef ROUSE_NC_DISCARDED_CO
    void Discard() { Answer(); }
    #endif

The source is also compiled without any of these definitions, and must then compile, so that no case
passes only because a header is missing. With a compiler other than clang, `clang_cases` are not tried,
and the log names them.

`user_cases` are for mistakes that users make. One of the first twelve lines of the compiler's output
must match the regular expression, and one of these lines must name a line of the source itself.

The compiler runs as a build action, with the flags of the current configuration. The verdict is an
output of the action, and the test only reads the verdict. The include paths are therefore those of any
compilation, and the results are cached.
"""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":precompiled_header.bzl", "PrecompiledHeaderInfo")

# The flags of rouse_cc.bzl, without colours, so that a regular expression can match the output.
_COPTS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fdiagnostics-color=never"]

def compile_for_messages(ctx, toolchain, src, output, defines = [], copts = [], precompiled = None):
    """Compiles a source; writes the compiler's messages, and a last line with the exit status.

    Args:
      ctx: the context of a rule with `deps`, and with the fragment and toolchain of rouse_cc_nc_test.
      toolchain: the toolchain.
      src: the source.
      output: the file for the messages.
      defines: names that the compilation defines.
      copts: further flags, after those of the configuration.
      precompiled: a rouse_precompiled_header that is included first.
    """
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        # Both need module maps, which only a cc_library creates.
        unsupported_features = ctx.disabled_features + ["layering_check", "module_maps"],
    )
    context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps + ([precompiled] if precompiled else [])],
    ).compilation_context
    if precompiled:
        copts = precompiled[PrecompiledHeaderInfo].flags + copts
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = src.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + _COPTS + copts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = depset(
            defines,
            transitive = [context.defines],
        ),
    )
    ctx.actions.run_shell(
        mnemonic = "CppNegativeCompile",
        progress_message = "Compiling for the messages of %s" % output.short_path,
        command = 'out="$1"; shift; "$@" >"$out" 2>&1; echo "status $?" >>"$out"',
        arguments = [output.path, cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
        )] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        inputs = depset([src], transitive = [context.headers, toolchain.all_files]),
        outputs = [output],
    )

def _quote(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _rouse_cc_nc_test_impl(ctx):
    toolchain = find_cc_toolchain(ctx)
    is_clang = toolchain.compiler == "clang"
    verdicts = []
    lines = ["#!/usr/bin/env bash", "source " + ctx.file._judge.short_path]

    control = ctx.actions.declare_file(ctx.label.name + ".control")
    compile_for_messages(ctx, toolchain, ctx.file.src, control, precompiled = ctx.attr.precompiled)
    verdicts.append(control)
    lines.append("must_compile " + _quote(control.short_path))

    cases = dict(ctx.attr.cases)
    if is_clang:
        cases.update(ctx.attr.clang_cases)
    tried = [("must_fail", case, expect) for case, expect in cases.items()]
    tried += [("must_tell_user", case, expect) for case, expect in ctx.attr.user_cases.items()]
    for judge, case, expect in tried:
        verdict = ctx.actions.declare_file("%s.%s" % (ctx.label.name, case))
        compile_for_messages(
            ctx,
            toolchain,
            ctx.file.src,
            verdict,
            defines = ["ROUSE_NC_" + case],
            precompiled = ctx.attr.precompiled,
        )
        verdicts.append(verdict)
        lines.append(" ".join([
            judge,
            case,
            _quote(verdict.short_path),
            _quote(expect),
            _quote(ctx.file.src.basename),
        ]))
    if not is_clang:
        lines.extend(["not_applicable " + case for case in ctx.attr.clang_cases])
    lines.append("finish")

    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "\n".join(lines) + "\n", is_executable = True)
    return [DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles(files = verdicts + [ctx.file._judge]),
    )]

_rouse_cc_nc_test = rule(
    implementation = _rouse_cc_nc_test_impl,
    attrs = {
        "cases": attr.string_dict(),
        "clang_cases": attr.string_dict(),
        "deps": attr.label_list(providers = [CcInfo]),
        "user_cases": attr.string_dict(),
        "src": attr.label(allow_single_file = [".cc"], mandatory = True),
        "precompiled": attr.label(providers = [PrecompiledHeaderInfo]),
        "_judge": attr.label(
            allow_single_file = True,
            default = Label("//tools:nc_judge.sh"),
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

def rouse_cc_nc_test(
        name,
        deps,
        src = None,
        cases = {},
        clang_cases = {},
        user_cases = {},
        precompiled = Label("//tools:library_headers"),
        size = "small",
        tags = [],
        **kwargs):
    """A test of code that must not compile; see the beginning of this file.

    Args:
      name: the target; `<library>_nc_test`.
      deps: the libraries that the source includes.
      src: the source; by default `NAME.cc`.
      cases: an extended regular expression for each case, for every compiler.
      clang_cases: like `cases`, for errors that only clang diagnoses.
      user_cases: like `cases`, if the first lines must tell a user what to do, and where.
      precompiled: the precompiled header that is included first; None if the source itself must be the first
        to include a header.
      size: as for any test.
      tags: besides "nc".
      **kwargs: as for any test.
    """
    _rouse_cc_nc_test(
        name = name,
        src = src or name + ".cc",
        cases = cases,
        clang_cases = clang_cases,
        user_cases = user_cases,
        precompiled = precompiled,
        deps = deps,
        size = size,
        tags = ["nc"] + tags,
        **kwargs
    )
