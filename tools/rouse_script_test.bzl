"""A test or a program that is a script, for example a script that drives a binary from outside.

    load("//tools:rouse_script_test.bzl", "rouse_script_test")

    rouse_script_test(
        name = "echo_system_test",
        script = "echo_system_test.py",
        args = ["$(rootpath :echo)"],
        data = [":echo"],
    )

`rouse_script` is the same for `bazel run`. The first line of the script names the interpreter. sh_test,
py_test and the like would serve the purpose, but not every supported version of Bazel has these rules.
"""

def _rouse_script_impl(ctx):
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.file.script,
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.file.script] + ctx.files.data)
    for target in ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = executable, runfiles = runfiles)]

_ATTRS = {
    "data": attr.label_list(
        allow_files = True,
        doc = "The files that the script runs or reads; `args` can name a file by $(rootpath).",
    ),
    "script": attr.label(
        allow_single_file = True,
        mandatory = True,
        doc = "The script, an executable file.",
    ),
}

rouse_script_test = rule(
    implementation = _rouse_script_impl,
    attrs = _ATTRS,
    test = True,
)

rouse_script = rule(
    implementation = _rouse_script_impl,
    attrs = _ATTRS,
    executable = True,
)
