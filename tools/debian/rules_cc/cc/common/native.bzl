"""What cc_common.bzl and cc_info.bzl hand on; a file cannot do so under the same name."""

# buildifier: disable=native-cc-common
native_cc_common = cc_common

# buildifier: disable=native-cc-info
NativeCcInfo = CcInfo
