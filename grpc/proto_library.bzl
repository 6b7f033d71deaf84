"""C++ code of a gRPC service, for Rouse's own tests and examples.

    load("//grpc:proto_library.bzl", "rouse_grpc_proto_library")

    rouse_grpc_proto_library(
        name = "echo_proto",
        proto = "echo.proto",
    )

A source that depends on the library includes "echo.grpc.pb.h". The rules of rules_proto and of gRPC would
bring gRPC and protobuf as sources, which Rouse does not depend on.
"""

load("@rules_cc//cc:cc_library.bzl", "cc_library")

def rouse_grpc_proto_library(name, proto, **kwargs):
    """A cc_library of the messages, stubs and services of a file without imports.

    Args:
      name: the target.
      proto: the file, in the package's folder.
      **kwargs: as for cc_library.
    """
    stem = proto[:-len(".proto")]
    headers = [stem + ".pb.h", stem + ".grpc.pb.h"]
    sources = [stem + ".pb.cc", stem + ".grpc.pb.cc"]
    native.genrule(
        name = name + "_files",
        # In srcs, because a tool would be built with the default of the flag.
        srcs = [
            proto,
            "//grpc:protoc",
        ],
        outs = headers + sources,
        cmd = "$(execpath //grpc:protoc) -I $$(dirname $(execpath %s)) --cpp_out=$(RULEDIR) --grpc_out=$(RULEDIR) %s" % (proto, proto),
        message = "Generating %s of" % ", ".join(headers),
        tags = ["manual"],
    )
    cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        # Generated code is not Rouse's to fix. Its headers are a system's headers, too, by `includes`.
        copts = ["-w"],
        includes = ["."],
        linkstatic = True,
        tags = ["manual"],
        deps = ["//grpc:grpc++"],
        **kwargs
    )
