"""The tests and the benchmark of open files, which run once for each back end."""

load("//tools:rouse_cc.bzl", "rouse_cc_benchmark", "rouse_cc_test")

_STATUS = [
    "@abseil-cpp//absl/status",
    "@abseil-cpp//absl/status:status_matchers",
    "@abseil-cpp//absl/status:statusor",
]

# The tests, and what each depends on.
_TESTS = {
    "drop_stress_test": _STATUS + [
        "//base:fast_rand",
        "//fs:file",
        "//fs:fs_fixture",
        "//fs:paths",
        "//fs:read_dir",
        "//fs:whole_file",
        "//future:co",
        "//future:yield",
        "//runtime",
        "//runtime:handle",
        "//scheduler:join_set",
        "//testing/internal:stress_seed",
        "//testing/internal:stress_time",
        "//waker",
        "@abseil-cpp//absl/strings",
        "@abseil-cpp//absl/time",
    ],
    "file_reader_test": _STATUS + [
        "//fs:file",
        "//fs:file_reader",
        "//fs:fs_fixture",
        "//io:async_read",
        "//io:read",
        "//io:read_line",
        "//io:read_to_end",
        "//testing:expect_panic",
        "@abseil-cpp//absl/strings",
        "@abseil-cpp//absl/types:span",
    ],
    "file_test": _STATUS + [
        "//fs:file",
        "//fs:fs_fixture",
        "//fs:metadata",
        "//fs:operation",
        "//future",
        "//future:block_on",
        "//future:co",
        "//future/many:join_all",
        "//reactor:owned_fd",
        "//runtime",
        "//testing:expect_panic",
    ],
    "file_writer_test": _STATUS + [
        "//fs:file",
        "//fs:file_reader",
        "//fs:file_writer",
        "//fs:fs_fixture",
        "//io:async_write",
        "//io:copy",
        "//io:flush",
        "//io:write",
        "//io:write_all",
        "@abseil-cpp//absl/base:log_severity",
        "@abseil-cpp//absl/log:scoped_mock_log",
        "@abseil-cpp//absl/strings",
    ],
}

def backend_tests(fixture = [], tags = [], **kwargs):
    """Makes a test of each source in fs/ that tests open files, and the benchmark of open files.

    Args:
      fixture: the library that sets `TestBackend()` (fs_fixture.h). Without one, files use the blocking pool.
      tags: the tags of all targets.
      **kwargs: further attributes of all targets.
    """
    for name, deps in _TESTS.items():
        is_stress = "stress" in name
        rouse_cc_test(
            name = name,
            size = "medium" if is_stress else None,
            srcs = ["//fs:%s.cc" % name],
            tags = tags + (["stress"] if is_stress else []),
            deps = deps + fixture,
            **kwargs
        )
    rouse_cc_benchmark(
        name = "file_benchmark",
        srcs = ["//fs:file_benchmark.cc"],
        tags = tags,
        deps = fixture + [
            "//fs:file",
            "//fs:fs_fixture",
            "//fs:operation",
            "//fs:posix",
            "//fs:whole_file",
            "//future:co",
            "//future/many:join_all",
            "//reactor:owned_fd",
            "//runtime",
            "//runtime:handle",
            "//scheduler:spawn_blocking",
            "@abseil-cpp//absl/log:check",
            "@abseil-cpp//absl/status",
            "@abseil-cpp//absl/status:statusor",
        ],
        **kwargs
    )
