"""A test that code which must not compile does not, and that the compiler says why.

    load("//tools:rouse_nc_test.bzl", "rouse_cc_nc_test")

    rouse_cc_nc_test(
        name = "co_nc_test",
        cases = {"DISCARDED_CO": "ignoring return(ed)? value .*nodiscard"},
        clang_cases = {"DANGLING_CAPTURE": "temporary .* will be destroyed"},
        deps = [":co"],
    )

The source is compiled once for each case with `-DROUSE_NC_<case>`, and must then fail with a diagnostic
that the extended regular expression finds:

    #ifdef ROUSE_NC_DISCARDED_CO
    void Discard() { Answer(); }
    #endif

It is also compiled with none of these defined, and must then succeed: so a case cannot pass for a
missing header. `clang_cases` pass on another compiler without being tried, and the log says so.

`user_cases` are for mistakes that users make: what the regular expression finds must be within the first
dozen lines of what the compiler says, and one of these lines must name a line of the source itself.

The compiler runs as a build action, with the flags of the configuration at hand, and its verdict is an
output; the test only reads it. So include paths are those of any compilation, and results are cached.
"""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# Those of rouse_cc.bzl, and no colours in what a regular expression has to match.
_COPTS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fdiagnostics-color=never"]

def _compile(ctx, toolchain, output, define):
    """Has the source compiled; writes the compiler's messages and a last line with its status."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        # Both need module maps, which only a cc_library makes.
        unsupported_features = ctx.disabled_features + ["layering_check", "module_maps"],
    )
    context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.file.src.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + _COPTS,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = depset(
            ["ROUSE_NC_" + define] if define else [],
            transitive = [context.defines],
        ),
    )
    ctx.actions.run_shell(
        mnemonic = "CppNegativeCompile",
        progress_message = "Compiling %s, which should fail" % output.short_path,
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
        inputs = depset([ctx.file.src], transitive = [context.headers, toolchain.all_files]),
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
    _compile(ctx, toolchain, control, None)
    verdicts.append(control)
    lines.append("must_compile " + _quote(control.short_path))

    cases = dict(ctx.attr.cases)
    if is_clang:
        cases.update(ctx.attr.clang_cases)
    tried = [("must_fail", case, expect) for case, expect in cases.items()]
    tried += [("must_tell_user", case, expect) for case, expect in ctx.attr.user_cases.items()]
    for judge, case, expect in tried:
        verdict = ctx.actions.declare_file("%s.%s" % (ctx.label.name, case))
        _compile(ctx, toolchain, verdict, case)
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
        "_judge": attr.label(
            allow_single_file = True,
            default = Label("//tools:nc_judge.sh"),
        ),
        # Bazel 4 finds the toolchain through it.
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
        size = "small",
        **kwargs):
    """See the head of this file.

    Args:
      name: the target; `<library>_nc_test`.
      deps: what the source includes.
      src: the one source; by default `NAME.cc`.
      cases: case to extended regular expression, for every compiler.
      clang_cases: as `cases`, for what clang alone can diagnose.
      user_cases: as `cases`, where the first lines have to tell a user what to do, and where.
      size: as for any test.
      **kwargs: as for any test.
    """
    _rouse_cc_nc_test(
        name = name,
        src = src or name + ".cc",
        cases = cases,
        clang_cases = clang_cases,
        user_cases = user_cases,
        deps = deps,
        size = size,
        **kwargs
    )
