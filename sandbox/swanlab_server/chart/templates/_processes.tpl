{{/* The environment of the stand-in's processes: what each reads is in sandbox/swanlab_server/settings.py. */}}
{{- define "swanlab.env.clickhouse" -}}
- name: CLICKHOUSE_URL
  value: "http://{{ include "swanlab.clickhouse.address" . }}"
{{ include "swanlab.fromSecret" (list . "CLICKHOUSE_USER" "clickhouse" "username") }}
{{ include "swanlab.fromSecret" (list . "CLICKHOUSE_PASSWORD" "clickhouse" "password") }}
{{- end -}}

{{/* Of server and house. */}}
{{- define "swanlab.env.api" -}}
{{ include "swanlab.fromSecret" (list . "PRIMARY_URL" "postgres" "primaryUrl") }}
{{ include "swanlab.fromSecret" (list . "REPLICA_URL" "postgres" "replicaUrl") }}
{{ include "swanlab.env.auth" . }}
{{ include "swanlab.env.clickhouse" . }}
- name: CLICKHOUSE_DATABASE
  value: {{ include "swanlab.clickhouse.database" . | quote }}
- name: S3_ENDPOINT
  value: {{ include "swanlab.s3.endpoint" . | quote }}
- name: S3_REGION
  value: {{ include "swanlab.s3.region" . | quote }}
- name: S3_PRIVATE_BUCKET
  value: {{ include "swanlab.s3.bucket" (list . "private") | quote }}
- name: S3_PUBLIC_BUCKET
  value: {{ include "swanlab.s3.bucket" (list . "public") | quote }}
{{ include "swanlab.fromSecret" (list . "S3_ACCESS_KEY" "s3" "accessKey") }}
{{ include "swanlab.fromSecret" (list . "S3_SECRET_KEY" "s3" "secretKey") }}
- name: S3_PUBLIC_URL
  value: {{ include "swanlab.s3.publicUrl" . | quote }}
- name: VECTOR_URL
  value: "http://{{ include "swanlab.fullnameOf" (list . "vector") }}:8686"
- name: ABORT_AFTER
  value: {{ int .Values.standIn.abortAfter | quote }}
{{- end -}}

{{- define "swanlab.env.auth" -}}
{{ include "swanlab.fromSecret" (list . "REDIS_URL" "redis" "url") }}
- name: SERVER_URL
  value: "http://{{ include "swanlab.fullnameOf" (list . "server") }}:3000"
{{ include "swanlab.env.pages" . }}
{{- end -}}

{{- define "swanlab.env.pages" -}}
- name: PUBLIC_HOST
  value: {{ .Values.global.settings.host | quote }}
{{- end -}}

{{/*
Deployment and Service of a stateless process: a component with word (of the stand-in), user, port, servicePort,
environment (name of a definition), waits (addresses).
*/}}
{{- define "swanlab.process" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "swanlab.component.metadata" . | nindent 2 }}
spec:
  replicas: {{ int .values.replicas }}
  selector:
    matchLabels:
      {{- include "swanlab.component.selector" . | nindent 6 }}
  template:
    metadata:
      {{- include "swanlab.component.podMetadata" . | nindent 6 }}
    spec:
      {{- include "swanlab.pod.common" . | nindent 6 }}
      {{- if .waits }}
      initContainers:
        {{- include "swanlab.container.ping" . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name }}
          {{- include "swanlab.image" (list .root .values.image) | nindent 10 }}
          command: ["/usr/bin/python3", "-P", "-m", "sandbox.swanlab_server"]
          args: [{{ .word }}]
          ports:
            - name: {{ .name }}
              containerPort: {{ .port }}
          env:
            - name: PORT
              value: {{ .port | quote }}
            {{- include .environment .root | nindent 12 }}
          volumeMounts:
            - name: tmp
              mountPath: /tmp
          {{- include "swanlab.container.security" . | nindent 10 }}
          {{- include "swanlab.container.resources" . | nindent 10 }}
      volumes:
        - name: tmp
          emptyDir: {}
---
{{ include "swanlab.service" (merge (dict "ports" (list (dict "name" .name "port" .servicePort))) .) }}
{{- if and .values.monitor .values.monitor.enable }}
---
{{ include "swanlab.monitor" (merge (dict "ports" (list (dict "name" .name "port" .port))) .) }}
{{- end }}
{{- end -}}

{{/* Service of a component with ports: name (also the container port's) and port of each. */}}
{{- define "swanlab.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "swanlab.component.metadata" . | nindent 2 }}
spec:
  type: {{ default "ClusterIP" .type }}
  selector:
    {{- include "swanlab.component.selector" . | nindent 4 }}
  ports:
    {{- range .ports }}
    - name: {{ .name }}
      port: {{ int .port }}
      targetPort: {{ .name }}
    {{- end }}
{{- end -}}

{{/* Headless Service for the scraper: ports as above. */}}
{{- define "swanlab.monitor" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "swanlab.component.fullname" . }}-monitor
  labels:
    {{- include "swanlab.component.labels" . | nindent 4 }}
spec:
  clusterIP: None
  selector:
    {{- include "swanlab.component.selector" . | nindent 4 }}
  ports:
    {{- range .ports }}
    - name: {{ .name }}
      port: {{ int .port }}
      targetPort: {{ .name }}
    {{- end }}
{{- end -}}
