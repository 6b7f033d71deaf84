"""See ../defs.bzl."""

load(":native.bzl", "NativeCcInfo")

CcInfo = NativeCcInfo
