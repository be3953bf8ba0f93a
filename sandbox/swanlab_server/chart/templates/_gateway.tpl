{{/*
Configuration of the gateway's nginx. Names are asked for at request time: an address that nginx resolved at its start
would outlive a Service that was made anew.
*/}}
{{- define "swanlab.gateway.upstream" -}}
{{- $root := index . 0 -}}
{{- printf "http://%s.%s.svc.%s:%v" (include "swanlab.fullnameOf" .) $root.Release.Namespace $root.Values.global.clusterDomain (index . 2) -}}
{{- end -}}

{{- define "swanlab.gateway.route" -}}
location {{ index . 0 }} {
  set $upstream {{ index . 1 }};
  proxy_pass $upstream;
}
{{- end -}}

{{/* Routes of both entrypoints: web from outside, internal for pods. */}}
{{- define "swanlab.gateway.routes" -}}
{{ include "swanlab.gateway.route" (list "/" (include "swanlab.gateway.upstream" (list . "next" 80))) }}
{{ include "swanlab.gateway.route" (list "/api" (include "swanlab.gateway.upstream" (list . "server" 3000))) }}
{{ include "swanlab.gateway.route" (list "/api/auth" (include "swanlab.gateway.upstream" (list . "auth" 3000))) }}
{{ include "swanlab.gateway.route" (list "/api/house" (include "swanlab.gateway.upstream" (list . "house" 3000))) }}
# The prefix is the stand-in's own choice: the official one is not published.
location /cloud/ {
  set $upstream {{ include "swanlab.gateway.upstream" (list . "cloud" 80) }};
  rewrite ^/cloud(/.*)$ $1 break;
  proxy_pass $upstream;
}
{{- if not .Values.integrations.s3.enabled }}
{{- $s3 := include "swanlab.gateway.upstream" (list . "s3" 9000) }}
{{ include "swanlab.gateway.route" (list "/swanlab-private" $s3) }}
{{ include "swanlab.gateway.route" (list "/swanlab-public" $s3) }}
{{- end }}
{{- end -}}

{{- define "swanlab.gateway.conf" -}}
{{- $ports := .Values.gateway.service.ports -}}
user root root;  # of a start as root, as in the official gateway; any other user ignores it
worker_processes 2;
pid /tmp/nginx.pid;
error_log stderr warn;
daemon off;

events {
  worker_connections 4096;
}

http {
  include /tmp/resolver.conf;
  resolver_timeout 5s;
  access_log off;
  server_tokens off;
  client_body_temp_path /tmp/client;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;

  client_max_body_size 0;
  large_client_header_buffers 8 32k;
  ignore_invalid_headers off;
  underscores_in_headers on;
  variables_hash_max_size 2048;

  # Whatever stands in front is believed, as the official gateway believes it: signed addresses depend on it.
  map $http_x_forwarded_proto $forwarded_proto {
    default $http_x_forwarded_proto;
    "" $scheme;
  }
  map $http_x_forwarded_host $forwarded_host {
    default $http_x_forwarded_host;
    "" $http_host;
  }
  map $http_upgrade $connection_upgrade {
    default upgrade;
    "" "";
  }
  proxy_http_version 1.1;
  proxy_set_header Host $http_host;
  proxy_set_header X-Forwarded-Host $forwarded_host;
  proxy_set_header X-Forwarded-Proto $forwarded_proto;
  proxy_set_header X-Forwarded-Port $http_x_forwarded_port;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $connection_upgrade;
  proxy_request_buffering off;
  proxy_max_temp_file_size 0;
  proxy_connect_timeout 5s;
  proxy_read_timeout 300s;
  proxy_send_timeout 300s;

  server {
    listen {{ int $ports.web }};
    location ^~ /api/internal {
      return 403;
    }
    location ^~ /api/house/internal {
      return 403;
    }
    {{- include "swanlab.gateway.routes" . | nindent 4 }}
  }

  server {
    listen {{ int $ports.internal }};
    {{- include "swanlab.gateway.routes" . | nindent 4 }}
  }

  server {
    listen {{ int $ports.traefik }};
    location = /ping {
      default_type text/plain;
      return 200 "OK";
    }
    location / {
      return 404;
    }
  }

  server {
    listen {{ int $ports.metrics }};
    location = /metrics {
      default_type "text/plain; version=0.0.4";
      return 200 "# HELP nginx_connections_active Connections of clients, those that wait included.\n# TYPE nginx_connections_active gauge\nnginx_connections_active $connections_active\n# HELP nginx_connections_waiting Connections of clients without a request.\n# TYPE nginx_connections_waiting gauge\nnginx_connections_waiting $connections_waiting\n";
    }
    location / {
      return 404;
    }
  }
}
{{- end -}}
