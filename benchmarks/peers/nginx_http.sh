#!/usr/bin/env bash
#
# nginx_http PORT [ct]: answers `GET /` on 127.0.0.1 like //examples/http_hello, with one process of nginx,
# until the process is killed. Writes nginx's files into a new folder in ${TMPDIR:-/tmp}, and leaves the
# folder there.
#
# nginx's answer has two headers more, Date and Server, which nginx always sends. With `master_process off`,
# the process that is started is the one that serves.

set -euo pipefail

if (($# < 1 || $# > 2)) || [[ ! $1 =~ ^[0-9]+$ || ${2:-ct} != ct ]]; then
  echo "usage: nginx_http PORT [ct]" >&2
  exit 2
fi

folder="$(mktemp -d)"
# As root, nginx gives its folders to another user, whom a container may not have.
user=
[[ $(id -u) != 0 ]] || user="user root;"
cat >"${folder}/nginx.conf" <<END
daemon off;
master_process off;
${user}
worker_processes 1;
pid ${folder}/pid;
error_log stderr warn;
events {
  worker_connections 4096;
}
http {
  access_log off;
  server_tokens off;
  default_type text/plain;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:$1 backlog=4096;
    location = / {
      return 200 "hello\n";
    }
  }
}
END
# Debian has nginx in a folder that is not on every user's PATH.
PATH="${PATH}:/usr/sbin"
exec nginx -e stderr -p "${folder}" -c "${folder}/nginx.conf"
