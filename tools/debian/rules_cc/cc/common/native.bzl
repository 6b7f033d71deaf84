"""Built-in symbols for cc_common.bzl and cc_info.bzl. A file cannot export its own built-ins."""

# buildifier: disable=native-cc-common
native_cc_common = cc_common

# buildifier: disable=native-cc-info
NativeCcInfo = CcInfo
