// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: whole_file.h
// -----------------------------------------------------------------------------
//
// Reads and writes whole files:
//
//   std::string text = co_await rouse::OrReturn(rouse::fs::ReadFile("a.txt"));
//   co_await rouse::OrReturn(
//       rouse::fs::WriteFileAtomically("b.txt", std::move(text)));

#ifndef ROUSE_FS_WHOLE_FILE_H_
#define ROUSE_FS_WHOLE_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <string>

#include "rouse/fs/operation.h"

namespace rouse::fs {

// Returns all bytes of the file at `path`: of a pipe or a device too, until its
// end. ResourceExhausted if there are more than `limit` bytes.
Operation<std::string> ReadFile(
    std::string path, size_t limit = std::numeric_limits<size_t>::max());

// Makes `data` the contents of the file at `path`, and creates the file if it
// does not exist, with permissions `mode` less the process's umask. After an
// error, or after a crash, the file may have a part of `data`.
Operation<void> WriteFile(std::string path, std::string data,
                          mode_t mode = 0666);

// Like `WriteFile()`, but other processes see the old contents or the new, and
// a crash of the machine leaves one of the two: writes a new file in the
// directory of `path`, waits until the storage device has the file, and then
// renames it to `path`. The file thus has a new inode, owner, and permissions
// `mode` less the umask. If `path` is a symbolic link, the link is replaced.
//
// After an error the old contents are there, and the new file is removed. If
// only the last step fails, which waits until the device has the directory, the
// new contents are there already.
Operation<void> WriteFileAtomically(std::string path, std::string data,
                                    mode_t mode = 0666);

}  // namespace rouse::fs

#endif  // ROUSE_FS_WHOLE_FILE_H_
