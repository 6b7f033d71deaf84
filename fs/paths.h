// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: paths.h
// -----------------------------------------------------------------------------
//
// Makes, removes, renames, links and inspects files and directories:
//
//   co_await rouse::OrReturn(rouse::fs::CreateDirs("a/b/c"));
//   co_await rouse::OrReturn(rouse::fs::Rename("a/b/c", "d"));
//   co_await rouse::OrReturn(rouse::fs::RemoveAll("a"));

#ifndef ROUSE_FS_PATHS_H_
#define ROUSE_FS_PATHS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "rouse/fs/metadata.h"
#include "rouse/fs/operation.h"

namespace rouse::fs {

// Return what the system knows about the file at `path`. If `path` is a
// symbolic link, the first function follows the link.
Operation<Metadata> GetMetadata(std::string path);
Operation<Metadata> GetSymlinkMetadata(std::string path);

// Returns whether there is a file, of any kind, at `path`. A symbolic link
// without a target counts as no file. Errors other than NotFound are errors.
Operation<bool> Exists(std::string path);

// Sets the permissions of the file at `path`, such as 0644.
Operation<void> SetPermissions(std::string path, mode_t permissions);

// Make a directory, or also all directories above it that are missing. With the
// second function, a directory that exists is no error.
Operation<void> CreateDir(std::string path, mode_t mode = 0777);
Operation<void> CreateDirs(std::string path, mode_t mode = 0777);

// Remove a file that is no directory, an empty directory, or anything, with all
// that is in it. Symbolic links are removed, and not followed. The last
// function returns the number of files removed: 0, without an error, if there
// is nothing at `path`; after an error, a part may be gone.
Operation<void> RemoveFile(std::string path);
Operation<void> RemoveDir(std::string path);
Operation<uint64_t> RemoveAll(std::string path);

// Renames a file or a directory. Replaces a file at `to`, and an empty
// directory if `from` is a directory. Both must be on one file system.
Operation<void> Rename(std::string from, std::string to);

// Make `link` a further name of the file `target`, or a symbolic link with the
// text `target`.
Operation<void> HardLink(std::string target, std::string link);
Operation<void> Symlink(std::string target, std::string link);
// Returns the text of a symbolic link.
Operation<std::string> ReadLink(std::string path);

// Returns the absolute path of a file that exists, without symbolic links.
Operation<std::string> Canonicalize(std::string path);

// Copies the contents and the permissions of a file to `to`, which is created
// or overwritten. Returns the number of bytes. The kernel copies the bytes, and
// shares them on file systems that can. After an error, `to` may have a part.
Operation<uint64_t> CopyFile(std::string from, std::string to);

}  // namespace rouse::fs

#endif  // ROUSE_FS_PATHS_H_
