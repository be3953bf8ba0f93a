{{/* What all pods have in common. user: number of the user with securityContext.enabled. */}}
{{- define "swanlab.pod.common" -}}
restartPolicy: Always
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $preset := .root.Values.global.podAntiAffinityPreset }}
{{- if has $preset (list "soft" "hard") }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ ternary "DoNotSchedule" "ScheduleAnyway" (eq $preset "hard") }}
    labelSelector:
      matchLabels:
        {{- include "swanlab.component.selector" . | nindent 8 }}
{{- end }}
{{- with .values.customNodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.customTolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- include "swanlab.pod.security" . }}
{{- end -}}

{{/*
lowPort: a port below 1024 is bound. The sysctl is set in both modes: whether the image's default user is root is not
known here.
*/}}
{{- define "swanlab.pod.security" -}}
{{- if or .values.securityContext.enabled .lowPort }}
securityContext:
  {{- if .values.securityContext.enabled }}
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
  {{- end }}
  {{- if .lowPort }}
  sysctls:
    - name: net.ipv4.ip_unprivileged_port_start
      value: "0"
  {{- end }}
{{- end }}
{{- end -}}

{{- define "swanlab.container.security" -}}
{{- if .values.securityContext.enabled }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: ["ALL"]
{{- end }}
{{- end -}}

{{- define "swanlab.container.resources" -}}
{{- with .values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
Init container `ping`: waits until every address of .waits (host:port) takes a connection. `nc -e true` and not `-z`,
which the busybox of Debian has not; it would be a usage error that looks like a store that never comes.
*/}}
{{- define "swanlab.container.ping" -}}
- name: ping
  {{- include "swanlab.image" (list .root .root.Values.helper.image) | nindent 2 }}
  command:
    - /bin/sh
    - -c
    - |
      for address in "$@"; do
        until nc -w 2 "${address%:*}" "${address##*:}" -e true; do
          echo "$address does not answer yet"
          sleep 2
        done
      done
    - ping
    {{- range .waits }}
    - {{ . | quote }}
    {{- end }}
  {{- include "swanlab.container.security" . | nindent 2 }}
{{- end -}}
