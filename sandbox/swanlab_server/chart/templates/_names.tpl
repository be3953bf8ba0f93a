{{/*
Names and labels. A component is a dictionary: root (the chart's top context), name, values (its part of the values).
*/}}
{{- define "swanlab.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "swanlab.fullname" -}}
{{- $name := include "swanlab.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "swanlab.component.fullname" -}}
{{- $full := include "swanlab.fullname" .root -}}
{{- if eq .name "gateway" -}}
{{- $full -}}
{{- else -}}
{{- default (printf "%s-%s" $full .name) .values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Full name of a component by its name alone: (list root "server"). */}}
{{- define "swanlab.fullnameOf" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $groups := dict "gateway" $root.Values "vector" $root.Values -}}
{{- range list "server" "auth" "house" "cloud" "next" -}}{{- $_ := set $groups . $root.Values.service -}}{{- end -}}
{{- range list "postgres" "redis" "clickhouse" "s3" -}}{{- $_ := set $groups . $root.Values.dependencies -}}{{- end -}}
{{- include "swanlab.component.fullname" (dict "root" $root "name" $name "values" (index (index $groups $name) $name)) -}}
{{- end -}}

{{- define "swanlab.component.selector" -}}
app.kubernetes.io/provider: swanlab
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ include "swanlab.name" .root }}-{{ .name }}
{{- end -}}

{{- define "swanlab.component.labels" -}}
{{ include "swanlab.component.selector" . }}
app.kubernetes.io/service: {{ .name }}
{{- with .values.customLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* `metadata` of an object of the component. */}}
{{- define "swanlab.component.metadata" -}}
name: {{ include "swanlab.component.fullname" . }}
labels:
  {{- include "swanlab.component.labels" . | nindent 2 }}
{{- with .values.customAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* `metadata` of its pods. checksum: of a configuration whose change restarts them, optional. */}}
{{- define "swanlab.component.podMetadata" -}}
labels:
  {{- include "swanlab.component.labels" . | nindent 2 }}
  {{- with .values.customPodLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .checksum .values.customPodAnnotations }}
annotations:
  {{- with .checksum }}
  checksum/config: {{ . }}
  {{- end }}
  {{- with .values.customPodAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* An image: (list root image). An empty tag is the application's version. */}}
{{- define "swanlab.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $tag := default (printf "v%s" (trimPrefix "v" $root.Chart.AppVersion)) $image.tag -}}
image: {{ printf "%s:%s" $image.repository $tag | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end -}}

{{/* The least of a list of whole numbers. */}}
{{- define "swanlab.least" -}}
{{- $least := first . -}}
{{- range . -}}{{- $least = min $least . -}}{{- end -}}
{{- $least -}}
{{- end -}}
