{{/*
Where the stores are, inside or outside the release. Each takes the top context.
*/}}

{{/* Secret with the credentials of a store: (list root "postgres"). */}}
{{- define "swanlab.secretName" -}}
{{- $root := index . 0 -}}
{{- $store := index . 1 -}}
{{- $outside := index $root.Values.integrations $store -}}
{{- $inside := index $root.Values.dependencies $store -}}
{{- if $outside.enabled -}}
{{- required (printf "integrations.%s.enabled needs integrations.%s.existingSecret: the name of a Secret" $store $store) $outside.existingSecret -}}
{{- else -}}
{{- default (printf "%s-credentials" (include "swanlab.fullnameOf" .)) $inside.existingSecret -}}
{{- end -}}
{{- end -}}

{{/* Whether the chart makes that Secret: "true" or nothing. */}}
{{- define "swanlab.makesSecret" -}}
{{- $root := index . 0 -}}
{{- $store := index . 1 -}}
{{- if not (or (index $root.Values.integrations $store).enabled (index $root.Values.dependencies $store).existingSecret) -}}
true
{{- end -}}
{{- end -}}

{{- define "swanlab.postgres.host" -}}
{{- if .Values.integrations.postgres.enabled -}}
{{- required "integrations.postgres.enabled needs integrations.postgres.host" .Values.integrations.postgres.host -}}
{{- else -}}
{{- include "swanlab.fullnameOf" (list . "postgres") -}}
{{- end -}}
{{- end -}}

{{- define "swanlab.postgres.address" -}}
{{- $port := ternary .Values.integrations.postgres.port 5432 .Values.integrations.postgres.enabled -}}
{{- printf "%s:%v" (include "swanlab.postgres.host" .) (int $port) -}}
{{- end -}}

{{- define "swanlab.redis.host" -}}
{{- if .Values.integrations.redis.enabled -}}
{{- required "integrations.redis.enabled needs integrations.redis.host" .Values.integrations.redis.host -}}
{{- else -}}
{{- include "swanlab.fullnameOf" (list . "redis") -}}
{{- end -}}
{{- end -}}

{{- define "swanlab.redis.address" -}}
{{- $port := ternary .Values.integrations.redis.port 6379 .Values.integrations.redis.enabled -}}
{{- printf "%s:%v" (include "swanlab.redis.host" .) (int $port) -}}
{{- end -}}

{{- define "swanlab.clickhouse.host" -}}
{{- if .Values.integrations.clickhouse.enabled -}}
{{- required "integrations.clickhouse.enabled needs integrations.clickhouse.host" .Values.integrations.clickhouse.host -}}
{{- else -}}
{{- include "swanlab.fullnameOf" (list . "clickhouse") -}}
{{- end -}}
{{- end -}}

{{- define "swanlab.clickhouse.address" -}}
{{- $port := ternary .Values.integrations.clickhouse.httpPort 8123 .Values.integrations.clickhouse.enabled -}}
{{- printf "%s:%v" (include "swanlab.clickhouse.host" .) (int $port) -}}
{{- end -}}

{{- define "swanlab.clickhouse.database" -}}
{{- ternary .Values.integrations.clickhouse.database "app" .Values.integrations.clickhouse.enabled -}}
{{- end -}}

{{/* Scheme, host and port of an endpoint outside: (list "public" values). A scheme's own port is left out, as HTTP
     clients leave it out of the Host that a signature covers. */}}
{{- define "swanlab.s3.outside" -}}
{{- $which := index . 0 -}}
{{- $values := index . 1 -}}
{{- $host := required (printf "integrations.s3.enabled needs integrations.s3.%s.endpoint" $which) $values.endpoint -}}
{{- $scheme := ternary "https" "http" $values.ssl -}}
{{- $own := ternary 443 80 $values.ssl -}}
{{- if eq (int $values.port) $own -}}
{{- printf "%s://%s" $scheme $host -}}
{{- else -}}
{{- printf "%s://%s:%v" $scheme $host (int $values.port) -}}
{{- end -}}
{{- end -}}

{{- define "swanlab.s3.endpoint" -}}
{{- if .Values.integrations.s3.enabled -}}
{{- include "swanlab.s3.outside" (list "private" .Values.integrations.s3.private) -}}
{{- else -}}
{{- printf "http://%s:9000" (include "swanlab.fullnameOf" (list . "s3")) -}}
{{- end -}}
{{- end -}}

{{/* What signed addresses begin with. Empty: how the caller reached the gateway, which leads to the store inside. */}}
{{- define "swanlab.s3.publicUrl" -}}
{{- if .Values.integrations.s3.enabled -}}
{{- include "swanlab.s3.outside" (list "public" .Values.integrations.s3.public) -}}
{{- end -}}
{{- end -}}

{{- define "swanlab.s3.region" -}}
{{- if .Values.integrations.s3.enabled -}}
{{- default "us-east-1" .Values.integrations.s3.private.region -}}
{{- else -}}
local
{{- end -}}
{{- end -}}

{{/* Name of a bucket: (list root "private"). */}}
{{- define "swanlab.s3.bucket" -}}
{{- $root := index . 0 -}}
{{- $which := index . 1 -}}
{{- $outside := $root.Values.integrations.s3 -}}
{{- if $outside.enabled -}}
{{- required (printf "integrations.s3.enabled needs integrations.s3.%s.bucket" $which) (index $outside $which).bucket -}}
{{- else -}}
{{- printf "swanlab-%s" $which -}}
{{- end -}}
{{- end -}}

{{/* A variable from a Secret: (list root "REDIS_URL" "redis" "url"). */}}
{{- define "swanlab.fromSecret" -}}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef:
      name: {{ include "swanlab.secretName" (list (index . 0) (index . 2)) }}
      key: {{ index . 3 }}
{{- end -}}

{{/* A claim of a store unless it has one: component. */}}
{{- define "swanlab.claim" -}}
{{- if not .values.persistence.existingClaim }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ include "swanlab.component.fullname" . }}-pvc
  labels:
    {{- include "swanlab.component.labels" . | nindent 4 }}
spec:
  accessModes: ["ReadWriteOnce"]
  {{- with .values.persistence.storageClass }}
  storageClassName: {{ . }}
  {{- end }}
  resources:
    requests:
      storage: {{ .values.persistence.storageSize }}
{{- end }}
{{- end -}}

{{- define "swanlab.claimName" -}}
{{- default (printf "%s-pvc" (include "swanlab.component.fullname" .)) .values.persistence.existingClaim -}}
{{- end -}}
