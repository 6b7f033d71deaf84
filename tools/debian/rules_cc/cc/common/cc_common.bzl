"""See ../defs.bzl."""

load(":native.bzl", "native_cc_common")

cc_common = native_cc_common
